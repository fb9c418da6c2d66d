// RUN: convoy-opt %s --verify-roundtrip | filecheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | filecheck %s

!t = !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>

cudnn.graph @conv_relu_0(%x: !t, %w: !w) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !v -> !t
  cudnn.return %1 : !t
}
cudnn.graph @conv_bias_0(%x: !t, %w: !w, %b: !b) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu_0(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}

// CHECK: cudnn.alternative @conv_relu_0 "conv2d+bias | relu" {
// CHECK-NEXT: ^bb0(%[[X:.*]]: !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, %[[W:.*]]: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>):
// CHECK-NEXT: %[[B:.*]] = cudnn.zeros : !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
// CHECK-NEXT: %[[C:.*]] = cudnn.step @conv_bias_0(%[[X]], %[[W]], %[[B]]) : (!cudnn.tensor_desc<1x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
// CHECK-NEXT: %[[Y:.*]] = cudnn.step @relu_0(%[[C]]) : (!cudnn.tensor_desc<1x64x56x56xf16, NHWC>) -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
// CHECK-NEXT: cudnn.return %[[Y]] : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
cudnn.alternative @conv_relu_0 "conv2d+bias | relu" {
^bb0(%x: !t, %w: !w):
  %0 = cudnn.zeros : !b
  %1 = cudnn.step @conv_bias_0(%x, %w, %0) : (!t, !w, !b) -> !t
  %2 = cudnn.step @relu_0(%1) : (!t) -> !t
  cudnn.return %2 : !t
}
