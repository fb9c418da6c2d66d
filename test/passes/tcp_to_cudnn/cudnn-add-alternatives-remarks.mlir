// RUN: convoy-opt %s --cudnn-add-alternatives=remarks --verify-diagnostics -o /dev/null

// Steps that the table refuses, and graphs without alternatives.
!t = !cudnn.tensor_desc<1x64x8x8xf16>
!w = !cudnn.tensor_desc<64x64x3x3xf16>
// expected-remark @+1 {{no alternative 'conv2d | neg': conv2d: cuDNN supports channels_last; it would convert channels_first in each call}}
cudnn.graph @channels_first(%x: !t, %w: !w) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !t
  %1 = cudnn.pointwise neg(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
!l = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!k = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
// expected-remark @+1 {{no alternative 'conv2d | atan2_full': the support table has no row for atan2 without an anchor in channels_last f16}}
cudnn.graph @atan2(%x: !l, %w: !k, %z: !l) -> !l {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !l, !k -> !l
  %1 = cudnn.pointwise atan2(%0, %z) type = f32 : !l, !l -> !l
  cudnn.return %1 : !l
}
!m = !cudnn.tensor_desc<2x64x8x8xf16, NHWC>
!g = !cudnn.tensor_desc<2x64x1x1xf16, NHWC>
!r = !cudnn.tensor_desc<1x1x8x8xf16, NHWC>
// expected-remark @+1 {{no alternative 'conv2d | gate': gate: without an anchor cuDNN supports operands of the result's shape or with one number per channel}}
cudnn.graph @gate(%x: !m, %w: !k, %g: !g) -> !m {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !m, !k -> !m
  %1 = cudnn.pointwise mul(%0, %g) type = f32 : !m, !g -> !m
  cudnn.return %1 : !m
}
// expected-remark @+1 {{no alternative 'conv2d | mul_broadcast': mul_broadcast: without an anchor cuDNN supports operands of the result's shape or with one number per channel}}
cudnn.graph @broadcast(%x: !m, %w: !k, %r: !r) -> !m {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !m, !k -> !m
  %1 = cudnn.pointwise mul(%0, %r) type = f32 : !m, !r -> !m
  cudnn.return %1 : !m
}
// expected-remark @+1 {{no alternatives: the graph has no anchor}}
cudnn.graph @pointwise(%x: !l) -> !l {
  %0 = cudnn.pointwise neg(%x) type = f32 : !l -> !l
  cudnn.return %0 : !l
}
// expected-remark @+1 {{no alternatives: a pooling or a gradient of weights cannot be split}}
cudnn.graph @gradient(%x: !l, %y: !l) -> !k {
  %0 = cudnn.convolution(%x, %y) mode = wgrad type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !l, !l -> !k
  cudnn.return %0 : !k
}
// expected-remark @+1 {{no alternatives: expects the last operation's result as the only result}}
cudnn.graph @beside(%x: !l, %w: !k, %z: !l) -> (!l, !l) {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !l, !k -> !l
  %1 = cudnn.pointwise neg(%z) type = f32 : !l -> !l
  cudnn.return %0, %1 : !l, !l
}
// expected-remark @+1 {{no alternatives: the anchor's second operand is computed in the graph}}
cudnn.graph @filter(%x: !l, %w: !k) -> !l {
  %0 = cudnn.pointwise neg(%w) type = f32 : !k -> !k
  %1 = cudnn.convolution(%x, %0) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !l, !k -> !l
  cudnn.return %1 : !l
}
// expected-remark @+1 {{no alternatives: sub: the value computed in the graph must be the first operand}}
cudnn.graph @second(%x: !l, %w: !k, %z: !l) -> !l {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !l, !k -> !l
  %1 = cudnn.pointwise sub(%z, %0) type = f32 : !l, !l -> !l
  cudnn.return %1 : !l
}
// expected-remark @+1 {{no alternatives: a value before the anchor is also used after it}}
cudnn.graph @both_sides(%x: !l, %w: !k) -> !l {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !l -> !l
  %1 = cudnn.convolution(%0, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !l, !k -> !l
  %2 = cudnn.pointwise mul(%1, %0) type = f32 : !l, !l -> !l
  cudnn.return %2 : !l
}
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!d = !cudnn.tensor_desc<64x1x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
// expected-remark @+1 {{no alternative with the bias first: cuDNN's precompiled kernels for depthwise convolutions expect residuals first}}
cudnn.graph @depthwise(%x: !l, %w: !d, %b: !b, %z: !l) -> !l {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !l, !d -> !v
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !v, !l -> !v
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !v, !b -> !l
  cudnn.return %2 : !l
}
