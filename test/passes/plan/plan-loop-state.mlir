// RUN: convoy-opt %s --plan-loop-state | filecheck %s
// RUN: convoy-opt %s --plan-loop-state --eliminate-empty-tensors --plan-bufferize --canonicalize | filecheck %s --check-prefix=MEMORY

#id = affine_map<(d0) -> (d0)>

// The next state is made in the buffer of the state; a stacked output is in its buffer already. An
// elementwise state is computed in place, without an allocation in the loop.

// CHECK-LABEL: func.func @state
// CHECK:         scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
// CHECK:           %[[N:.*]] = linalg.generic
// CHECK:           %[[I:.*]] = tensor.insert_slice %[[N]] into %[[Y]]
// CHECK:           %[[M:.*]] = bufferization.materialize_in_destination %[[N]] in %[[S]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK:           scf.yield %[[M]], %[[I]]

// MEMORY-LABEL: func.func @state
// MEMORY-SAME:    %[[X:[^:]*]]: memref<4xf32>
// MEMORY:         %[[Y:.*]] = memref.alloc() {{.*}} : memref<5x4xf32>
// MEMORY:         %[[S:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// MEMORY:         memref.copy %[[X]], %[[S]]
// MEMORY:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// MEMORY-NOT:       memref.alloc
// MEMORY:           linalg.generic {{.*}} ins(%[[S]] : memref<4xf32>)
// MEMORY-NOT:       memref.alloc
// MEMORY:         return %[[S]], %[[Y]]
func.func @state(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %empty = tensor.empty() : tensor<5x4xf32>
  %0:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x, %y = %empty) -> (tensor<4xf32>, tensor<5x4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %1 = arith.addf %a, %a : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    %t = tensor.insert_slice %n into %y[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<5x4xf32>
    scf.yield %n, %t : tensor<4xf32>, tensor<5x4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<5x4xf32>
}

// States that are exchanged are copied before one of them is overwritten.

// CHECK-LABEL: func.func @exchange
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK-DAG:       %[[P:.*]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK-DAG:       %[[Q:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK-DAG:       %[[N:.*]] = tensor.insert_slice %[[P]] into %[[A]]
// CHECK-DAG:       %[[M:.*]] = tensor.insert_slice %[[Q]] into %[[B]]
// CHECK:           scf.yield %[[N]], %[[M]]

// MEMORY-LABEL: func.func @exchange
// MEMORY:         scf.for
// MEMORY-COUNT-4:   memref.copy
// MEMORY-NOT:       memref.copy
// MEMORY:         }
func.func @exchange(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Elements that an inner loop inserts into the state, after it has read others, are in its buffer: no
// step copies it. A state that is read in the inner loop is copied, because that changes it.

// MEMORY-LABEL: func.func @elements
// MEMORY:         scf.for
// MEMORY:           scf.for
// MEMORY-NOT:         memref.copy
// MEMORY:             memref.store
// MEMORY-NOT:         memref.copy
// MEMORY:         return
func.func @elements(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty() : tensor<8xf32>
  %0 = scf.for %i = %c0 to %c8 step %c2 iter_args(%s = %empty) -> (tensor<8xf32>) {
    %end = arith.addi %i, %c2 : index
    %1 = scf.for %j = %i to %end step %c1 iter_args(%t = %s) -> (tensor<8xf32>) {
      %e = tensor.extract %x[%j] : tensor<8xf32>
      %old = tensor.extract %t[%c0] : tensor<8xf32>
      %sum = arith.addf %e, %old : f32
      %2 = tensor.insert %sum into %t[%j] : tensor<8xf32>
      scf.yield %2 : tensor<8xf32>
    }
    scf.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// MEMORY-LABEL: func.func @elements_and_state
// MEMORY:         scf.for
// MEMORY:           memref.copy
// MEMORY:           scf.for
func.func @elements_and_state(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %0 = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %x) -> (tensor<8xf32>) {
    %1 = scf.for %j = %c0 to %c8 step %c1 iter_args(%t = %s) -> (tensor<8xf32>) {
      %e = tensor.extract %s[%c0] : tensor<8xf32>
      %2 = tensor.insert %e into %t[%j] : tensor<8xf32>
      scf.yield %2 : tensor<8xf32>
    }
    scf.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
