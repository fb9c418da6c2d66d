// RUN: convoy-opt %s --canonicalize | filecheck %s

// A scan of one step is its body.

// CHECK-LABEL: func.func @one_step
// CHECK-SAME:  %[[H:[^:]*]]: tensor<2x4xf32>, %[[X:[^:]*]]: tensor<1x2x4xf32>
// CHECK-NEXT:  %[[E:.*]] = tcp.reshape %[[X]] : tensor<1x2x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT:  %[[S:.*]] = tcp.add %[[H]], %[[E]]
// CHECK-NEXT:  %[[Y:.*]] = tcp.reshape %[[S]] : tensor<2x4xf32> -> tensor<1x2x4xf32>
// CHECK-NEXT:  return %[[S]], %[[Y]]
func.func @one_step(%h: tensor<2x4xf32>, %x: tensor<1x2x4xf32>) -> (tensor<2x4xf32>, tensor<1x2x4xf32>) {
  %0:2 = tcp.scan trips 1 reverse carried(%h : tensor<2x4xf32>) sliced(%x : tensor<1x2x4xf32>) {
  ^bb0(%state: tensor<2x4xf32>, %element: tensor<2x4xf32>):
    %1 = tcp.add %state, %element : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
    tcp.yield %1, %1 : tensor<2x4xf32>, tensor<2x4xf32>
  } -> tensor<2x4xf32>, tensor<1x2x4xf32>
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<1x2x4xf32>
}

// The state stays. What only an unused output needs is removed with it.

// CHECK-LABEL: func.func @unused
// CHECK-SAME:  %[[H:[^:]*]]: tensor<4xf32>, %[[X:[^:]*]]: tensor<5x4xf32>, %[[Y:[^:]*]]: tensor<5x4xf32>
// CHECK-NEXT:  %[[S:.*]]:2 = tcp.scan trips 5 carried(%[[H]] : tensor<4xf32>) sliced(%[[Y]] : tensor<5x4xf32>) attributes {note = "kept"} {
// CHECK-NEXT:  ^bb0(%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>):
// CHECK-NEXT:    %[[N:.*]] = tcp.add %[[A]], %[[B]]
// CHECK-NEXT:    tcp.yield %[[N]], %[[A]]
// CHECK-NEXT:  } -> tensor<4xf32>, tensor<5x4xf32>
// CHECK-NEXT:  return %[[S]]#1
func.func @unused(%h: tensor<4xf32>, %x: tensor<5x4xf32>, %y: tensor<5x4xf32>, %w: tensor<4xf32>) -> tensor<5x4xf32> {
  %0:3 = tcp.scan trips 5 carried(%h : tensor<4xf32>) sliced(%x, %y : tensor<5x4xf32>, tensor<5x4xf32>) invariant(%w : tensor<4xf32>) attributes {note = "kept"} {
  ^bb0(%state: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    %1 = tcp.add %state, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %2 = tcp.mul %a, %c : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    tcp.yield %1, %2, %state : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } -> tensor<4xf32>, tensor<5x4xf32>, tensor<5x4xf32>
  return %0#2 : tensor<5x4xf32>
}

// What depends only on invariant operands moves before the scan, with its constants. A constant
// alone stays.

// CHECK-LABEL: func.func @invariant
// CHECK-SAME:  %[[H:[^:]*]]: tensor<2x4xf32>, %[[W:[^:]*]]: tensor<4x4xf32>
// CHECK:       %[[TWO:.*]] = arith.constant dense<2.000000e+00>
// CHECK:       %[[T:.*]] = tcp.transpose %[[W]]
// CHECK:       %[[M:.*]] = tcp.mul %[[T]], %[[TWO]]
// CHECK:       tcp.scan trips 3 carried(%[[H]] : tensor<2x4xf32>) invariant(%[[M]] : tensor<4x4xf32>) {
// CHECK-NEXT:  ^bb0(%[[S:.*]]: tensor<2x4xf32>, %[[V:.*]]: tensor<4x4xf32>):
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant dense<1.000000e+00>
// CHECK-NEXT:    %[[P:.*]] = tcp.matmul %[[S]], %[[V]]
// CHECK-NEXT:    %[[A:.*]] = tcp.add %[[P]], %[[ONE]]
// CHECK-NEXT:    tcp.yield %[[A]]
func.func @invariant(%h: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %0 = tcp.scan trips 3 carried(%h : tensor<2x4xf32>) invariant(%w : tensor<4x4xf32>) {
  ^bb0(%state: tensor<2x4xf32>, %weights: tensor<4x4xf32>):
    %two = arith.constant dense<2.0> : tensor<1x1xf32>
    %one = arith.constant dense<1.0> : tensor<1x1xf32>
    %1 = tcp.transpose %weights {perm = array<i64: 1, 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
    %2 = tcp.mul %1, %two : tensor<4x4xf32>, tensor<1x1xf32> -> tensor<4x4xf32>
    %3 = tcp.matmul %state, %2 : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    %4 = tcp.add %3, %one : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
    tcp.yield %4 : tensor<2x4xf32>
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
