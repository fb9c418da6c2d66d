// RUN: convoy-opt %s --cudnn-attach-kernels | filecheck %s

// A graph that only alternatives use gets no kernels; one that is also called does.
// CHECK: cudnn.graph @conv_bias({{.*}} attributes {cudnn.kernels
// CHECK: cudnn.graph @called({{.*}} attributes {cudnn.kernels
// CHECK: cudnn.graph @step(
// CHECK-NOT: cudnn.kernels
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
cudnn.graph @conv_bias(%x: !t, %w: !w, %b: !b) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !t
  cudnn.return %1 : !t
}
cudnn.graph @called(%x: !t, %w: !w) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !t
  cudnn.return %0 : !t
}
cudnn.graph @step(%x: !t, %w: !w) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !v -> !t
  cudnn.return %1 : !t
}
cudnn.alternative @conv_bias "one" {
^bb0(%x: !t, %w: !w, %b: !b):
  %0 = cudnn.step @called(%x, %w) : (!t, !w) -> !t
  cudnn.return %0 : !t
}
cudnn.alternative @conv_bias "other" {
^bb0(%x: !t, %w: !w, %b: !b):
  %0 = cudnn.step @step(%x, %w) : (!t, !w) -> !t
  cudnn.return %0 : !t
}
func.func @main(%x: tensor<1x8x8x64xf16>, %w: tensor<64x3x3x64xf16>, %o: tensor<1x8x8x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = cudnn.execute @called ins(%x, %w : tensor<1x8x8x64xf16>, tensor<64x3x3x64xf16>) outs(%o : tensor<1x8x8x64xf16>) -> tensor<1x8x8x64xf16>
  return %0 : tensor<1x8x8x64xf16>
}
