// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// The constant operands of a graph are written to the memory of the GPU.
// CHECK-LABEL: func.func @operands
// CHECK-SAME: %[[X:.*]]: tensor<8x2xf16>
// CHECK: %[[W:.*]] = linalg.fill ins(%{{.*}} : f16) outs(%{{.*}} : tensor<2x4xf16>)
// CHECK: cudnn.execute @product ins(%[[X]], %[[W]] :
// CHECK: %[[D:.*]] = linalg.copy ins(%{{.*}} : tensor<2x4xf16>)
// CHECK: cudnn.execute @product ins(%[[X]], %[[D]] :
// CHECK-LABEL: func.func @host
// CHECK-NOT: linalg
cudnn.graph @product(%x: !cudnn.tensor_desc<1x8x2xf16>, %w: !cudnn.tensor_desc<1x2x4xf16>) -> !cudnn.tensor_desc<1x8x4xf16> {
  %0 = cudnn.matmul(%x, %w) type = f32 : !cudnn.tensor_desc<1x8x2xf16>, !cudnn.tensor_desc<1x2x4xf16> -> !cudnn.tensor_desc<1x8x4xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4xf16>
}
func.func @operands(%x: tensor<8x2xf16>) -> (tensor<8x4xf16>, tensor<8x4xf16>) attributes {tcp.target = "cuda"} {
  %ones = arith.constant dense<1.0> : tensor<2x4xf16>
  %numbers = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]> : tensor<2x4xf16>
  %0 = tensor.empty() : tensor<8x4xf16>
  %1 = cudnn.execute @product ins(%x, %ones : tensor<8x2xf16>, tensor<2x4xf16>) outs(%0 : tensor<8x4xf16>) -> tensor<8x4xf16>
  %2 = cudnn.execute @product ins(%x, %numbers : tensor<8x2xf16>, tensor<2x4xf16>) outs(%0 : tensor<8x4xf16>) -> tensor<8x4xf16>
  return %1, %2 : tensor<8x4xf16>, tensor<8x4xf16>
}
func.func @host(%x: tensor<8x2xf16>) -> tensor<8x4xf16> attributes {tcp.target = "cpu"} {
  %ones = arith.constant dense<1.0> : tensor<2x4xf16>
  %0 = tensor.empty() : tensor<8x4xf16>
  %1 = cudnn.execute @product ins(%x, %ones : tensor<8x2xf16>, tensor<2x4xf16>) outs(%0 : tensor<8x4xf16>) -> tensor<8x4xf16>
  return %1 : tensor<8x4xf16>
}
