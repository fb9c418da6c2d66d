// RUN: convoy-opt %s --plan-loop-buffers | filecheck %s

// An argument that a loop slices is copied; an allocation and another argument stay.

// CHECK-LABEL: func.func @arguments
// CHECK-SAME:    %[[X:[^:]*]]: memref<5x4xf32>, %[[Y:[^:]*]]: memref<4xf32>
// CHECK-NEXT:    %[[C:.*]] = memref.alloc() : memref<5x4xf32>
// CHECK-NEXT:    memref.copy %[[X]], %[[C]]
// CHECK-NOT:     memref.copy
// CHECK:         %[[A:.*]] = memref.alloc() : memref<5x4xf32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[F:.*]] = memref.subview %[[C]][%[[I]], 0]
// CHECK:           %[[T:.*]] = memref.subview %[[A]][%[[I]], 0]
func.func @arguments(%x: memref<5x4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %a = memref.alloc() : memref<5x4xf32>
  %first = memref.subview %y[0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
  scf.for %i = %c0 to %c5 step %c1 {
    %from = memref.subview %x[%i, 0] [1, 4] [1, 1] : memref<5x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    %to = memref.subview %a[%i, 0] [1, 4] [1, 1] : memref<5x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.exp ins(%from : memref<4xf32, strided<[1], offset: ?>>) outs(%to : memref<4xf32, strided<[1], offset: ?>>)
  }
  return
}

memref.global "private" constant @table : memref<5x4xf32> = dense<1.0>

// CHECK-LABEL: func.func @constants
// CHECK:         %[[G:.*]] = memref.get_global @table
// CHECK-NEXT:    %[[C:.*]] = memref.alloc() : memref<5x4xf32>
// CHECK-NEXT:    memref.copy %[[G]], %[[C]]
// CHECK:           memref.collapse_shape %[[C]]
func.func @constants(%y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %x = memref.get_global @table : memref<5x4xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %flat = memref.collapse_shape %x [[0, 1]] : memref<5x4xf32> into memref<20xf32>
    %from = memref.subview %flat[%i] [4] [1] : memref<20xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.exp ins(%from : memref<4xf32, strided<[1], offset: ?>>) outs(%y : memref<4xf32>)
  }
  return
}
