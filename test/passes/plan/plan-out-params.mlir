// RUN: convoy-opt %s --split-input-file --plan-out-params | filecheck %s

// CHECK-LABEL: func.func @straight
// CHECK-SAME:    (%[[X:.*]]: memref<4xf32> {tcp.input = "x"}, %[[Y:.*]]: memref<4xf32> {tcp.output = "0"}) {
// CHECK-NEXT:    linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK-NEXT:    return
func.func @straight(%x: memref<4xf32> {tcp.input = "x"}) -> (memref<4xf32> {tcp.output = "0"}) {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  return %a : memref<4xf32>
}

// -----

// A reshaped result is not copied.

// CHECK-LABEL: func.func @reshaped
// CHECK-SAME:    (%[[X:.*]]: memref<2x2xf32>, %[[Y:.*]]: memref<4xf32>)
// CHECK:         %[[A:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [2, 2], strides: [2, 1] : memref<4xf32> to memref<2x2xf32>
// CHECK:         linalg.exp ins(%[[X]] : memref<2x2xf32>) outs(%[[A]] : memref<2x2xf32>)
// CHECK-NOT:     memref.copy
func.func @reshaped(%x: memref<2x2xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<2x2xf32>
  linalg.exp ins(%x : memref<2x2xf32>) outs(%a : memref<2x2xf32>)
  %v = memref.collapse_shape %a [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  return %v : memref<4xf32>
}

// -----

// An argument, or a result that was returned before, is copied.

// CHECK-LABEL: func.func @copied
// CHECK-SAME:    (%[[X:.*]]: memref<4xf32>, %[[Y0:.*]]: memref<4xf32>, %[[Y1:.*]]: memref<4xf32>, %[[Y2:.*]]: memref<4xf32>)
// CHECK:         linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[Y1]] : memref<4xf32>)
// CHECK-DAG:     memref.copy %[[X]], %[[Y0]]
// CHECK-DAG:     memref.copy %[[Y1]], %[[Y2]]
func.func @copied(%x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  return %x, %a, %a : memref<4xf32>, memref<4xf32>, memref<4xf32>
}

// -----

// A result that a loop slices stays in the arena, and is copied.

// CHECK-LABEL: func.func @sliced
// CHECK-SAME:    (%[[Y:.*]]: memref<5x4xf32>)
// CHECK:         %[[A:.*]] = memref.alloc() : memref<5x4xf32>
// CHECK:         memref.subview %[[A]]
// CHECK:         memref.copy %[[A]], %[[Y]]
func.func @sliced() -> memref<5x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<5x4xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %to = memref.subview %a[%i, 0] [1, 4] [1, 1] : memref<5x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.fill ins(%one : f32) outs(%to : memref<4xf32, strided<[1], offset: ?>>)
  }
  return %a : memref<5x4xf32>
}
