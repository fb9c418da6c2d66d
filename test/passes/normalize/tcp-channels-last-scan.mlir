// RUN: convoy-opt %s --tcp-channels-last | filecheck %s

// The convolutions of a loop are channels-last inside of it; the state keeps its order.

// CHECK-LABEL: func.func @main
// CHECK:       tcp.scan trips 3 carried(%{{.*}} : tensor<1x2x5x5xf32>) invariant(%{{.*}} : tensor<2x2x3x3xf32>) {
// CHECK-NEXT:  ^bb0(%[[S:.*]]: tensor<1x2x5x5xf32>, %[[W:.*]]: tensor<2x2x3x3xf32>):
// CHECK-DAG:     %[[A:.*]] = tcp.transpose %[[S]] {perm = array<i64: 0, 2, 3, 1>}
// CHECK-DAG:     %[[B:.*]] = tcp.transpose %[[W]] {perm = array<i64: 0, 2, 3, 1>}
// CHECK:         %[[C:.*]] = tcp.conv2d %[[A]], %[[B]] {channels_last,
// CHECK:         %[[D:.*]] = tcp.tanh %[[C]] : tensor<1x5x5x2xf32> -> tensor<1x5x5x2xf32>
// CHECK:         %[[E:.*]] = tcp.transpose %[[D]] {perm = array<i64: 0, 3, 1, 2>}
// CHECK:         tcp.yield %[[E]] : tensor<1x2x5x5xf32>
func.func @main(%h: tensor<1x2x5x5xf32> {tcp.input = "h"}, %w: tensor<2x2x3x3xf32> {tcp.weight = "w"}) -> tensor<1x2x5x5xf32> {
  %0 = tcp.scan trips 3 carried(%h : tensor<1x2x5x5xf32>) invariant(%w : tensor<2x2x3x3xf32>) {
  ^bb0(%state: tensor<1x2x5x5xf32>, %weights: tensor<2x2x3x3xf32>):
    %1 = tcp.conv2d %state, %weights {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x2x5x5xf32>, tensor<2x2x3x3xf32> -> tensor<1x2x5x5xf32>
    %2 = tcp.tanh %1 : tensor<1x2x5x5xf32> -> tensor<1x2x5x5xf32>
    tcp.yield %2 : tensor<1x2x5x5xf32>
  } -> tensor<1x2x5x5xf32>
  return %0 : tensor<1x2x5x5xf32>
}
