// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// A right operand without batch: one product of all rows.
// CHECK-LABEL: func.func @linear
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<24x8xf32>, tensor<8x5xf32>)
func.func @linear(%a: tensor<2x12x8xf32>, %b: tensor<1x8x5xf32>) -> tensor<2x12x5xf32> {
  %0 = tcp.matmul %a, %b : tensor<2x12x8xf32>, tensor<1x8x5xf32> -> tensor<2x12x5xf32>
  return %0 : tensor<2x12x5xf32>
}

// The GPU uses narrow operands directly.
// CHECK-LABEL: func.func @batch
// CHECK: linalg.batch_matmul ins(%{{.*}}, %{{.*}} : tensor<6x4x8xf16>, tensor<6x8x5xf16>) outs(%{{.*}} : tensor<6x4x5xf32>)
func.func @batch(%a: tensor<2x3x4x8xf16>, %b: tensor<2x3x8x5xf16>) -> tensor<2x3x4x5xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %a, %b : tensor<2x3x4x8xf16>, tensor<2x3x8x5xf16> -> tensor<2x3x4x5xf16>
  return %0 : tensor<2x3x4x5xf16>
}

// CHECK-LABEL: func.func @broadcast
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
func.func @broadcast(%a: tensor<2x1x4x8xf32>, %b: tensor<1x3x8x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = tcp.matmul %a, %b : tensor<2x1x4x8xf32>, tensor<1x3x8x5xf32> -> tensor<2x3x4x5xf32>
  return %0 : tensor<2x3x4x5xf32>
}
