// RUN: convoy-opt %s --split-input-file --cudnn-add-alternatives | filecheck %s

// The other order of the sums. A factor stays with its operand, and the running value becomes the first operand.
// CHECK-LABEL: cudnn.graph @bias_residual_relu(
// CHECK: cudnn.graph @conv2d_residual_bias_relu_0(%[[X:.*]]: !cudnn.tensor_desc<1x64x8x8xf16, NHWC>, %[[W:.*]]: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %[[Z:.*]]: !cudnn.tensor_desc<1x64x8x8xf16, NHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>)
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(%[[X]], %[[W]])
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise add(%[[C]], %[[Z]]) type = f32 alpha2 = 2.000000e+00 : !cudnn.tensor_desc<1x64x8x8xf32, NHWC>, !cudnn.tensor_desc<1x64x8x8xf16, NHWC> -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[R]], %[[B]]) type = f32 : !cudnn.tensor_desc<1x64x8x8xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK-NEXT: cudnn.pointwise relu_fwd(%[[S]])
// CHECK: cudnn.alternative @bias_residual_relu "conv2d+residual+bias+relu" {
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
cudnn.graph @bias_residual_relu(%x: !t, %w: !w, %b: !b, %z: !t) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !v
  %2 = cudnn.pointwise add(%z, %1) type = f32 alpha1 = 2.0 : !t, !v -> !v
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 : !v -> !t
  cudnn.return %3 : !t
}

// -----

// The last sum remains the result.
// CHECK-LABEL: cudnn.graph @no_activation(
// CHECK: cudnn.graph @conv2d_residual_bias_0(
// CHECK-NEXT: cudnn.convolution
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise add(%{{.*}}, %{{.*}}) type = f32 : !cudnn.tensor_desc<1x64x8x8xf32, NHWC>, !cudnn.tensor_desc<1x64x8x8xf16, NHWC> -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[R]], %{{.*}}) type = f32 : !cudnn.tensor_desc<1x64x8x8xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
// CHECK-NEXT: cudnn.return %[[S]]
// CHECK: cudnn.alternative @no_activation "conv2d+residual+bias" {
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
cudnn.graph @no_activation(%x: !t, %w: !w, %b: !b, %z: !t) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !v
  %2 = cudnn.pointwise add(%1, %z) type = f32 : !v, !t -> !t
  cudnn.return %2 : !t
}

// -----

// Sums are not reordered if an intermediate sum is rounded or scaled.
// CHECK-LABEL: cudnn.graph @rounded(
// CHECK-LABEL: cudnn.graph @scaled(
// CHECK-NOT: +residual+bias
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
cudnn.graph @rounded(%x: !t, %w: !w, %b: !b, %z: !t) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !t
  %2 = cudnn.pointwise add(%1, %z) type = f32 : !t, !t -> !t
  cudnn.return %2 : !t
}
cudnn.graph @scaled(%x: !t, %w: !w, %b: !b, %z: !t) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !v
  %2 = cudnn.pointwise add(%1, %z) type = f32 alpha1 = 2.0 : !v, !t -> !t
  cudnn.return %2 : !t
}

// -----

// A bias of zeros is added after the residual. Its sum becomes the result, and the residual's sum becomes virtual.
// CHECK-LABEL: cudnn.graph @residual(
// CHECK: cudnn.graph @conv2d_residual_bias_0(%[[X:.*]]: !cudnn.tensor_desc<1x64x8x8xf16, NHWC>, %[[W:.*]]: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %[[Z:.*]]: !cudnn.tensor_desc<1x64x8x8xf16, NHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>)
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(%[[X]], %[[W]])
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise add(%[[C]], %[[Z]]) type = f32 : !cudnn.tensor_desc<1x64x8x8xf32, NHWC>, !cudnn.tensor_desc<1x64x8x8xf16, NHWC> -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[R]], %[[B]]) type = f32 : !cudnn.tensor_desc<1x64x8x8xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
// CHECK-NEXT: cudnn.return %[[S]]
// CHECK: cudnn.alternative @residual "conv2d+residual+bias" {
// CHECK-NEXT: ^bb0(%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[Z:.*]]: {{.*}}):
// CHECK-NEXT: %[[B:.*]] = cudnn.zeros : !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
// CHECK-NEXT: cudnn.step @conv2d_residual_bias_0(%[[X]], %[[W]], %[[Z]], %[[B]])
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
cudnn.graph @residual(%x: !t, %w: !w, %z: !t) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !v, !t -> !t
  cudnn.return %1 : !t
}

// -----

// No bias of zeros is added after a bias, or before an activation that no precompiled kernel has.
// CHECK-LABEL: cudnn.graph @biased(
// CHECK-LABEL: cudnn.graph @tanh(
// CHECK-NOT: cudnn.zeros
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
cudnn.graph @biased(%x: !t, %w: !w, %b: !b) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !v
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 : !v -> !t
  cudnn.return %2 : !t
}
cudnn.graph @tanh(%x: !t, %w: !w) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise tanh_fwd(%0) type = f32 : !v -> !t
  cudnn.return %1 : !t
}
