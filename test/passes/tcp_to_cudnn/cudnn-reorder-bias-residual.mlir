// RUN: convoy-opt %s --cudnn-reorder-bias-residual | filecheck %s
// RUN: convoy-opt %s --cudnn-reorder-bias-residual --cudnn-reorder-bias-residual=bias-first | filecheck %s --check-prefix=BACK

// CHECK-LABEL: cudnn.graph @bias_residual_relu(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %[[W:.*]]: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %[[Z:.*]]: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>)
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(%[[X]], %[[W]])
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise add(%[[C]], %[[Z]]) type = f32 alpha2 = 2.000000e+00 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[R]], %[[B]]) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
// CHECK-NEXT: cudnn.pointwise relu_fwd(%[[S]])
// And back.
// BACK-LABEL: cudnn.graph @bias_residual_relu(
// BACK-SAME: %[[X:.*]]: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %[[W:.*]]: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %[[Z:.*]]: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>)
// BACK-NEXT: %[[C:.*]] = cudnn.convolution(%[[X]], %[[W]])
// BACK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[C]], %[[B]]) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
// BACK-NEXT: %[[R:.*]] = cudnn.pointwise add(%[[S]], %[[Z]]) type = f32 alpha2 = 2.000000e+00 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
// BACK-NEXT: cudnn.pointwise relu_fwd(%[[R]])
cudnn.graph @bias_residual_relu(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %z: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %2 = cudnn.pointwise add(%z, %1) type = f32 alpha1 = 2.0 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<8x64x16x16xf32, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

// The last sum is the result, and stays it.
// CHECK-LABEL: cudnn.graph @no_activation(
// CHECK: %[[R:.*]] = cudnn.pointwise add(%{{.*}}, %{{.*}}) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[R]], %{{.*}}) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
// CHECK-NEXT: cudnn.return %[[S]]
cudnn.graph @no_activation(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %z: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %2 = cudnn.pointwise add(%1, %z) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

// Not where the sum in between is rounded, is needed itself, or is scaled.
// CHECK-LABEL: cudnn.graph @rounded(
// CHECK: cudnn.pointwise add(%{{.*}}, %{{.*}}) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
cudnn.graph @rounded(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %z: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  %2 = cudnn.pointwise add(%1, %z) type = f32 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

// CHECK-LABEL: cudnn.graph @needed(
// CHECK: cudnn.pointwise add(%{{.*}}, %{{.*}}) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
cudnn.graph @needed(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %z: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>) -> (!cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC>) {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %2 = cudnn.pointwise add(%1, %z) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %1, %2 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

// CHECK-LABEL: cudnn.graph @scaled(
// CHECK: cudnn.pointwise add(%{{.*}}, %{{.*}}) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
cudnn.graph @scaled(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %z: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %2 = cudnn.pointwise add(%1, %z) type = f32 alpha1 = 2.0 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}
