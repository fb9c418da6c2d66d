// In f32 cuDNN marks engines for graphs without an anchor as using TF32, but sums and relu do not round. If TF32 is forbidden, other
// pointwise operations are not steps, and over three spatial dims residuals remain first.
// RUN: convoy-opt %s --cudnn-add-alternatives="allow-tf32=false remarks" --verify-diagnostics | filecheck %s

// CHECK: cudnn.alternative @residual_bias "conv2d | residual+bias"
// CHECK: cudnn.alternative @residual_bias "conv2d+bias+residual"
// CHECK: cudnn.alternative @residual_bias "conv2d+bias | residual"
// CHECK: cudnn.alternative @over_three_dims "conv3d | residual+bias"
// CHECK-NOT: cudnn.alternative
!t = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf32, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
cudnn.graph @residual_bias(%x: !t, %w: !w, %b: !b, %z: !t) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !t
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !t, !t -> !t
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !t, !b -> !t
  cudnn.return %2 : !t
}
!t3 = !cudnn.tensor_desc<1x64x4x8x8xf32, NDHWC>
!w3 = !cudnn.tensor_desc<64x64x3x3x3xf32, NDHWC>
!b3 = !cudnn.tensor_desc<1x64x1x1x1xf32, NDHWC>
// expected-remark @+1 {{no alternative with the bias first: over three spatial dims in f32 all engines of cuDNN for this use TF32, which allow-tf32=false forbids}}
cudnn.graph @over_three_dims(%x: !t3, %w: !w3, %b: !b3, %z: !t3) -> !t3 {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1, 1] pre_padding = [1, 1, 1] post_padding = [1, 1, 1] dilation = [1, 1, 1] : !t3, !w3 -> !t3
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !t3, !t3 -> !t3
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !t3, !b3 -> !t3
  cudnn.return %2 : !t3
}
// expected-remark @+2 {{no alternative 'conv2d | bias+tanh': tanh_fwd without an anchor: in f32 all engines of cuDNN use TF32, which allow-tf32=false forbids}}
// expected-remark @+1 {{no alternative 'conv2d+bias | tanh': tanh_fwd without an anchor: in f32 all engines of cuDNN use TF32, which allow-tf32=false forbids}}
cudnn.graph @tanh(%x: !t, %w: !w, %b: !b) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !t
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !t, !b -> !t
  %2 = cudnn.pointwise tanh_fwd(%1) type = f32 : !t -> !t
  cudnn.return %2 : !t
}
