// RUN: convoy-opt %s --convoy-hoist-transposes --split-input-file | filecheck %s

// CHECK-LABEL: func.func @prepare_weights
// CHECK-SAME: -> (tensor<3x3x4x6xf32> {tcp.prepared = "a"}, tensor<5x7xf32> {tcp.prepared = "b"})
// CHECK: arith.extf
// CHECK: linalg.transpose
// CHECK: return
func.func @prepare_weights(%a: tensor<6x3x3x4xf16> {tcp.weight = "a"}, %b: tensor<5x7xf32> {tcp.weight = "b"})
    -> (tensor<6x3x3x4xf16> {tcp.prepared = "a"}, tensor<5x7xf32> {tcp.prepared = "b"}) {
  return %a, %b : tensor<6x3x3x4xf16>, tensor<5x7xf32>
}

// A value with another user is unchanged.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[A:.*]]: tensor<3x3x4x6xf32> {tcp.prepared = "a"}, %[[B:.*]]: tensor<5x7xf32> {tcp.prepared = "b"})
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[B]]
// CHECK: return %[[A]], %[[T]], %[[B]]
func.func @main(%a: tensor<6x3x3x4xf16> {tcp.prepared = "a"}, %b: tensor<5x7xf32> {tcp.prepared = "b"})
    -> (tensor<3x3x4x6xf32>, tensor<7x5xf32>, tensor<5x7xf32>) {
  %e = tensor.empty() : tensor<6x3x3x4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a : tensor<6x3x3x4xf16>) outs(%e : tensor<6x3x3x4xf32>) {
  ^bb0(%in: f16, %out: f32):
    %w = arith.extf %in : f16 to f32
    linalg.yield %w : f32
  } -> tensor<6x3x3x4xf32>
  %0 = tensor.empty() : tensor<3x3x4x6xf32>
  %1 = linalg.transpose ins(%c : tensor<6x3x3x4xf32>) outs(%0 : tensor<3x3x4x6xf32>) permutation = [1, 2, 3, 0]
  %2 = tensor.empty() : tensor<7x5xf32>
  %3 = linalg.transpose ins(%b : tensor<5x7xf32>) outs(%2 : tensor<7x5xf32>) permutation = [1, 0]
  return %1, %3, %b : tensor<3x3x4x6xf32>, tensor<7x5xf32>, tensor<5x7xf32>
}

// -----

// Two arguments with one prepared weight: both would need the new order.
// CHECK-LABEL: func.func @prepare_weights
// CHECK-SAME: -> (tensor<5x7xf32> {tcp.prepared = "a"})
func.func @prepare_weights(%a: tensor<5x7xf32> {tcp.weight = "a"}) -> (tensor<5x7xf32> {tcp.prepared = "a"}) {
  return %a : tensor<5x7xf32>
}

// CHECK-LABEL: func.func @main
// CHECK: linalg.transpose
func.func @main(%a: tensor<5x7xf32> {tcp.prepared = "a"}, %b: tensor<5x7xf32> {tcp.prepared = "a"}) -> (tensor<7x5xf32>, tensor<5x7xf32>) {
  %0 = tensor.empty() : tensor<7x5xf32>
  %1 = linalg.transpose ins(%a : tensor<5x7xf32>) outs(%0 : tensor<7x5xf32>) permutation = [1, 0]
  return %1, %b : tensor<7x5xf32>, tensor<5x7xf32>
}
