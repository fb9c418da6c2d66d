// RUN: convoy-opt %s --tcp-hoist-weights=target=cuda | filecheck %s

// An unchanged weight is passed through; a value with two uses is prepared once; constants are in
// both functions; names are unique.
// CHECK: module attributes {tcp.target = "cuda"}
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32> {tcp.input = "x"}
// CHECK-SAME: %[[W:[^:]*]]: tensor<8x4xf32> {tcp.prepared = "fc.weight"}
// CHECK-SAME: %[[B:[^:]*]]: tensor<1x4xf32> {tcp.prepared = "fc.bias"}
// CHECK-SAME: %[[S:[^:]*]]: tensor<1x4xf32> {tcp.prepared = "scale"}
// CHECK-SAME: %[[S1:[^:]*]]: tensor<1x4xf32> {tcp.prepared = "scale.1"}
// CHECK-SAME: %[[P:[^:]*]]: tensor<1x1xf32> {tcp.prepared = "constant"}) -> (tensor<2x4xf32> {tcp.output = "0"}, tensor<1x4xf32> {tcp.output = "1"})
// CHECK-SAME: attributes {tcp.target = "cuda"}
func.func @main(%x: tensor<2x8xf32> {tcp.input = "x"}, %w: tensor<4x8xf32> {tcp.weight = "fc.weight"}, %a: tensor<1x4xf32> {tcp.weight = "a"},
                %s: tensor<1x4xf32> {tcp.weight = "scale"}, %unused: tensor<3xf32> {tcp.weight = "unused"})
    -> (tensor<2x4xf32> {tcp.output = "0"}, tensor<1x4xf32> {tcp.output = "1"}) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant
  // CHECK-NEXT: %[[M:.*]] = tcp.matmul %[[X]], %[[W]]
  // CHECK-NEXT: %[[A:.*]] = tcp.add %[[M]], %[[B]]
  // CHECK-NEXT: tcp.mul %[[A]], %[[S]]
  // CHECK-NEXT: tcp.mul {{.*}}, %[[S1]]
  // CHECK-NEXT: tcp.mul {{.*}}, %[[C]]
  // CHECK-NEXT: tcp.mul {{.*}}, %[[S1]]
  // CHECK-NEXT: tcp.mul {{.*}}, %[[P]]
  // CHECK-NEXT: return %{{.*}}, %[[S1]]
  %c = arith.constant dense<2.0> : tensor<1x1xf32>
  %t = tcp.transpose %w {perm = array<i64: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %0 = tcp.matmul %x, %t : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %b = tcp.add %a, %s : tensor<1x4xf32>, tensor<1x4xf32> -> tensor<1x4xf32>
  %1 = tcp.add %0, %b : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %2 = tcp.mul %1, %s : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %d = tcp.mul %s, %c : tensor<1x4xf32>, tensor<1x1xf32> -> tensor<1x4xf32>
  %3 = tcp.mul %2, %d : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %4 = tcp.mul %3, %c : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  %5 = tcp.mul %4, %d : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %e = tcp.exp %c : tensor<1x1xf32> -> tensor<1x1xf32>
  %6 = tcp.mul %5, %e : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  return %6, %d : tensor<2x4xf32>, tensor<1x4xf32>
}

// CHECK-LABEL: func.func @prepare_weights(
// CHECK-SAME: %[[FC:[^:]*]]: tensor<4x8xf32> {tcp.weight = "fc.weight"}, %[[A:[^:]*]]: tensor<1x4xf32> {tcp.weight = "a"}
// CHECK-SAME: %[[SC:[^:]*]]: tensor<1x4xf32> {tcp.weight = "scale"}, %{{[^:]*}}: tensor<3xf32> {tcp.weight = "unused"}) ->
// CHECK-SAME: (tensor<8x4xf32> {tcp.prepared = "fc.weight"}, tensor<1x4xf32> {tcp.prepared = "fc.bias"}, tensor<1x4xf32> {tcp.prepared = "scale"}
// CHECK-SAME: tensor<1x4xf32> {tcp.prepared = "scale.1"}, tensor<1x1xf32> {tcp.prepared = "constant"}) attributes {tcp.target = "cpu"}
// CHECK-NEXT: %[[K:.*]] = arith.constant
// CHECK-NEXT: %[[T:.*]] = tcp.transpose %[[FC]]
// CHECK-NEXT: %[[BIAS:.*]] = tcp.add %[[A]], %[[SC]]
// CHECK-NEXT: %[[D:.*]] = tcp.mul %[[SC]], %[[K]]
// CHECK-NEXT: %[[E:.*]] = tcp.exp %[[K]]
// CHECK-NEXT: return %[[T]], %[[BIAS]], %[[SC]], %[[D]], %[[E]]
