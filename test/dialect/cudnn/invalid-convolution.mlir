// Every error of cudnn.convolution. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

cudnn.graph @convolution_c1_equal(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3xf16>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects tensors of equal rank, but got 3 and 4}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x3xf16> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c1_range(%a0: !cudnn.tensor_desc<8x8xf16>, %a1: !cudnn.tensor_desc<8x8xf16>) -> !cudnn.tensor_desc<8x8xf16> {
  // expected-error @+1 {{expects tensors of rank 4 to 5, but got 2}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x8xf16>, !cudnn.tensor_desc<8x8xf16> -> !cudnn.tensor_desc<8x8xf16>
  cudnn.return %0 : !cudnn.tensor_desc<8x8xf16>
}

// -----

cudnn.graph @convolution_c2_pre_count(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects 1 numbers in 'pre_padding', but got 2}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c2_stride(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects numbers of at least 1 in 'spatial_stride', but got [1, 0]}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 0] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c2_pre(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects numbers of at least 0 in 'pre_padding', but got [-1, 1]}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [-1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c2_post(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects 2 numbers in 'post_padding', but got 3}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c2_dilation(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects numbers of at least 1 in 'dilation', but got [0, 1]}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [0, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c3_channels(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x3x3x3xf16>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects the filter channels to divide 8 input channels, but got 3}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x3x3x3xf16> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c3_groups(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<6x2x3x3xf16>) -> !cudnn.tensor_desc<1x6x4x4xf16> {
  // expected-error @+1 {{expects 4 groups (8 input channels, 2 per filter) to divide the output channels, but got 6}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<6x2x3x3xf16> -> !cudnn.tensor_desc<1x6x4x4xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x6x4x4xf16>
}

// -----

cudnn.graph @convolution_c4_fit(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x7x7xf16>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects a filter that fits into the padded input, but got input [1, 8, 4, 4] and filter [8, 8, 7, 7]}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x7x7xf16> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c4(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16> {
  // expected-error @+1 {{expects output of shape [1, 8, 4, 4], but got [1, 8, 4, 5]}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16>
}

// -----

cudnn.graph @convolution_c5(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects compute type f64, f32, f16, bf16, i32 or '!cudnn.fast_float_for_fp8', but got 'i8'}}
  %0 = cudnn.convolution(%a0, %a1) type = i8 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c6(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects 'spatial_dim_count' 2 (or 4, the rank), but got 3}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_dim_count = 3 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_dgrad(%a0: !cudnn.tensor_desc<1x8x4x4xf16>, %a1: !cudnn.tensor_desc<8x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x8x5x4xf16> {
  // expected-error @+1 {{expects output of shape [1, 8, 5, 4], but got [1, 8, 4, 4]}}
  %0 = cudnn.convolution(%a0, %a1) mode = dgrad type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16>, !cudnn.tensor_desc<8x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x8x5x4xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x5x4xf16>
}

// -----

cudnn.graph @convolution_c1_spatial_none(%a0: !cudnn.tensor_desc<1x8xf16>, %a1: !cudnn.tensor_desc<8x8xf16>) -> !cudnn.tensor_desc<1x8xf16> {
  // expected-error @+1 {{expects 1 to 3 spatial dims (the length of 'spatial_stride'), but got 0}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [] pre_padding = [] post_padding = [] dilation = [] : !cudnn.tensor_desc<1x8xf16>, !cudnn.tensor_desc<8x8xf16> -> !cudnn.tensor_desc<1x8xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8xf16>
}

// -----

cudnn.graph @convolution_c1_spatial_four(%a0: !cudnn.tensor_desc<1x8x1x1x1x1xf16>, %a1: !cudnn.tensor_desc<8x8x1x1x1x1xf16>) -> !cudnn.tensor_desc<1x8x1x1x1x1xf16> {
  // expected-error @+1 {{expects 1 to 3 spatial dims (the length of 'spatial_stride'), but got 4}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1, 1, 1] pre_padding = [0, 0, 0, 0] post_padding = [0, 0, 0, 0] dilation = [1, 1, 1, 1] : !cudnn.tensor_desc<1x8x1x1x1x1xf16>, !cudnn.tensor_desc<8x8x1x1x1x1xf16> -> !cudnn.tensor_desc<1x8x1x1x1x1xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x1x1x1x1xf16>
}

// -----

cudnn.graph @convolution_c3_group_dim(%a0: !cudnn.tensor_desc<1x4x8x4x4xf16>, %a1: !cudnn.tensor_desc<2x6x8x3x3xf16>) -> !cudnn.tensor_desc<1x4x6x4x4xf16> {
  // expected-error @+1 {{expects input N x G x C x spatial and filter G x K x C x window with equal G and C, but got [1, 4, 8, 4, 4] and [2, 6, 8, 3, 3]}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x4x8x4x4xf16>, !cudnn.tensor_desc<2x6x8x3x3xf16> -> !cudnn.tensor_desc<1x4x6x4x4xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x4x6x4x4xf16>
}

// -----

cudnn.graph @convolution_c3_group_dim_channels(%a0: !cudnn.tensor_desc<1x4x8x4x4xf16>, %a1: !cudnn.tensor_desc<4x6x2x3x3xf16>) -> !cudnn.tensor_desc<1x4x6x4x4xf16> {
  // expected-error @+1 {{expects input N x G x C x spatial and filter G x K x C x window with equal G and C, but got [1, 4, 8, 4, 4] and [4, 6, 2, 3, 3]}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x4x8x4x4xf16>, !cudnn.tensor_desc<4x6x2x3x3xf16> -> !cudnn.tensor_desc<1x4x6x4x4xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x4x6x4x4xf16>
}

// -----

cudnn.graph @convolution_c4_group_dim(%a0: !cudnn.tensor_desc<1x4x8x4x4xf16>, %a1: !cudnn.tensor_desc<4x6x8x3x3xf16>) -> !cudnn.tensor_desc<1x4x8x4x4xf16> {
  // expected-error @+1 {{expects output of shape [1, 4, 6, 4, 4], but got [1, 4, 8, 4, 4]}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x4x8x4x4xf16>, !cudnn.tensor_desc<4x6x8x3x3xf16> -> !cudnn.tensor_desc<1x4x8x4x4xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x4x8x4x4xf16>
}

// -----

cudnn.graph @convolution_c4_vectors(%a0: !cudnn.tensor_desc<1x16x4x4xi8, vector_count = 4, vectorized_dimension = 1>, %a1: !cudnn.tensor_desc<64x16x3x3xi8, vector_count = 4, vectorized_dimension = 1>) -> !cudnn.tensor_desc<1x8x4x4xi8, vector_count = 4, vectorized_dimension = 1> {
  // expected-error @+1 {{expects output of shape [1, 64, 4, 4], but got [1, 32, 4, 4]}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x16x4x4xi8, vector_count = 4, vectorized_dimension = 1>, !cudnn.tensor_desc<64x16x3x3xi8, vector_count = 4, vectorized_dimension = 1> -> !cudnn.tensor_desc<1x8x4x4xi8, vector_count = 4, vectorized_dimension = 1>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xi8, vector_count = 4, vectorized_dimension = 1>
}

// -----

cudnn.graph @convolution_c4_wgrad(%a0: !cudnn.tensor_desc<1x8x4x4xf16>, %a1: !cudnn.tensor_desc<1x8x5x4xf16>) -> !cudnn.tensor_desc<8x8x3x3xf16> {
  // expected-error @+1 {{expects output of shape [1, 8, 4, 4], but got [1, 8, 5, 4]}}
  %0 = cudnn.convolution(%a0, %a1) mode = wgrad type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16>, !cudnn.tensor_desc<1x8x5x4xf16> -> !cudnn.tensor_desc<8x8x3x3xf16>
  cudnn.return %0 : !cudnn.tensor_desc<8x8x3x3xf16>
}
