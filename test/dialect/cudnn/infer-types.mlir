// RUN: convoy-infer-types %s | filecheck %s
// RUN: convoy-infer-types - | filecheck %s --check-prefix=BUILT
// Result types that the operands determine. The types in this file have other element types,
// strides and alignments, which are the caller's choice.

// BUILT: cudnn.convolution({{.*}} -> !cudnn.tensor_desc<8x32x28x28xf16, NHWC>
// BUILT: cudnn.resample maxpool({{.*}} -> !cudnn.tensor_desc<8x32x14x14xf16, NHWC>
// BUILT: cudnn.norm_forward{{.*}} -> y(!cudnn.tensor_desc<8x32x14x14xf16, NHWC>) saved_mean(!cudnn.tensor_desc<1x32x1x1xf32, NHWC>)
// BUILT-SAME: saved_inv_variance(!cudnn.tensor_desc<1x32x1x1xf32, NHWC>)
// BUILT: cudnn.concat({{.*}} -> !cudnn.tensor_desc<2x32x1x1xf32, NHWC>
// BUILT: cudnn.matmul({{.*}} -> !cudnn.tensor_desc<2x32x1x1xf32, NCHW>

!x = !cudnn.tensor_desc<8x64x56x56xf16, NHWC>
!slice = !cudnn.tensor_desc<8x64x56x56xf16, stride = [401408, 1, 7168, 128]>
!c = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
!q = !cudnn.tensor_desc<2x8x128x64xbf16>
!kv = !cudnn.tensor_desc<2x2x256x64xbf16>
!v = !cudnn.tensor_desc<2x2x256x32xbf16>

cudnn.graph @given(%x: !x, %slice: !slice, %w: !cudnn.tensor_desc<32x64x3x3xf16, NHWC>, %g: !cudnn.tensor_desc<2x4x8x5x6xf32>,
                   %gw: !cudnn.tensor_desc<4x6x8x3x3xf32>, %c: !c, %q: !q, %flag: !cudnn.tensor_desc<1x1x1x1xi32>, %scale: !cudnn.tensor_desc<2x8x128x2xf8E8M0FNU>, %k: !kv, %kt: !cudnn.tensor_desc<2x2x64x256xbf16>, %v: !v, %i8: !cudnn.tensor_desc<8x16x4x4xi8, vector_count = 4, vectorized_dimension = 1>,
                   %i8w: !cudnn.tensor_desc<64x16x3x3xi8, vector_count = 4, vectorized_dimension = 1>) -> !x {
  // CHECK: {{^}}cudnn.convolution{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x32x28x28xf16, NHWC>
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !x, !cudnn.tensor_desc<32x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x32x28x28xf32, NCHW, alignment = 4>
  // Some channels of a larger tensor are channels-last as well.
  // CHECK-NEXT: {{^}}cudnn.convolution{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x32x56x56xf16, NHWC>
  %1 = cudnn.convolution(%slice, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !slice, !cudnn.tensor_desc<32x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x32x56x56xf32, NCHW>
  // Groups as a dim. The elements of vectors count individually.
  // CHECK-NEXT: {{^}}cudnn.convolution{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<2x4x6x3x4xf32, NCDHW>
  %2 = cudnn.convolution(%g, %gw) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !cudnn.tensor_desc<2x4x8x5x6xf32>, !cudnn.tensor_desc<4x6x8x3x3xf32> -> !cudnn.tensor_desc<2x4x6x3x4xf32>
  // CHECK-NEXT: {{^}}cudnn.convolution{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x4x4xi8, NCHW>
  %3 = cudnn.convolution(%i8, %i8w) type = i32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x16x4x4xi8, vector_count = 4, vectorized_dimension = 1>, !cudnn.tensor_desc<64x16x3x3xi8, vector_count = 4, vectorized_dimension = 1>
      -> !cudnn.tensor_desc<8x16x4x4xi8, vector_count = 4, vectorized_dimension = 1>
  // The operand with the full shape determines the layout. Comparisons give i1, indices the compute
  // type.
  // CHECK-NEXT: {{^}}cudnn.pointwise{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x56x56xf16, NHWC>
  %4 = cudnn.pointwise add(%c, %x) type = f32 : !c, !x -> !cudnn.tensor_desc<8x64x56x56xf32, NHWC>
  // CHECK-NEXT: {{^}}cudnn.pointwise{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x56x56xi1, NHWC>
  %5 = cudnn.pointwise cmp_gt(%x, %c) type = f32 : !x, !c -> !cudnn.tensor_desc<8x64x56x56xi1, NHWC>
  // CHECK-NEXT: {{^}}cudnn.pointwise{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x56x56xi32, NHWC>
  %6 = cudnn.pointwise gen_index(%x) type = i32 axis = 1 : !x -> !cudnn.tensor_desc<8x64x56x56xi32, NHWC>
  // CHECK-NEXT: {{^}}cudnn.pointwise_relu{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x56x56xf16, NHWC>
  %7 = cudnn.pointwise_relu(%x) type = f32 : !x -> !x
  // CHECK-NEXT: {{^}}cudnn.matmul{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<2x8x128x256xbf16, NCHW>
  %8 = cudnn.matmul(%q, %kt) type = f32 : !q, !cudnn.tensor_desc<2x2x64x256xbf16> -> !cudnn.tensor_desc<2x8x128x256xf32>
  // The index of a maximum is optional.
  // CHECK-NEXT: {{^}}cudnn.resample{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x28x28xf16, NHWC>
  %9, %i = cudnn.resample maxpool(%x) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]
      padding_mode = neg_inf_pad : !x -> !cudnn.tensor_desc<8x64x28x28xf16, NHWC>, !cudnn.tensor_desc<8x64x28x28xi8, NHWC>
  // CHECK-NEXT: {{^}}cudnn.resample{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x112x112xf16, NHWC>
  %10 = cudnn.resample bilinear(%x) type = f32 window = [4, 4] stride = [1, 1] pre_padding = [1, 1] post_padding = [2, 2] denominator = 2
      padding_mode = edge_val_pad : !x -> !cudnn.tensor_desc<8x64x112x112xf16, NHWC>
  // CHECK-NEXT: {{^}}cudnn.concat{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x128x56x56xf16, NHWC>
  %11 = cudnn.concat(%x, %x) axis = 1 : !x, !x -> !cudnn.tensor_desc<8x128x56x56xf16, NHWC>
  // CHECK-NEXT: {{^}}cudnn.contract_band_matrix{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<2x8x128x5xbf16, NCHW>
  %12 = cudnn.contract_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 3 pad_value = 0.0 x(%q : !q)
      -> y(!cudnn.tensor_desc<2x8x128x5xbf16>)
  // CHECK-NEXT: {{^}}cudnn.signal{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x56x56xf16, NHWC>
  %14 = cudnn.signal set value = 1 flag(%flag : !cudnn.tensor_desc<1x1x1x1xi32>) x(%x : !x) -> y(!x)
  // CHECK-NEXT: {{^}}cudnn.block_scale_dequantize{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<2x8x128x64xf32, NCHW>
  %15 = cudnn.block_scale_dequantize type = f32 block_size = [32] x(%q : !q) scale(%scale : !cudnn.tensor_desc<2x8x128x2xf8E8M0FNU>)
      -> y(!q)
  // CHECK-NEXT: {{^}}cudnn.sdpa_forward{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<2x8x128x32xbf16, NCHW>
  %13, %stats = cudnn.sdpa_forward q(%q : !q) k(%k : !kv) v(%v : !v) -> o(!cudnn.tensor_desc<2x8x128x32xbf16>)
      stats(!cudnn.tensor_desc<2x8x128x1xf32>)
  cudnn.return %x : !x
}

!t = !cudnn.tensor_desc<1x512x128xbf16>
!e = !cudnn.tensor_desc<8x128x256xbf16>
!i = !cudnn.tensor_desc<8x1x1xi32>
!n = !cudnn.tensor_desc<4x128x1024xf16>
!p = !cudnn.tensor_desc<1x1x1024xf32>
!s = !cudnn.tensor_desc<4x128x1xf32>

cudnn.graph @norms(%x: !x, %c: !c, %n: !n, %p: !p, %s: !s, %one: !cudnn.tensor_desc<1x1x1x1xf32>, %n1: !cudnn.tensor_desc<1x1x1xf32>,
                   %count: !cudnn.tensor_desc<1x1x1x1xi64>, %t: !t, %e: !e, %i: !i, %rows: !cudnn.tensor_desc<1x900x1xi32>) -> !x {
  // CHECK-NEXT: {{^}}cudnn.moe_grouped_matmul{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x512x256xbf16>
  %0 = cudnn.moe_grouped_matmul none type = f32 token(%t : !t) weight(%e : !e) first_token_offset(%i : !i) -> y(!cudnn.tensor_desc<1x512x256xf32>)
  // CHECK-NEXT: {{^}}cudnn.moe_grouped_matmul{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x900x256xbf16>
  %1 = cudnn.moe_grouped_matmul gather type = f32 token(%t : !t) weight(%e : !e) first_token_offset(%i : !i)
      token_index(%rows : !cudnn.tensor_desc<1x900x1xi32>) -> y(!cudnn.tensor_desc<1x900x256xbf16>)
  // CHECK-NEXT: {{^}}cudnn.norm_forward{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<4x128x1024xf16>
  %2 = cudnn.norm_forward layer_norm inference x(%n : !n) epsilon(%n1 : !cudnn.tensor_desc<1x1x1xf32>) -> y(!n)
  // CHECK-NEXT: {{^}}cudnn.norm_forward{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<4x128x1024xf16>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<4x128x1xf32>
  %3, %inv = cudnn.norm_forward rms_norm training x(%n : !n) scale(%p : !p) epsilon(%n1 : !cudnn.tensor_desc<1x1x1xf32>)
      -> y(!n) saved_inv_variance(!s)
  // CHECK-NEXT: {{^}}cudnn.norm_forward{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x56x56xf16, NHWC>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x1x1xf32, NHWC>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x1x1xf32, NHWC>
  %4, %m4, %v4 = cudnn.norm_forward instance_norm training x(%x : !x) scale(%c : !c) epsilon(%one : !cudnn.tensor_desc<1x1x1x1xf32>)
      -> y(!x) saved_mean(!cudnn.tensor_desc<8x64x1x1xf32, NHWC>) saved_inv_variance(!cudnn.tensor_desc<8x64x1x1xf32, NHWC>)
  // CHECK-NEXT: {{^}}cudnn.norm_forward{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x56x56xf16, NHWC>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  %5, %m5, %v5, %rm5, %rv5 = cudnn.norm_forward batch_norm training x(%x : !x) scale(%c : !c) bias(%c : !c)
      epsilon(%one : !cudnn.tensor_desc<1x1x1x1xf32>) exp_avg_factor(%one : !cudnn.tensor_desc<1x1x1x1xf32>) input_running_mean(%c : !c)
      input_running_var(%c : !c) -> y(!x) saved_mean(!c) saved_inv_variance(!c) output_running_mean(!c) output_running_var(!c)
  // CHECK-NEXT: {{^}}cudnn.norm_backward{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<4x128x1024xf16>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x1x1024xf32>
  %6, %ds6, %db6 = cudnn.norm_backward rms_norm dy(%n : !n) x(%n : !n) inv_variance(%s : !s) scale(%p : !p) -> dx(!n) dscale(!p) dbias(!p)
  // CHECK-NEXT: {{^}}cudnn.gen_stats{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  %7, %sq = cudnn.gen_stats sum_sqsum(%x) type = f32 : !x -> !c, !c
  // CHECK-NEXT: {{^}}cudnn.bn_finalize{{$}}
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  // CHECK-NEXT: {{^}}cudnn.bn_bwd_weights
  %8, %b8, %m8, %s8 = cudnn.bn_finalize training type = f32 y_sum(%c : !c) y_sq_sum(%c : !c) scale(%c : !c) bias(%c : !c)
      epsilon(%one : !cudnn.tensor_desc<1x1x1x1xf32>) exp_average_factor(%one : !cudnn.tensor_desc<1x1x1x1xf32>)
      accum_count(%count : !cudnn.tensor_desc<1x1x1x1xi64>) -> eq_scale(!c) eq_bias(!c) saved_mean(!c) saved_inv_std(!c)
  // CHECK-COUNT-5: {{^}}  !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  %9:5 = cudnn.bn_bwd_weights type = f32 x(%x : !x) dy(%x : !x) mean(%c : !c) inv_std(%c : !c) scale(%c : !c) -> dscale(!c) dbias(!c)
      eq_dy_scale(!c) eq_x_scale(!c) eq_bias(!c)
  cudnn.return %2 : !n
}

// A type of another shape is not compatible.
cudnn.graph @other(%x: !x) -> !c {
  // CHECK-NEXT: {{^}}cudnn.pointwise: other shapes
  // CHECK-NEXT: {{^}}  !cudnn.tensor_desc<8x64x56x56xf16, NHWC>
  %0 = cudnn.pointwise exp(%x) type = f32 : !x -> !c
  cudnn.return %0 : !c
}

!small = !cudnn.tensor_desc<8x64x2x2xf16, NHWC>
!flat = !cudnn.tensor_desc<64xf16>

// Operands that determine no result. Only the result of a gradient has its shape.
cudnn.graph @nothing(%x: !x, %w: !cudnn.tensor_desc<32x64x3x3xf16, NHWC>, %small: !small, %flat: !flat, %n: !n, %p: !p, %one: !cudnn.tensor_desc<1x1x1xf32>, %c: !c, %i: !i) -> !x {
  // CHECK: error: 'cudnn.convolution' op expects an explicit result type with mode dgrad, where several result shapes are possible
  // CHECK: {{^}}cudnn.convolution: nothing inferred
  %0 = cudnn.convolution(%x, %w) mode = dgrad type = f32 spatial_stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !x, !cudnn.tensor_desc<32x64x3x3xf16, NHWC> -> !x
  // CHECK: error: 'cudnn.convolution' op expects operands and attributes that determine the result shape
  // CHECK: {{^}}cudnn.convolution: nothing inferred
  %1 = cudnn.convolution(%small, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !small, !cudnn.tensor_desc<32x64x3x3xf16, NHWC> -> !x
  // CHECK: {{^}}cudnn.convolution: nothing inferred
  %2 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 0] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !x, !cudnn.tensor_desc<32x64x3x3xf16, NHWC> -> !x
  // CHECK: {{^}}cudnn.convolution: nothing inferred
  %3 = cudnn.convolution(%x, %flat) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !x, !flat -> !x
  // CHECK: {{^}}cudnn.convolution: nothing inferred
  %4 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0] post_padding = [0, 0] dilation = [1, 1]
      : !x, !cudnn.tensor_desc<32x64x3x3xf16, NHWC> -> !x
  // CHECK: error: 'cudnn.matmul' op expects operands
  // CHECK: {{^}}cudnn.matmul: nothing inferred
  %5 = cudnn.matmul(%x, %flat) type = f32 : !x, !flat -> !x
  // CHECK: {{^}}cudnn.matmul: nothing inferred
  %6 = cudnn.matmul(%n, %i) type = f32 : !n, !cudnn.tensor_desc<8x1x1xi32> -> !x
  // CHECK: error: 'cudnn.resample' op expects operands
  // CHECK: {{^}}cudnn.resample: nothing inferred
  %7 = cudnn.resample maxpool(%small) type = f32 window = [3, 3] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0]
      padding_mode = neg_inf_pad : !small -> !x
  // CHECK: {{^}}cudnn.resample: nothing inferred
  %8 = cudnn.resample maxpool(%flat) type = f32 window = [3, 3] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0]
      padding_mode = neg_inf_pad : !flat -> !x
  // CHECK: error: 'cudnn.moe_grouped_matmul' op expects operands
  // CHECK: {{^}}cudnn.moe_grouped_matmul: nothing inferred
  %9 = cudnn.moe_grouped_matmul gather type = f32 token(%n : !n) weight(%n : !n) first_token_offset(%i : !i) -> y(!n)
  // CHECK: error: 'cudnn.sdpa_forward' op expects operands
  // CHECK: {{^}}cudnn.sdpa_forward: nothing inferred
  %10 = cudnn.sdpa_forward q(%n : !n) k(%n : !n) v(%n : !n) -> o(!n)
  // CHECK: error: 'cudnn.pointwise' op expects operands
  // CHECK: {{^}}cudnn.pointwise: nothing inferred
  %11 = cudnn.pointwise add(%x, %small) type = f32 : !x, !small -> !x
  // CHECK: {{^}}cudnn.pointwise: nothing inferred
  %12 = cudnn.pointwise add(%x, %n) type = f32 : !x, !n -> !x
  // CHECK: error: 'cudnn.concat' op expects operands
  // CHECK: {{^}}cudnn.concat: nothing inferred
  %13 = cudnn.concat(%x, %small) axis = 1 : !x, !small -> !x
  // CHECK: {{^}}cudnn.concat: nothing inferred
  %14 = cudnn.concat(%x, %x) axis = 4 : !x, !x -> !x
  // CHECK: error: 'cudnn.contract_band_matrix' op expects operands
  // CHECK: {{^}}cudnn.contract_band_matrix: nothing inferred
  %15 = cudnn.contract_band_matrix lower_bandwidth = 4 upper_bandwidth = 0 axis = 4 pad_value = 0.0 x(%x : !x) -> y(!x)
  // Only the statistics have the number of groups and, without a scale, the normalized dims.
  // CHECK: error: 'cudnn.norm_forward' op expects operands
  // CHECK: {{^}}cudnn.norm_forward: nothing inferred
  %16, %m16, %v16 = cudnn.norm_forward group_norm training x(%x : !x) scale(%c : !c) epsilon(%one : !cudnn.tensor_desc<1x1x1xf32>)
      -> y(!x) saved_mean(!c) saved_inv_variance(!c)
  // CHECK: {{^}}cudnn.norm_forward: nothing inferred
  %17, %v17 = cudnn.norm_forward rms_norm training x(%n : !n) epsilon(%one : !cudnn.tensor_desc<1x1x1xf32>) -> y(!n) saved_inv_variance(!s)
  // CHECK: error: 'cudnn.gen_stats' op expects operands
  // CHECK: {{^}}cudnn.gen_stats: nothing inferred
  %18, %sq18 = cudnn.gen_stats sum_sqsum(%flat) type = f32 : !flat -> !c, !c
  cudnn.return %x : !x
}
