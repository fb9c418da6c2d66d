// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=softmax" | filecheck %s --check-prefixes=CHECK,TYPE
// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=tcp.softmax" | filecheck %s --check-prefixes=CHECK,TYPE
// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=model.py:12" | filecheck %s --check-prefixes=CHECK,LINE
// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=/src/model.py:12" | filecheck %s --check-prefixes=CHECK,LINE
// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=head" | filecheck %s --check-prefixes=CHECK,MODULE
// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=head.weight,softmax" | filecheck %s --check-prefixes=CHECK,BOTH
// RUN: convoy-opt %s --convoy-pipeline="to=normalize dtype=bf16 keep-float32=softmax,model.py:12" | filecheck %s --check-prefix=PIPELINE

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x8xf32> {tcp.input = "x"}, %w: tensor<8x8xf32> {tcp.weight = "head.weight"}, %s: tensor<1x8xf32> {tcp.weight = "head.scale"}, %v: tensor<8x8xf32> {tcp.weight = "header.weight"}) -> tensor<2x8xf32> {
  %f = tcp.mul %w, %s : tensor<8x8xf32>, tensor<1x8xf32> -> tensor<8x8xf32>
  // TYPE: tcp.matmul {{.*}} -> tensor<2x8xf16>
  // LINE: %[[P:.*]] = tcp.matmul %{{.*}}, %{{.*}} : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  // MODULE: tcp.matmul {{.*}} -> tensor<2x8xf32>
  // BOTH: %[[P:.*]] = tcp.matmul {{.*}} -> tensor<2x8xf32>
  // PIPELINE: %[[P:.*]] = tcp.matmul %arg0, %{{.*}} -> tensor<2x8xf32>
  %0 = tcp.matmul %x, %f : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> loc("/src/model.py":12:1)
  // TYPE: %[[C:.*]] = tcp.cast {{.*}} : tensor<2x8xf16> -> tensor<2x8xf32>
  // TYPE-NEXT: tcp.softmax %[[C]] {{.*}} -> tensor<2x8xf32>
  // LINE: %[[C:.*]] = tcp.cast %[[P]] : tensor<2x8xf32> -> tensor<2x8xf16>
  // LINE-NEXT: tcp.softmax %[[C]] {{.*}} -> tensor<2x8xf16>
  // MODULE: tcp.softmax {{.*}} -> tensor<2x8xf16>
  // No cast between ops that are both kept.
  // BOTH-NEXT: tcp.softmax %[[P]] {{.*}} -> tensor<2x8xf32>
  // PIPELINE-NEXT: tcp.softmax %[[P]] {{.*}} -> tensor<2x8xf32>
  // PIPELINE: tcp.matmul {{.*}} -> tensor<2x8xbf16>
  %1 = tcp.softmax %0 {dim = 1 : i64} : tensor<2x8xf32> -> tensor<2x8xf32> loc("/src/model.py":13:1)
  // A module's name ends at a dot: not head.
  // CHECK: tcp.matmul {{.*}} -> tensor<2x8xf16>
  %2 = tcp.matmul %1, %v : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> loc("/src/model.py":14:1)
  return %2 : tensor<2x8xf32>
}
