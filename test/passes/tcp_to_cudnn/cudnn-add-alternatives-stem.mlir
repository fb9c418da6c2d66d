// RUN: convoy-opt %s --convert-tcp-to-cudnn --cudnn-add-alternatives | filecheck %s
// RUN: convoy-opt %s --convert-tcp-to-cudnn --cudnn-add-alternatives=remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=REMARK

// The kernels of a stem in f32 use TF32. cuDNN's convolution reads the channels-first image, without the identity that copies it.
// CHECK: cudnn.graph @stem_0(
// CHECK: cudnn.graph @conv2d_bias_relu_0(%[[X:.*]]: !cudnn.tensor_desc<2x3x32x64xf32, NCHW>, %[[W:.*]]: !cudnn.tensor_desc<64x3x7x7xf32, NHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<2x64x16x32xf32, NHWC> {
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(%[[X]], %[[W]])
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[C]], %[[B]])
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[S]])
// CHECK-NEXT: cudnn.return %[[R]]
// CHECK: cudnn.graph @max_pool_0(%[[R:.*]]: !cudnn.tensor_desc<2x64x16x32xf32, NHWC>) -> !cudnn.tensor_desc<2x64x8x16xf32, NHWC> {
// CHECK-NEXT: %[[P:.*]] = cudnn.resample maxpool(%[[R]])
// CHECK-NEXT: cudnn.return %[[P]]
// CHECK: cudnn.alternative @stem_0 "conv2d+bias+relu | max_pool" {
// CHECK-NEXT: ^bb0(%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}}):
// CHECK-NEXT: %[[C:.*]] = cudnn.step @conv2d_bias_relu_0(%[[X]], %[[W]], %[[B]])
// CHECK-NEXT: %[[P:.*]] = cudnn.step @max_pool_0(%[[C]])
// CHECK-NEXT: cudnn.return %[[P]]
func.func @main(%x: tensor<2x3x32x64xf32>, %w: tensor<64x7x7x3xf32>, %b: tensor<1x1x1x64xf32>) -> tensor<2x8x16x64xf32> attributes {tcp.target = "cuda"} {
  %s = tcp.isolated_group %x, %w, %b attributes {anchor = "stem", pattern = "transpose+conv2d+bias+relu+max_pool"} {
  ^bb0(%i: tensor<2x3x32x64xf32>, %f: tensor<64x7x7x3xf32>, %v: tensor<1x1x1x64xf32>):
    %1 = tcp.transpose %i {perm = array<i64: 0, 2, 3, 1>} : tensor<2x3x32x64xf32> -> tensor<2x32x64x3xf32>
    %2 = tcp.conv2d %1, %f {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 3, 3, 3, 3>, stride = array<i64: 2, 2>} : tensor<2x32x64x3xf32>, tensor<64x7x7x3xf32> -> tensor<2x16x32x64xf32>
    %3 = tcp.add %2, %v : tensor<2x16x32x64xf32>, tensor<1x1x1x64xf32> -> tensor<2x16x32x64xf32>
    %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<2x16x32x64xf32> -> tensor<2x16x32x64xf32>
    %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<2x16x32x64xf32> -> tensor<2x8x16x64xf32>
    tcp.yield %5 : tensor<2x8x16x64xf32>
  } : tensor<2x3x32x64xf32>, tensor<64x7x7x3xf32>, tensor<1x1x1x64xf32> -> tensor<2x8x16x64xf32>
  return %s : tensor<2x8x16x64xf32>
}

// Stems of other types, and graphs that are not stems, have no alternative.
// CHECK-NOT: cudnn.alternative
// REMARK: remark: no alternatives: stem kernels are faster than cuDNN's graphs; only f32 stems need an alternative without TF32
!i = !cudnn.tensor_desc<2x3x32x64xf16>
!l = !cudnn.tensor_desc<2x3x32x64xf16, NHWC>
!w = !cudnn.tensor_desc<64x3x7x7xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
!v = !cudnn.tensor_desc<2x64x16x32xf32, NHWC>
!h = !cudnn.tensor_desc<2x64x16x32xf16, NHWC>
!y = !cudnn.tensor_desc<2x64x8x16xf16, NHWC>
cudnn.graph @in_f16(%x: !i, %w: !w, %b: !b) -> !y attributes {cudnn.preference = "only_kernel"} {
  %0 = cudnn.pointwise identity(%x) type = f32 : !i -> !l
  %1 = cudnn.convolution(%0, %w) type = f32 spatial_stride = [2, 2] pre_padding = [3, 3] post_padding = [3, 3] dilation = [1, 1] : !l, !w -> !v
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !v, !b -> !v
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !v -> !h
  %y = cudnn.resample maxpool(%3) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] padding_mode = neg_inf_pad : !h -> !y
  cudnn.return %y : !y
}
// REMARK: remark: no alternatives: not a stem
cudnn.graph @marked(%x: !l) -> !l attributes {cudnn.preference = "only_kernel"} {
  %0 = cudnn.pointwise neg(%x) type = f32 : !l -> !l
  cudnn.return %0 : !l
}
// REMARK: remark: no alternatives: not a stem
!p = !cudnn.tensor_desc<2x64x16x32xf32>
!q = !cudnn.tensor_desc<2x64x8x16xf32, NHWC>
cudnn.graph @chain(%x: !p, %z: !v) -> !q attributes {cudnn.preference = "only_kernel"} {
  %0 = cudnn.pointwise identity(%x) type = f32 : !p -> !v
  %1 = cudnn.pointwise neg(%z) type = f32 : !v -> !v
  %2 = cudnn.pointwise sub(%0, %1) type = f32 : !v, !v -> !v
  %y = cudnn.resample maxpool(%2) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] padding_mode = neg_inf_pad : !v -> !q
  cudnn.return %y : !q
}
// REMARK: remark: no alternatives: not a stem
cudnn.graph @no_convolution(%x: !p) -> !q attributes {cudnn.preference = "only_kernel"} {
  %0 = cudnn.pointwise identity(%x) type = f32 : !p -> !v
  %1 = cudnn.pointwise neg(%0) type = f32 : !v -> !v
  %y = cudnn.resample maxpool(%1) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] padding_mode = neg_inf_pad : !v -> !q
  cudnn.return %y : !q
}
