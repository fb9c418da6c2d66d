// RUN: convoy-opt %s --plan-arena | filecheck %s

// A slice at a step is a view of the arena at a shift, with a static layout, and so are its views.

// CHECK-DAG: #[[FORWARD:.*]] = affine_map<(d0) -> (d0 * 96)>
// CHECK-DAG: #[[REVERSE:.*]] = affine_map<(d0) -> (d0 * -32 + 640)>

// CHECK-LABEL: func.func @slices
// CHECK-SAME:    %[[ARENA:[^:]*]]: memref<672xi8> {tcp.arena, tcp.live_bytes = 640 : i64}
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[A:.*]] = affine.apply #[[FORWARD]](%[[I]])
// CHECK:           %[[FLAT:.*]] = memref.view %[[ARENA]][%[[A]]][] {tcp.buffer = {{.*}}} : memref<672xi8> to memref<24xf32>
// CHECK:           %[[X:.*]] = memref.reinterpret_cast %[[FLAT]] to offset: [0], sizes: [2, 12], strides: [12, 1] : memref<24xf32> to memref<2x12xf32>
// CHECK:           %[[PART:.*]] = memref.subview %[[X]][0, 4] [2, 4] [1, 1] : memref<2x12xf32> to memref<2x4xf32, strided<[12, 1], offset: 4>>
// CHECK:           %[[B:.*]] = affine.apply #[[REVERSE]](%[[I]])
// CHECK:           %[[OUT:.*]] = memref.view %[[ARENA]][%[[B]]][] {tcp.buffer = {{.*}}} : memref<672xi8> to memref<8xf32>
// CHECK:           %[[Y:.*]] = memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [2, 4], strides: [4, 1]
// CHECK:           linalg.exp ins(%[[PART]] : memref<2x4xf32, strided<[12, 1], offset: 4>>) outs(%[[Y]] : memref<2x4xf32>)
func.func @slices() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %x = memref.alloc() : memref<5x2x12xf32>
  %y = memref.alloc() : memref<5x2x4xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %from = memref.subview %x[%i, 0, 0] [1, 2, 12] [1, 1, 1] : memref<5x2x12xf32> to memref<2x12xf32, strided<[12, 1], offset: ?>>
    %part = memref.subview %from[0, 4] [2, 4] [1, 1] : memref<2x12xf32, strided<[12, 1], offset: ?>> to memref<2x4xf32, strided<[12, 1], offset: ?>>
    %r = arith.subi %c4, %i : index
    %to = memref.subview %y[%r, 0, 0] [1, 2, 4] [1, 1, 1] : memref<5x2x4xf32> to memref<2x4xf32, strided<[4, 1], offset: ?>>
    linalg.exp ins(%part : memref<2x4xf32, strided<[12, 1], offset: ?>>) outs(%to : memref<2x4xf32, strided<[4, 1], offset: ?>>)
  }
  return
}

// A slice of a slice, and a slice of a part, which keeps its strides.

// CHECK-LABEL: func.func @nested
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           scf.for %[[J:.*]] =
// CHECK:             %[[S:.*]] = affine.apply #{{.*}}(%[[J]], %[[I]])
// CHECK:             memref.view %{{.*}}[%[[S]]][] {tcp.buffer = {{.*}}} : memref<{{.*}}xi8> to memref<7xf32>
// CHECK:             memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [2, 3], strides: [4, 1] : memref<7xf32> to memref<2x3xf32, strided<[4, 1]>>
func.func @nested(%y: memref<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %x = memref.alloc() : memref<5x5x2x4xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %outer = memref.subview %x[%i, 0, 0, 0] [1, 5, 2, 4] [1, 1, 1, 1] : memref<5x5x2x4xf32> to memref<5x2x4xf32, strided<[8, 4, 1], offset: ?>>
    %part = memref.subview %outer[0, 0, 1] [5, 2, 3] [1, 1, 1] : memref<5x2x4xf32, strided<[8, 4, 1], offset: ?>> to memref<5x2x3xf32, strided<[8, 4, 1], offset: ?>>
    scf.for %j = %c0 to %c5 step %c1 {
      %inner = memref.subview %part[%j, 0, 0] [1, 2, 3] [1, 1, 1] : memref<5x2x3xf32, strided<[8, 4, 1], offset: ?>> to memref<2x3xf32, strided<[4, 1], offset: ?>>
      linalg.exp ins(%inner : memref<2x3xf32, strided<[4, 1], offset: ?>>) outs(%y : memref<2x3xf32>)
    }
  }
  return
}
