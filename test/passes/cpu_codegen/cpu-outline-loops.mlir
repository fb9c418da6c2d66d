// RUN: convoy-opt %s --cpu-outline-loops | filecheck %s
// RUN: convoy-opt %s --cpu-outline-loops | convoy-opt --convoy-pipeline="from=host to=llvm target=cpu" | filecheck %s --check-prefix=LLVM

// Equal loops on different buffers become one function, with its own constants; a different loop
// becomes another function.

// CHECK:       func.func private @prepare_weights_loop_0(%[[X:.*]]: memref<8xf32>) attributes {passthrough = ["noinline"]} {
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[C8]] step
// CHECK:           memref.store %[[ONE]], %[[X]][%[[I]]]
// CHECK:       func.func private @prepare_weights_loop_1(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>)
// CHECK-LABEL: func.func @prepare_weights
// CHECK-SAME:    (%[[A:.*]]: memref<8xf32> {{.*}}, %[[B:.*]]: memref<8xf32> {{.*}}, %{{.*}}: memref<0xi8>
// CHECK-NOT:     scf.for
// CHECK:         call @prepare_weights_loop_0(%[[A]])
// CHECK-NEXT:    call @prepare_weights_loop_0(%[[B]])
// CHECK-NEXT:    call @prepare_weights_loop_1(%[[A]], %[[B]])
// CHECK-NEXT:    return

// LLVM: llvm.func internal @prepare_weights_loop_0(%{{.*}}: !llvm.ptr) attributes {dso_local, {{.*}}noinline
func.func @prepare_weights(%x: memref<8xf32> {tcp.weight = "x"}, %y: memref<8xf32> {tcp.prepared = "y"}, %arena: memref<0xi8> {tcp.arena})
    attributes {tcp.target = "cpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %one, %x[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %one, %y[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %x[%i] : memref<8xf32>
    memref.store %v, %y[%i] : memref<8xf32>
  }
  return
}

// A loop with a result, a loop around a call, and loops of functions for the GPU remain.

// CHECK-LABEL: func.func @main
// CHECK:         scf.for {{.*}} iter_args
// CHECK:         scf.for
// CHECK-NEXT:      func.call @step
// CHECK-NOT:   _loop_
func.func private @step(index)
func.func @main(%x: memref<1xindex> {tcp.output = "x"}, %arena: memref<0xi8> {tcp.arena}) attributes {tcp.target = "cpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %c0) -> index {
    %next = arith.addi %s, %i : index
    scf.yield %next : index
  }
  memref.store %sum, %x[%c0] : memref<1xindex>
  scf.for %i = %c0 to %c8 step %c1 {
    func.call @step(%i) : (index) -> ()
  }
  return
}

// CHECK-LABEL: func.func @for_cuda
// CHECK:         scf.for
func.func @for_cuda(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %one, %x[%i] : memref<8xf32>
  }
  return
}

// The loops inside a loop around a call.

// CHECK:       func.func private @steps_loop_0(%{{.*}}: memref<8xf32>) attributes {passthrough = ["noinline"]} {
// CHECK-LABEL: func.func @steps
// CHECK:         scf.for
// CHECK-NEXT:      func.call @step
// CHECK-NEXT:      func.call @steps_loop_0
// CHECK-NEXT:    }
func.func @steps(%x: memref<8xf32>) attributes {tcp.target = "cpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    func.call @step(%i) : (index) -> ()
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %one, %x[%j] : memref<8xf32>
    }
  }
  return
}
