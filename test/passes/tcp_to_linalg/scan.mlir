// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// One loop, which carries the state and the stacked outputs.

// CHECK-LABEL: func.func @forward
// CHECK-SAME:    %[[H:[^:]*]]: tensor<2xf32>, %[[X:[^:]*]]: tensor<5x2xf32>, %[[W:[^:]*]]: tensor<2xf32>
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<5x2xf32>
// CHECK:         %[[L:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[S:.*]] = %[[H]], %[[Y:.*]] = %[[E]]) -> (tensor<2xf32>, tensor<5x2xf32>) {
// CHECK:           %[[A:.*]] = tensor.extract_slice %[[X]][%[[I]], 0] [1, 2] [1, 1] : tensor<5x2xf32> to tensor<2xf32>
// CHECK:           %[[N:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[A]]
// CHECK:           %[[O:.*]] = linalg.generic {{.*}} ins(%[[N]], %[[W]]
// CHECK:           %[[R:.*]] = tensor.insert_slice %[[O]] into %[[Y]][%[[I]], 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<5x2xf32>
// CHECK:           scf.yield %[[N]], %[[R]]
// CHECK:         return %[[L]]#0, %[[L]]#1
func.func @forward(%h: tensor<2xf32>, %x: tensor<5x2xf32>, %w: tensor<2xf32>) -> (tensor<2xf32>, tensor<5x2xf32>) attributes {tcp.target = "cpu"} {
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2xf32>) sliced(%x : tensor<5x2xf32>) invariant(%w : tensor<2xf32>) {
  ^bb0(%state: tensor<2xf32>, %element: tensor<2xf32>, %weights: tensor<2xf32>):
    %1 = tcp.add %state, %element : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
    %2 = tcp.mul %1, %weights : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
    tcp.yield %1, %2 : tensor<2xf32>, tensor<2xf32>
  } -> tensor<2xf32>, tensor<5x2xf32>
  return %0#0, %0#1 : tensor<2xf32>, tensor<5x2xf32>
}

// In reverse the last element is the first. A splat state is a new tensor, not a constant to copy.

// CHECK-LABEL: func.func @reverse
// CHECK-SAME:    %[[X:[^:]*]]: tensor<5xf32>
// CHECK:         %[[F:.*]] = linalg.fill
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %[[F]], %[[Y:.*]] = %{{.*}})
// CHECK:           %[[C4:.*]] = arith.constant 4 : index
// CHECK:           %[[R:.*]] = arith.subi %[[C4]], %[[I]] : index
// CHECK:           tensor.extract_slice %[[X]][%[[R]]] [1] [1] : tensor<5xf32> to tensor<f32>
// CHECK:           tensor.insert_slice %{{.*}} into %[[Y]][%[[R]]] [1] [1] : tensor<f32> into tensor<5xf32>
func.func @reverse(%x: tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0:2 = tcp.scan trips 5 reverse carried(%zero : tensor<f32>) sliced(%x : tensor<5xf32>) {
  ^bb0(%state: tensor<f32>, %element: tensor<f32>):
    %1 = tcp.add %state, %element : tensor<f32>, tensor<f32> -> tensor<f32>
    tcp.yield %1, %1 : tensor<f32>, tensor<f32>
  } -> tensor<f32>, tensor<5xf32>
  return %0#0, %0#1 : tensor<f32>, tensor<5xf32>
}
