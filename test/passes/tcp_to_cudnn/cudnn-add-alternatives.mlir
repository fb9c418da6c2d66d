// RUN: convoy-opt %s --split-input-file --cudnn-add-alternatives | filecheck %s

// A split after the convolution, the other order of the sums, and a split after the bias in that order. Values between steps are f16.
// The existing graph @plain is used for an equal step, and new graphs are inserted last.
// CHECK-LABEL: cudnn.graph @residual_bias_relu(
// CHECK-LABEL: cudnn.graph @plain(
// CHECK-LABEL: cudnn.graph @residual_bias_relu_0(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<1x64x8x8xf16, NHWC>, %[[Z:.*]]: !cudnn.tensor_desc<1x64x8x8xf16, NHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>)
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise add(%[[X]], %[[Z]]) type = f32 : {{.*}} -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[R]], %[[B]])
// CHECK-NEXT: cudnn.pointwise relu_fwd(%[[S]]) {{.*}} -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
// CHECK: cudnn.alternative @residual_bias_relu "conv2d | residual+bias+relu" {
// CHECK-NEXT: ^bb0(%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[Z:.*]]: {{.*}}):
// CHECK-NEXT: %[[C:.*]] = cudnn.step @plain(%[[X]], %[[W]])
// CHECK-NEXT: %[[Y:.*]] = cudnn.step @residual_bias_relu_0(%[[C]], %[[Z]], %[[B]])
// CHECK-NEXT: cudnn.return %[[Y]]
// CHECK: cudnn.graph @conv2d_bias_residual_relu_0(%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[Z:.*]]: {{.*}})
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(%[[X]], %[[W]]) {{.*}} -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[C]], %[[B]])
// CHECK-NEXT: cudnn.pointwise add(%[[S]], %[[Z]])
// CHECK: cudnn.alternative @residual_bias_relu "conv2d+bias+residual+relu" {
// CHECK: cudnn.step @conv2d_bias_residual_relu_0(
// CHECK-NEXT: cudnn.return
// CHECK: cudnn.graph @conv2d_bias_0(
// CHECK-NEXT: cudnn.convolution({{.*}} -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK-NEXT: cudnn.pointwise add({{.*}} -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
// CHECK: cudnn.alternative @residual_bias_relu "conv2d+bias | residual+relu" {
// CHECK: cudnn.step @conv2d_bias_0(
// CHECK-NEXT: cudnn.step @residual_relu_0(
// A convolution alone has no alternatives.
// CHECK-NOT: cudnn.alternative
// CHECK-NOT: cudnn.graph
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
cudnn.graph @residual_bias_relu(%x: !t, %w: !w, %b: !b, %z: !t) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !v, !t -> !v
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !v, !b -> !v
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !v -> !t
  cudnn.return %3 : !t
}
cudnn.graph @plain(%x: !t, %w: !w) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !t
  cudnn.return %0 : !t
}

// -----

// A bias of zeros is added. The prologue is a separate step, with and without a split after the anchor.
// CHECK-LABEL: cudnn.graph @relu_conv_relu(
// CHECK: cudnn.graph @relu_0(
// CHECK: cudnn.graph @conv2d_relu_0(
// CHECK: cudnn.alternative @relu_conv_relu "relu | conv2d+relu" {
// CHECK-NEXT: ^bb0(%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}):
// CHECK-NEXT: %[[R:.*]] = cudnn.step @relu_0(%[[X]])
// CHECK-NEXT: %[[Y:.*]] = cudnn.step @conv2d_relu_0(%[[R]], %[[W]])
// CHECK-NEXT: cudnn.return %[[Y]]
// CHECK: cudnn.alternative @relu_conv_relu "relu+conv2d | relu" {
// CHECK: cudnn.step @relu_conv2d_0(
// CHECK-NEXT: cudnn.step @relu_0(
// CHECK: cudnn.alternative @relu_conv_relu "relu | conv2d | relu" {
// CHECK: cudnn.step @relu_0(
// CHECK-NEXT: cudnn.step @conv2d_0(
// CHECK-NEXT: cudnn.step @relu_0(
// CHECK: cudnn.alternative @relu_conv_relu "relu+conv2d+bias+relu" {
// CHECK-NEXT: ^bb0(%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}):
// CHECK-NEXT: %[[B:.*]] = cudnn.zeros : !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
// CHECK-NEXT: %[[Y:.*]] = cudnn.step @relu_conv2d_bias_relu_0(%[[X]], %[[W]], %[[B]])
// CHECK-NEXT: cudnn.return %[[Y]]
// CHECK-NOT: cudnn.alternative
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
cudnn.graph @relu_conv_relu(%x: !t, %w: !w) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.convolution(%0, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 : !v -> !t
  cudnn.return %2 : !t
}

// -----

// A matrix product, whose bias is along the last dim. An identity is not part of the name.
// CHECK-LABEL: cudnn.graph @linear(
// CHECK: cudnn.alternative @linear "matmul | bias+gelu" {
// CHECK: cudnn.alternative @linear "matmul+bias | gelu" {
// CHECK-NOT: cudnn.alternative
!a = !cudnn.tensor_desc<1x32x64xf16>
!b = !cudnn.tensor_desc<1x64x16xf16>
!n = !cudnn.tensor_desc<1x1x16xf16>
!v = !cudnn.tensor_desc<1x32x16xf32>
!y = !cudnn.tensor_desc<1x32x16xf16>
cudnn.graph @linear(%a: !a, %b: !b, %n: !n) -> !y {
  %0 = cudnn.matmul(%a, %b) type = f32 : !a, !b -> !v
  %1 = cudnn.pointwise add(%0, %n) type = f32 : !v, !n -> !v
  %2 = cudnn.pointwise gelu_fwd(%1) type = f32 : !v -> !v
  %3 = cudnn.pointwise identity(%2) type = f32 : !v -> !y
  cudnn.return %3 : !y
}

// -----

// Residuals of a depthwise convolution remain first.
// CHECK-LABEL: cudnn.graph @depthwise(
// CHECK: cudnn.alternative @depthwise "conv2d | residual+bias" {
// CHECK-NOT: cudnn.alternative
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x1x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
cudnn.graph @depthwise(%x: !t, %w: !w, %b: !b, %z: !t) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !v, !t -> !v
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !v, !b -> !t
  cudnn.return %2 : !t
}

// -----

// An identity that does not change the type is not a step.
// CHECK-LABEL: cudnn.graph @identity(
// CHECK: cudnn.alternative @identity "conv2d | bias" {
// CHECK-NOT: cudnn.alternative
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
cudnn.graph @identity(%x: !t, %w: !w, %b: !b) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !v
  %2 = cudnn.pointwise identity(%1) type = f32 : !v -> !t
  cudnn.return %2 : !t
}

// -----

// The gradient of an input has more engines without a bias.
// CHECK-LABEL: cudnn.graph @gradient(
// CHECK: cudnn.graph @dgrad2d_0(
// CHECK: cudnn.graph @bias_relu_0(
// CHECK: cudnn.alternative @gradient "dgrad2d | bias+relu"
// CHECK: cudnn.step @dgrad2d_0(
// CHECK: cudnn.step @bias_relu_0(
!t = !cudnn.tensor_desc<2x64x8x8xf16, NHWC>
!d = !cudnn.tensor_desc<2x64x4x4xf16, NHWC>
!w = !cudnn.tensor_desc<64x64x4x4xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
!f = !cudnn.tensor_desc<2x64x8x8xf32, NHWC>
cudnn.graph @gradient(%y: !d, %w: !w, %b: !b) -> !t {
  %0 = cudnn.convolution(%y, %w) mode = dgrad type = f32 spatial_stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !d, !w -> !f
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !f, !b -> !f
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 : !f -> !t
  cudnn.return %2 : !t
}
