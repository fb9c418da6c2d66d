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
