// RUN: convoy-opt %s --canonicalize | filecheck %s
// Two bounds become one relu with clips, except where that would change a value.

!x = !cudnn.tensor_desc<1x8x6x6xf32, NHWC>
!h = !cudnn.tensor_desc<1x8x6x6xf16, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xf32>

// CHECK-LABEL: cudnn.graph @min_of_max(
// CHECK-NEXT: %[[Y:.*]] = cudnn.pointwise relu_fwd(%{{.*}}) type = f32 lower_clip = 0.000000e+00 upper_clip = 6.000000e+00 : !cudnn.tensor_desc<1x8x6x6xf32, NHWC> -> !cudnn.tensor_desc<1x8x6x6xf32, NHWC>
// CHECK-NEXT: cudnn.return %[[Y]]
cudnn.graph @min_of_max(%x: !x) -> !x {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @max_of_min(
// CHECK-NEXT: %[[Y:.*]] = cudnn.pointwise relu_fwd(%{{.*}}) type = f32 lower_clip = 0.000000e+00 upper_clip = 6.000000e+00 : !cudnn.tensor_desc<1x8x6x6xf32, NHWC> -> !cudnn.tensor_desc<1x8x6x6xf32, NHWC>
// CHECK-NEXT: cudnn.return %[[Y]]
cudnn.graph @max_of_min(%x: !x) -> !x {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise min(%x, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise max(%0, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @constants_first(
// CHECK-NEXT: %[[Y:.*]] = cudnn.pointwise relu_fwd(%{{.*}}) type = f32 lower_clip = 0.000000e+00 upper_clip = 6.000000e+00 : !cudnn.tensor_desc<1x8x6x6xf32, NHWC> -> !cudnn.tensor_desc<1x8x6x6xf32, NHWC>
// CHECK-NEXT: cudnn.return %[[Y]]
cudnn.graph @constants_first(%x: !x) -> !x {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%lo, %x) type = f32 nan_propagation = propagate_nan : !s, !x -> !x
  %1 = cudnn.pointwise min(%hi, %0) type = f32 nan_propagation = propagate_nan : !s, !x -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @relu6(
// CHECK-NEXT: %[[Y:.*]] = cudnn.pointwise relu_fwd(%{{.*}}) type = f32 lower_clip = 0.000000e+00 upper_clip = 6.000000e+00 : !cudnn.tensor_desc<1x8x6x6xf32, NHWC> -> !cudnn.tensor_desc<1x8x6x6xf32, NHWC>
// CHECK-NEXT: cudnn.return %[[Y]]
cudnn.graph @relu6(%x: !x) -> !x {
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !x -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// The intermediate tensor has 11 bits of precision, enough for the operand and for both bounds.
// CHECK-LABEL: cudnn.graph @hardtanh(
// CHECK-NEXT: %[[Y:.*]] = cudnn.pointwise relu_fwd(%{{.*}}) type = f32 lower_clip = -1.000000e+00 upper_clip = 1.000000e+00 : !cudnn.tensor_desc<1x8x6x6xf16, NHWC> -> !cudnn.tensor_desc<1x8x6x6xf16, NHWC>
// CHECK-NEXT: cudnn.return %[[Y]]
cudnn.graph @hardtanh(%x: !h) -> !h {
  %lo = cudnn.constant -1.0 : f16 -> !cudnn.tensor_desc<1x1x1x1xf16>
  %hi = cudnn.constant 1.0 : bf16 -> !cudnn.tensor_desc<1x1x1x1xbf16>
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !h, !cudnn.tensor_desc<1x1x1x1xf16> -> !h
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !h, !cudnn.tensor_desc<1x1x1x1xbf16> -> !h
  cudnn.return %1 : !h
}

// Of several bounds the tightest ones remain.
// CHECK-LABEL: cudnn.graph @tighter_clips(
// CHECK-NEXT: %[[Y:.*]] = cudnn.pointwise relu_fwd(%{{.*}}) type = f32 lower_clip = 1.000000e+00 upper_clip = 3.000000e+00 :
// CHECK-NEXT: cudnn.return %[[Y]]
cudnn.graph @tighter_clips(%x: !x) -> !x {
  %lo = cudnn.constant 1.0 : f32 -> !s
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 upper_clip = 4.0 : !x -> !x
  %1 = cudnn.pointwise max(%0, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 lower_clip = 0.5 upper_clip = 3.0 lower_clip_slope = 0.0 : !x -> !x
  cudnn.return %2 : !x
}

// CHECK-LABEL: cudnn.graph @only_below(
// CHECK-NEXT: %[[Y:.*]] = cudnn.pointwise relu_fwd(%{{.*}}) type = f32 lower_clip = 0.000000e+00 : !cudnn
// CHECK-NEXT: cudnn.return %[[Y]]
cudnn.graph @only_below(%x: !x) -> !x {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %1 = cudnn.constant -2.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %2 = cudnn.pointwise max(%0, %1) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %2 : !x
}

// The identity after a bias keeps the engines that the two bounds had.
// CHECK-LABEL: cudnn.graph @ends_a_convolution(
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise add(%[[C]],
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[B]]) type = f32 lower_clip = 0.000000e+00 upper_clip = 6.000000e+00 : {{.*}} -> !cudnn.tensor_desc<1x8x6x6xf32, NHWC>
// CHECK-NEXT: %[[I:.*]] = cudnn.pointwise identity(%[[R]]) type = f32 : {{.*}} -> !cudnn.tensor_desc<1x8x6x6xf16, NHWC>
// CHECK-NEXT: cudnn.return %[[I]]
cudnn.graph @ends_a_convolution(%x: !h, %w: !cudnn.tensor_desc<8x8x1x1xf16, NHWC>, %b: !cudnn.tensor_desc<1x8x1x1xf16, NHWC>) -> !h {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %c = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !h, !cudnn.tensor_desc<8x8x1x1xf16, NHWC> -> !x
  %b1 = cudnn.pointwise add(%c, %b) type = f32 : !x, !cudnn.tensor_desc<1x8x1x1xf16, NHWC> -> !x
  %0 = cudnn.pointwise max(%b1, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !h
  cudnn.return %1 : !h
}

// CHECK-LABEL: cudnn.graph @on_a_convolution(
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[C]]) {{.*}} -> !cudnn.tensor_desc<1x8x6x6xf16, NHWC>
// CHECK-NEXT: cudnn.return %[[R]]
cudnn.graph @on_a_convolution(%x: !h, %w: !cudnn.tensor_desc<8x8x1x1xf16, NHWC>) -> !h {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %c = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !h, !cudnn.tensor_desc<8x8x1x1xf16, NHWC> -> !x
  %0 = cudnn.pointwise max(%c, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !h
  cudnn.return %1 : !h
}

// CHECK-LABEL: cudnn.graph @inside_a_convolution(
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise add(%[[C]],
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[B]])
// CHECK-NEXT: %[[M:.*]] = cudnn.pointwise mul(%[[R]], %[[R]])
// CHECK-NEXT: cudnn.return %[[M]]
cudnn.graph @inside_a_convolution(%x: !h, %w: !cudnn.tensor_desc<8x8x1x1xf16, NHWC>, %b: !cudnn.tensor_desc<1x8x1x1xf16, NHWC>) -> !h {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %c = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !h, !cudnn.tensor_desc<8x8x1x1xf16, NHWC> -> !x
  %b1 = cudnn.pointwise add(%c, %b) type = f32 : !x, !cudnn.tensor_desc<1x8x1x1xf16, NHWC> -> !x
  %0 = cudnn.pointwise max(%b1, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %2 = cudnn.pointwise mul(%1, %1) type = f32 : !x, !x -> !h
  cudnn.return %2 : !h
}

// The cases below remain unchanged.
// `min` and `max` drop NaN by default, and cuDNN does not document the result.
// CHECK-LABEL: cudnn.graph @nan_is_dropped(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @nan_is_dropped(%x: !x) -> !x {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @nan_is_dropped_first(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @nan_is_dropped_first(%x: !x) -> !x {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = not_propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @nan_is_dropped_last(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise relu_fwd(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @nan_is_dropped_last(%x: !x) -> !x {
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !x -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @nan_is_dropped_by_relu(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise relu_fwd(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @nan_is_dropped_by_relu(%x: !x) -> !x {
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 nan_propagation = not_propagate_nan : !x -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// The result is 0 everywhere, whereas relu_fwd needs a lower clip that is not above the upper one.
// CHECK-LABEL: cudnn.graph @bounds_cross(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @bounds_cross(%x: !x) -> !x {
  %lo = cudnn.constant 6.0 : f32 -> !s
  %hi = cudnn.constant 0.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// A leaky relu continues below its clip.
// CHECK-LABEL: cudnn.graph @slope(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise relu_fwd(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @slope(%x: !x) -> !x {
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 lower_clip_slope = 0.1 : !x -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @clip_is_infinite(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise relu_fwd(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @clip_is_infinite(%x: !x) -> !x {
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 lower_clip = 0xFFF0000000000000 : !x -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// relu_fwd has a lower clip, by default 0.
// CHECK-LABEL: cudnn.graph @only_above(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise min(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @only_above(%x: !x) -> !x {
  %lo = cudnn.constant 7.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise min(%x, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @no_constant(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @no_constant(%x: !x, %s: !s {cudnn.by_value}) -> !x {
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %s) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @bound_is_nan(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @bound_is_nan(%x: !x) -> !x {
  %lo = cudnn.constant 0x7FC00000 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// cuDNN does not document how it rounds a number that the compute type cannot represent.
// CHECK-LABEL: cudnn.graph @bound_is_wider(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @bound_is_wider(%x: !x) -> !x {
  %lo = cudnn.constant 0.1 : f64 -> !cudnn.tensor_desc<1x1x1x1xf64>
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !x, !cudnn.tensor_desc<1x1x1x1xf64> -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @integers(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @integers(%x: !x) -> !x {
  %lo = cudnn.constant 0 : i32 -> !cudnn.tensor_desc<1x1x1x1xi32>
  %hi = cudnn.constant 6 : i32 -> !cudnn.tensor_desc<1x1x1x1xi32>
  %0 = cudnn.pointwise max(%x, %lo) type = i32 nan_propagation = propagate_nan : !x, !cudnn.tensor_desc<1x1x1x1xi32> -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = i32 nan_propagation = propagate_nan : !x, !cudnn.tensor_desc<1x1x1x1xi32> -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @scaled(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @scaled(%x: !x) -> !x {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan alpha1 = 2.0 : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @scaled_bound(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @scaled_bound(%x: !x) -> !x {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan alpha2 = 2.0 : !x, !s -> !x
  cudnn.return %1 : !x
}

// The bounds have different compute types.
// CHECK-LABEL: cudnn.graph @compute_types(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @compute_types(%x: !x) -> !x {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = bf16 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// The intermediate tensor has fewer bits of precision than the operand.
// CHECK-LABEL: cudnn.graph @rounds_between(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @rounds_between(%x: !x) -> !x {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !h
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !h, !s -> !x
  cudnn.return %1 : !x
}

// The intermediate tensor would round the lower bound.
// CHECK-LABEL: cudnn.graph @bound_rounds_between(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @bound_rounds_between(%x: !h) -> !x {
  %lo = cudnn.constant 0.1 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !h, !s -> !h
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !h, !s -> !x
  cudnn.return %1 : !x
}

// The result of the lower bound is also returned, or has another use.
// CHECK-LABEL: cudnn.graph @two_uses(
// CHECK: %[[A:.*]] = cudnn.pointwise max(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(%[[A]],
// CHECK-NEXT: cudnn.return %[[A]], %[[B]]
cudnn.graph @two_uses(%x: !x) -> (!x, !x) {
  %lo = cudnn.constant 0.0 : f32 -> !s
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise max(%x, %lo) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %0, %1 : !x, !x
}

// CHECK-LABEL: cudnn.graph @not_bounded_before(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise tanh_fwd(
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(%[[A]],
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @not_bounded_before(%x: !x) -> !x {
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise tanh_fwd(%x) type = f32 : !x -> !x
  %1 = cudnn.pointwise min(%0, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @bounds_an_argument(
// CHECK-NEXT: {{.*}} = cudnn.constant
// CHECK-NEXT: %[[B:.*]] = cudnn.pointwise min(
// CHECK-NEXT: cudnn.return %[[B]]
cudnn.graph @bounds_an_argument(%x: !x) -> !x {
  %hi = cudnn.constant 6.0 : f32 -> !s
  %0 = cudnn.pointwise min(%x, %hi) type = f32 nan_propagation = propagate_nan : !x, !s -> !x
  cudnn.return %0 : !x
}
