// RUN: convoy-opt %s --plan-stacked-state --canonicalize | filecheck %s

!Slice = memref<4xf32, strided<[1], offset: ?>>

// A step reads the state from the element before the one that it writes.

// CHECK-LABEL: func.func @forward
// CHECK-SAME:    %[[OUT:[^:]*]]: memref<4xf32>, %[[OUTS:[^:]*]]: memref<5x4xf32>
// CHECK-DAG:     %[[ALL:.*]] = memref.alloc() : memref<6x4xf32>
// CHECK-DAG:     %[[FIRST:.*]] = memref.subview %[[ALL]][0, 0] [1, 4] [1, 1]
// CHECK-DAG:     %[[STACK:.*]] = memref.subview %[[ALL]][1, 0] [5, 4] [1, 1]
// CHECK:         linalg.fill {{.*}} outs(%[[FIRST]]
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NEXT:      %[[S:.*]] = memref.subview %[[ALL]][%[[I]], 0] [1, 4] [1, 1]
// CHECK-NEXT:      %[[Y:.*]] = memref.subview %[[STACK]][%[[I]], 0] [1, 4] [1, 1]
// CHECK-NEXT:      linalg.exp ins(%[[S]] {{.*}} outs(%[[Y]]
// CHECK-NEXT:    }
// CHECK-DAG:     %[[LAST:.*]] = memref.subview %[[ALL]][5, 0] [1, 4] [1, 1]
// CHECK-DAG:     %[[OUTPUTS:.*]] = memref.subview %[[ALL]][1, 0] [5, 4] [1, 1]
// CHECK:         linalg.exp ins(%[[LAST]] {{.*}} outs(%[[OUT]]
// CHECK:         linalg.exp ins(%[[OUTPUTS]] {{.*}} outs(%[[OUTS]]
func.func @forward(%out: memref<4xf32>, %outs: memref<5x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %state = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%state : memref<4xf32>)
  %stack = memref.alloc() : memref<5x4xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %y = memref.subview %stack[%i, 0] [1, 4] [1, 1] : memref<5x4xf32> to !Slice
    linalg.exp ins(%state : memref<4xf32>) outs(%y : !Slice)
    memref.copy %y, %state : !Slice to memref<4xf32>
  }
  linalg.exp ins(%state : memref<4xf32>) outs(%out : memref<4xf32>)
  linalg.exp ins(%stack : memref<5x4xf32>) outs(%outs : memref<5x4xf32>)
  return
}

// In reverse it is the element after that. A function returns whole buffers.

// CHECK-LABEL: func.func @reverse
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xf32>
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG:     %[[ALL:.*]] = memref.alloc() : memref<6x4xf32>
// CHECK-DAG:     %[[FIRST:.*]] = memref.subview %[[ALL]][5, 0] [1, 4] [1, 1]
// CHECK-DAG:     %[[STACK:.*]] = memref.subview %[[ALL]][0, 0] [5, 4] [1, 1]
// CHECK:         memref.copy %[[X]], %[[FIRST]]
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NEXT:      %[[J:.*]] = arith.subi %[[C5]], %[[I]]
// CHECK-NEXT:      %[[S:.*]] = memref.subview %[[ALL]][%[[J]], 0] [1, 4] [1, 1]
// CHECK-NEXT:      %[[K:.*]] = arith.subi %[[C4]], %[[I]]
// CHECK-NEXT:      %[[Y:.*]] = memref.subview %[[STACK]][%[[K]], 0] [1, 4] [1, 1]
// CHECK-NEXT:      linalg.exp ins(%[[S]] {{.*}} outs(%[[Y]]
// CHECK-NEXT:    }
// CHECK:         memref.copy %{{.*}}, %[[OUTPUTS:.*]] : memref<5x4xf32
// CHECK:         memref.copy %{{.*}}, %[[LAST:.*]] : memref<4xf32
// CHECK:         return %[[LAST]], %[[OUTPUTS]]
func.func @reverse(%x: memref<4xf32>) -> (memref<4xf32>, memref<5x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %state = memref.alloc() : memref<4xf32>
  %stack = memref.alloc() : memref<5x4xf32>
  memref.copy %x, %state : memref<4xf32> to memref<4xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %j = arith.subi %c4, %i : index
    %y = memref.subview %stack[%j, 0] [1, 4] [1, 1] : memref<5x4xf32> to !Slice
    linalg.exp ins(%state : memref<4xf32>) outs(%y : !Slice)
    memref.copy %y, %state : !Slice to memref<4xf32>
  }
  return %state, %stack : memref<4xf32>, memref<5x4xf32>
}

// Elements of 12 bytes are not aligned.

// CHECK-LABEL: func.func @unaligned
// CHECK:         scf.for
// CHECK:           memref.copy
func.func @unaligned(%x: memref<3xf32>) -> memref<5x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %state = memref.alloc() : memref<3xf32>
  %stack = memref.alloc() : memref<5x3xf32>
  memref.copy %x, %state : memref<3xf32> to memref<3xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %y = memref.subview %stack[%i, 0] [1, 3] [1, 1] : memref<5x3xf32> to memref<3xf32, strided<[1], offset: ?>>
    linalg.exp ins(%state : memref<3xf32>) outs(%y : memref<3xf32, strided<[1], offset: ?>>)
    memref.copy %y, %state : memref<3xf32, strided<[1], offset: ?>> to memref<3xf32>
  }
  return %stack : memref<5x3xf32>
}

// A state that is read after the copy, or that the step writes too, has its own buffer.

// CHECK-LABEL: func.func @read_after
// CHECK:         scf.for
// CHECK:           memref.copy
func.func @read_after(%x: memref<4xf32>, %last: memref<4xf32>) -> memref<5x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %state = memref.alloc() : memref<4xf32>
  %stack = memref.alloc() : memref<5x4xf32>
  memref.copy %x, %state : memref<4xf32> to memref<4xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %y = memref.subview %stack[%i, 0] [1, 4] [1, 1] : memref<5x4xf32> to !Slice
    linalg.exp ins(%state : memref<4xf32>) outs(%y : !Slice)
    memref.copy %y, %state : !Slice to memref<4xf32>
    linalg.exp ins(%state : memref<4xf32>) outs(%last : memref<4xf32>)
  }
  return %stack : memref<5x4xf32>
}

// CHECK-LABEL: func.func @written
// CHECK:         scf.for
// CHECK:           memref.copy
func.func @written(%x: memref<4xf32>) -> memref<5x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %state = memref.alloc() : memref<4xf32>
  %stack = memref.alloc() : memref<5x4xf32>
  memref.copy %x, %state : memref<4xf32> to memref<4xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %y = memref.subview %stack[%i, 0] [1, 4] [1, 1] : memref<5x4xf32> to !Slice
    linalg.exp ins(%state : memref<4xf32>) outs(%state : memref<4xf32>)
    linalg.exp ins(%state : memref<4xf32>) outs(%y : !Slice)
    memref.copy %y, %state : !Slice to memref<4xf32>
  }
  return %stack : memref<5x4xf32>
}

// So does the state of a loop that writes other elements of the stack.

// CHECK-LABEL: func.func @other_element
// CHECK:         scf.for
// CHECK:           memref.copy
func.func @other_element(%x: memref<4xf32>) -> memref<5x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %state = memref.alloc() : memref<4xf32>
  %stack = memref.alloc() : memref<5x4xf32>
  memref.copy %x, %state : memref<4xf32> to memref<4xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %y = memref.subview %stack[%i, 0] [1, 4] [1, 1] : memref<5x4xf32> to !Slice
    %z = memref.subview %stack[0, 0] [1, 4] [1, 1] : memref<5x4xf32> to memref<4xf32, strided<[1]>>
    linalg.exp ins(%state : memref<4xf32>) outs(%y : !Slice)
    linalg.exp ins(%state : memref<4xf32>) outs(%z : memref<4xf32, strided<[1]>>)
    memref.copy %y, %state : !Slice to memref<4xf32>
  }
  return %stack : memref<5x4xf32>
}
