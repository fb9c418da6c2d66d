// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// The first rows of a tensor, on the GPU: the input is longer than the loop.
// CHECK-LABEL: func.func @prefix
// CHECK: linalg.generic {indexing_maps = [#{{.*}}], iterator_types = ["parallel", "parallel"]} outs(%{{.*}} : tensor<2x4xf32>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[TWICE:.*]] = arith.muli %[[J]], %c2
// CHECK: %[[K:.*]] = arith.addi %[[TWICE]], %c3
// CHECK: tensor.extract %{{.*}}[%[[I]], %[[K]]] : tensor<5x16xf32>
func.func @prefix(%x: tensor<5x16xf32>) -> tensor<2x4xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.slice %x {sizes = array<i64: 2, 4>, starts = array<i64: 0, 3>, strides = array<i64: 1, 2>} : tensor<5x16xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
