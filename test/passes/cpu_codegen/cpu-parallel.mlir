// RUN: convoy-opt %s --cpu-parallel | filecheck %s

// CHECK:       func.func private @main_parallel_0(%[[B:.*]]: index, %[[E:.*]]: index, %[[X:.*]]: memref<8xf32>) {
// CHECK:         %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         scf.for %[[I:.*]] = %[[B]] to %[[E]] step
// CHECK:           memref.store %[[ONE]], %[[X]][%[[I]]]
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[A:.*]]: memref<8xf32>)
// CHECK:         call @main_parallel_0(%{{.*}}, %{{.*}}, %[[A]]) {convoy.parallel}
func.func @main(%x: memref<8xf32>) attributes {tcp.target = "cpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %one, %x[%i] : memref<8xf32>
  }
  return
}

// Equal loops on different buffers share one body.

// CHECK-LABEL: func.func @prepare_weights
// CHECK-SAME:    (%[[A:.*]]: memref<8xf32>, %[[B:.*]]: memref<8xf32>)
// CHECK:         call @prepare_weights_parallel_0(%{{.*}}, %{{.*}}, %[[A]])
// CHECK:         call @prepare_weights_parallel_0(%{{.*}}, %{{.*}}, %[[B]])
func.func @prepare_weights(%x: memref<8xf32>, %y: memref<8xf32>) attributes {tcp.target = "cpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %one, %x[%i] : memref<8xf32>
  }
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %one, %y[%i] : memref<8xf32>
  }
  return
}

// Iterations share scratch memory of a static size.

// CHECK:       func.func private @scratch_parallel_0
// CHECK:         %[[SHARED:.*]] = memref.alloca() : memref<4xf32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[OWN:.*]] = memref.alloca(%[[I]]) : memref<?xf32>
// CHECK:           memref.store %{{.*}}, %[[SHARED]]
// CHECK:           memref.store %{{.*}}, %[[OWN]]
// CHECK-LABEL: func.func @scratch
func.func @scratch(%x: memref<8xf32>) attributes {tcp.target = "cpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c1) to (%c8) step (%c1) {
    %shared = memref.alloca() : memref<4xf32>
    %own = memref.alloca(%i) : memref<?xf32>
    memref.store %one, %shared[%c0] : memref<4xf32>
    memref.store %one, %own[%c0] : memref<?xf32>
  }
  return
}

// The offset of a slice is an argument, so that loops over several slices share one body. A loop with a subview has
// the offset in the types of its ops.

// CHECK:       func.func private @slices_parallel_0(%{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4xf32, strided<[2]>>, %[[OFFSET:.*]]: index) {
// CHECK:         %[[S:.*]] = memref.reinterpret_cast %[[X]] to offset: [%[[OFFSET]]], sizes: [4], strides: [2] : memref<4xf32, strided<[2]>> to memref<4xf32, strided<[2], offset: ?>>
// CHECK:         memref.store %{{.*}}, %[[S]]
// CHECK:       func.func private @slices_parallel_1(%{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<4xf32, strided<[2], offset: 5>>) {
// CHECK-LABEL: func.func @slices
// CHECK-SAME:    (%[[A:.*]]: memref<24xf32>)
// CHECK:         %[[ONE:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4], strides: [2] : memref<4xf32, strided<[2], offset: 3>> to memref<4xf32, strided<[2]>>
// CHECK:         call @slices_parallel_0(%{{.*}}, %{{.*}}, %[[ONE]], %c3{{.*}})
// CHECK:         call @slices_parallel_0(%{{.*}}, %{{.*}}, %{{.*}}, %c5{{.*}})
// CHECK:         call @slices_parallel_1(
func.func @slices(%x: memref<24xf32>) attributes {tcp.target = "cpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %y = memref.subview %x[3] [4] [2] : memref<24xf32> to memref<4xf32, strided<[2], offset: 3>>
  %z = memref.subview %x[5] [4] [2] : memref<24xf32> to memref<4xf32, strided<[2], offset: 5>>
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    memref.store %one, %y[%i] : memref<4xf32, strided<[2], offset: 3>>
  }
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    memref.store %one, %z[%i] : memref<4xf32, strided<[2], offset: 5>>
  }
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    %part = memref.subview %z[1] [1] [1] : memref<4xf32, strided<[2], offset: 5>> to memref<1xf32, strided<[2], offset: 7>>
    memref.store %one, %part[%c0] : memref<1xf32, strided<[2], offset: 7>>
  }
  return
}
