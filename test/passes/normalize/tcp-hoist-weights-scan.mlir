// RUN: convoy-opt %s --convoy-pipeline="to=normalize target=cpu" | filecheck %s

// What a loop computes from weights alone is computed when they are prepared.

// CHECK-LABEL: func.func @main
// CHECK-SAME:  %[[W:[^:]*]]: tensor<4x4xf32> {tcp.prepared = "w"}
// CHECK:       tcp.scan trips 5 carried(%{{.*}} : tensor<2x4xf32>) invariant(%[[W]] : tensor<4x4xf32>) {
// CHECK-NEXT:  ^bb0
// CHECK-NEXT:    tcp.matmul
// CHECK-NEXT:    tcp.yield
// CHECK-LABEL: func.func @prepare_weights
// CHECK-NEXT:  tcp.transpose
func.func @main(%h: tensor<2x4xf32> {tcp.input = "h"}, %w: tensor<4x4xf32> {tcp.weight = "w"}) -> tensor<2x4xf32> {
  %0 = tcp.scan trips 5 carried(%h : tensor<2x4xf32>) invariant(%w : tensor<4x4xf32>) {
  ^bb0(%state: tensor<2x4xf32>, %weights: tensor<4x4xf32>):
    %1 = tcp.transpose %weights {perm = array<i64: 1, 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
    %2 = tcp.matmul %state, %1 : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    tcp.yield %2 : tensor<2x4xf32>
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
