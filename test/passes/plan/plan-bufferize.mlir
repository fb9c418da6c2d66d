// RUN: convoy-opt %s --plan-bufferize | filecheck %s

// The argument belongs to the caller: the op that overwrites it in the tensor program gets a new
// buffer.

// CHECK-LABEL: func.func @arguments_stay
// CHECK-SAME:    (%[[X:.*]]: memref<4xf32> {tcp.input = "x"}) -> memref<4xf32>
// CHECK:         %[[A:.*]] = memref.alloc() {{.*}}: memref<4xf32>
// CHECK:         linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[A]] : memref<4xf32>)
// CHECK:         return %[[A]]
func.func @arguments_stay(%x: tensor<4xf32> {tcp.input = "x"}) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
