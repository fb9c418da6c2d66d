// RUN: convoy-opt %s --split-input-file --add-runtime-argument | filecheck %s
// RUN: convoy-opt %s --split-input-file --add-runtime-argument --add-runtime-argument | filecheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[RUNTIME:.*]]: !llvm.ptr, %{{.*}}: memref<4xf32> {tcp.input = "x"}, %{{.*}}: memref<16xi8>) -> i32 attributes {tcp.target = "cuda"}
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    return %[[ZERO]] : i32
func.func @main(%x: memref<4xf32> {tcp.input = "x"}, %arena: memref<16xi8>) attributes {tcp.target = "cuda"} {
  return
}

// Weights are prepared on the host, by code that does not use the runtime.
// CHECK-LABEL: func.func @prepare_weights(
// CHECK-SAME:    %{{.*}}: memref<4xf32>) attributes {tcp.target = "cpu"}
// CHECK-NEXT:    return{{$}}
func.func @prepare_weights(%w: memref<4xf32>) attributes {tcp.target = "cpu"} {
  return
}
