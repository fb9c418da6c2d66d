// RUN: convoy-opt %s --tcp-form-groups | filecheck %s
// RUN: convoy-opt %s --convoy-pipeline="from=normalize to=cudnn target=cuda" | filecheck %s --check-prefix=CUDNN

// A group in the body of a loop: one graph, whatever the number of steps is. Each op of the body has
// its reason; the loop itself has none.

// CHECK-LABEL: func.func @main
// CHECK:       tcp.scan trips 512 carried({{.*}}) sliced({{.*}}) invariant({{.*}}) {
// CHECK:         %[[G:.*]] = tcp.isolated_group {{.*}} attributes {anchor = "matmul", pattern = "matmul+residual+tanh"}
// CHECK:         %[[S:.*]] = tcp.softmax %[[G]] {dim = 1 : i64, tcp.outside = "softmax: cuDNN's graphs have no such operation"}
// CHECK:         tcp.yield %[[G]], %[[S]] : tensor<8x16xf32>, tensor<8x16xf32>

// CUDNN:       cudnn.graph @
// CUDNN-LABEL: func.func @main
// CUDNN:       tcp.scan
// CUDNN-COUNT-1: cudnn.execute @matmul_residual_tanh_0
// CUDNN-NOT:     cudnn.execute
func.func @main(%h: tensor<8x16xf32> {tcp.input = "h"}, %x: tensor<512x8x16xf32> {tcp.input = "x"}, %w: tensor<16x16xf32> {tcp.prepared = "w"}) -> (tensor<512x8x16xf32> {tcp.output = "0"}) attributes {tcp.target = "cuda"} {
  %0:2 = tcp.scan trips 512 carried(%h : tensor<8x16xf32>) sliced(%x : tensor<512x8x16xf32>) invariant(%w : tensor<16x16xf32>) {
  ^bb0(%state: tensor<8x16xf32>, %element: tensor<8x16xf32>, %weights: tensor<16x16xf32>):
    %1 = tcp.matmul %state, %weights : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
    %2 = tcp.add %1, %element : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
    %3 = tcp.tanh %2 : tensor<8x16xf32> -> tensor<8x16xf32>
    %4 = tcp.softmax %3 {dim = 1 : i64} : tensor<8x16xf32> -> tensor<8x16xf32>
    tcp.yield %3, %4 : tensor<8x16xf32>, tensor<8x16xf32>
  } -> tensor<8x16xf32>, tensor<512x8x16xf32>
  return %0#1 : tensor<512x8x16xf32>
}
func.func @prepare_weights(%w: tensor<16x16xf32> {tcp.weight = "w"}) -> (tensor<16x16xf32> {tcp.prepared = "w"}) attributes {tcp.target = "cpu"} {
  return %w : tensor<16x16xf32>
}
