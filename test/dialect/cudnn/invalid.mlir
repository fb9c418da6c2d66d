// Every message of the cudnn verifiers and of the type's parser; the label is the constraint's in the op's description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error @+1 {{expects a tensor descriptor of 1 to 8 dims, but got 0}}
func.func private @tensor_desc_c1_none(!cudnn.tensor_desc<f32>)

// -----

// expected-error @+1 {{expects a tensor descriptor of 1 to 8 dims, but got 9}}
func.func private @tensor_desc_c1_nine(!cudnn.tensor_desc<1x1x1x1x1x1x1x1x1xf32>)

// -----

// expected-error @+1 {{expects static dims of at least 1 in a tensor descriptor, but got ?}}
func.func private @tensor_desc_c1_dynamic(!cudnn.tensor_desc<1x?x4xf32>)

// -----

// expected-error @+1 {{expects static dims of at least 1 in a tensor descriptor, but got 0}}
func.func private @tensor_desc_c1_zero(!cudnn.tensor_desc<1x0x4xf32>)

// -----

// expected-error @+1 {{expects an element type that cuDNN has, but got 'i16'}}
func.func private @tensor_desc_c2(!cudnn.tensor_desc<1x4xi16>)

// -----

// expected-error @+1 {{expects 2 strides, but got 1}}
func.func private @tensor_desc_c3_count(!cudnn.tensor_desc<1x4xf32, stride = [4]>)

// -----

// expected-error @+1 {{expects strides of at least 1, but got 0}}
func.func private @tensor_desc_c3_zero(!cudnn.tensor_desc<1x4xf32, stride = [4, 0]>)

// -----

// expected-error @+1 {{expects an alignment that is a power of two, but got 12}}
func.func private @tensor_desc_c4(!cudnn.tensor_desc<1x4xf32, alignment = 12>)

// -----

// expected-error @+1 {{expects one layout or 'stride'}}
func.func private @layout_twice(!cudnn.tensor_desc<1x4x2x2xf32, NHWC, stride = []>)

// -----

// expected-error @+1 {{expects one alignment}}
func.func private @alignment_twice(!cudnn.tensor_desc<1x4xf32, alignment = 1, alignment = 2>)

// -----

// expected-error @+1 {{expects 'alignment', 'stride', NHWC or NCHW, but got 'NDHWC'}}
func.func private @layout_unknown(!cudnn.tensor_desc<1x4x2x2xf32, NDHWC>)

// -----

// expected-error @+1 {{expects 'alignment', 'stride', but got 'NHWC'}}
func.func private @layout_of_matrix(!cudnn.tensor_desc<4x2xf32, NHWC>)

// -----

cudnn.graph @convolution_c1_equal(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3xf16>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects tensors of equal rank, but got 3 and 4}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x8x3xf16> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c1_range(%a0: !cudnn.tensor_desc<8x8xf16>, %a1: !cudnn.tensor_desc<8x8xf16>) -> !cudnn.tensor_desc<8x8xf16> {
  // expected-error @+1 {{expects tensors of rank 3 to 5, but got 2}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x8xf16>, !cudnn.tensor_desc<8x8xf16> -> !cudnn.tensor_desc<8x8xf16>
  cudnn.return %0 : !cudnn.tensor_desc<8x8xf16>
}

// -----

cudnn.graph @convolution_c2_stride_count(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<8x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC> {
  // expected-error @+1 {{expects 2 numbers in 'spatial_stride', but got 1}}
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
  // expected-error @+1 {{expects filter channels that divide 8 input channels, but got 3}}
  %0 = cudnn.convolution(%a0, %a1) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, !cudnn.tensor_desc<8x3x3x3xf16> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
}

// -----

cudnn.graph @convolution_c3_groups(%a0: !cudnn.tensor_desc<1x8x4x4xf16, NHWC>, %a1: !cudnn.tensor_desc<6x2x3x3xf16>) -> !cudnn.tensor_desc<1x6x4x4xf16> {
  // expected-error @+1 {{expects 4 groups (8 input channels, 2 a filter) that divide the output channels, but got 6}}
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
  // expected-error @+1 {{expects compute type f64, f32, f16, bf16 or i32, but got 'i8'}}
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

cudnn.graph @matmul_c1_rank(%a0: !cudnn.tensor_desc<8x4xf16>, %a1: !cudnn.tensor_desc<4x2xf16>) -> !cudnn.tensor_desc<8x2xf16> {
  // expected-error @+1 {{expects tensors of rank 3 to 8, but got 2}}
  %0 = cudnn.matmul(%a0, %a1) type = f32 : !cudnn.tensor_desc<8x4xf16>, !cudnn.tensor_desc<4x2xf16> -> !cudnn.tensor_desc<8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<8x2xf16>
}

// -----

cudnn.graph @matmul_c1_equal(%a0: !cudnn.tensor_desc<1x8x4xf16>, %a1: !cudnn.tensor_desc<4x2xf16>) -> !cudnn.tensor_desc<1x8x2xf16> {
  // expected-error @+1 {{expects tensors of equal rank, but got 2 and 3}}
  %0 = cudnn.matmul(%a0, %a1) type = f32 : !cudnn.tensor_desc<1x8x4xf16>, !cudnn.tensor_desc<4x2xf16> -> !cudnn.tensor_desc<1x8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2xf16>
}

// -----

cudnn.graph @matmul_c2(%a0: !cudnn.tensor_desc<1x8x4xf16>, %a1: !cudnn.tensor_desc<1x5x2xf16>) -> !cudnn.tensor_desc<1x8x2xf16> {
  // expected-error @+1 {{expects the last dim of a to be the second last of b, but got [1, 8, 4] and [1, 5, 2]}}
  %0 = cudnn.matmul(%a0, %a1) type = f32 : !cudnn.tensor_desc<1x8x4xf16>, !cudnn.tensor_desc<1x5x2xf16> -> !cudnn.tensor_desc<1x8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2xf16>
}

// -----

cudnn.graph @matmul_c3_batch(%a0: !cudnn.tensor_desc<2x8x4xf16>, %a1: !cudnn.tensor_desc<3x4x2xf16>) -> !cudnn.tensor_desc<2x8x2xf16> {
  // expected-error @+1 {{expects batch dims that are equal or 1, but got [2, 8, 4] and [3, 4, 2]}}
  %0 = cudnn.matmul(%a0, %a1) type = f32 : !cudnn.tensor_desc<2x8x4xf16>, !cudnn.tensor_desc<3x4x2xf16> -> !cudnn.tensor_desc<2x8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<2x8x2xf16>
}

// -----

cudnn.graph @matmul_c3(%a0: !cudnn.tensor_desc<2x8x4xf16>, %a1: !cudnn.tensor_desc<1x4x2xf16>) -> !cudnn.tensor_desc<1x8x2xf16> {
  // expected-error @+1 {{expects result of shape [2, 8, 2], but got [1, 8, 2]}}
  %0 = cudnn.matmul(%a0, %a1) type = f32 : !cudnn.tensor_desc<2x8x4xf16>, !cudnn.tensor_desc<1x4x2xf16> -> !cudnn.tensor_desc<1x8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2xf16>
}

// -----

cudnn.graph @matmul_c4(%a0: !cudnn.tensor_desc<1x8x4xf16>, %a1: !cudnn.tensor_desc<1x4x2xf16>) -> !cudnn.tensor_desc<1x8x2xf16> {
  // expected-error @+1 {{expects compute type f64, f32, f16, bf16 or i32, but got 'i64'}}
  %0 = cudnn.matmul(%a0, %a1) type = i64 : !cudnn.tensor_desc<1x8x4xf16>, !cudnn.tensor_desc<1x4x2xf16> -> !cudnn.tensor_desc<1x8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2xf16>
}

// -----

cudnn.graph @pointwise_c1_unary(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 1 operands of relu_fwd, but got 2}}
  %0 = cudnn.pointwise relu_fwd(%a0, %a1) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c1_binary(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 2 operands of add, but got 1}}
  %0 = cudnn.pointwise add(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c1_ternary(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 3 operands of binary_select, but got 2}}
  %0 = cudnn.pointwise binary_select(%a0, %a1) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c1_backward(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 2 operands of gelu_bwd, but got 1}}
  %0 = cudnn.pointwise gelu_bwd(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c2_rank(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<8xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects tensors of equal rank, but got 1 and 4}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<8xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c2_broadcast(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x3x1x1xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects dims that are equal or 1, but got shapes [1, 8, 4, 4] and [1, 3, 1, 1]}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x3x1x1xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c2(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<2x1x1x1xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects result of shape [2, 8, 4, 4], but got [1, 8, 4, 4]}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<2x1x1x1xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c3_lower_clip(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'lower_clip' with mode add}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 lower_clip = 1.0 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c3_upper_clip(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'upper_clip' with mode add}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 upper_clip = 1.0 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c3_lower_clip_slope(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'lower_clip_slope' with mode add}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 lower_clip_slope = 1.0 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c3_elu_alpha(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'elu_alpha' with mode add}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 elu_alpha = 1.0 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c3_softplus_beta(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'softplus_beta' with mode add}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 softplus_beta = 1.0 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c3_swish_beta(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'swish_beta' with mode add}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 swish_beta = 1.0 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c3_axis(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'axis' with mode add}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 axis = 1 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c3_no_axis(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'axis' in 0 to 3 with mode gen_index}}
  %0 = cudnn.pointwise gen_index(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c3_axis_range(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'axis' in 0 to 3 with mode gen_index}}
  %0 = cudnn.pointwise gen_index(%a0) type = f32 axis = 4 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c4(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'lower_clip' at most 'upper_clip', but got 2.000000e+00 and 1.000000e+00}}
  %0 = cudnn.pointwise relu_fwd(%a0) type = f32 lower_clip = 2.0 upper_clip = 1.0 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c4_default(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'lower_clip' at most 'upper_clip', but got 0.000000e+00 and -1.000000e+00}}
  %0 = cudnn.pointwise relu_fwd(%a0) type = f32 upper_clip = -1.0 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c5(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects compute type f64, f32, f16, bf16, i32 or i1, but got 'i8'}}
  %0 = cudnn.pointwise add(%a0, %a1) type = i8 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_relu_c1(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x5xf32> {
  // expected-error @+1 {{expects result of shape [1, 8, 4, 4], but got [1, 8, 4, 5]}}
  %0 = cudnn.pointwise_relu(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x5xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf32>
}

// -----

cudnn.graph @pointwise_relu_c2(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects compute type f64, f32, f16 or bf16, but got 'i32'}}
  %0 = cudnn.pointwise_relu(%a0) type = i32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @reduction_c1(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8xf32> {
  // expected-error @+1 {{expects tensors of equal rank, but got 4 and 2}}
  %0 = cudnn.reduction add(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8xf32>
}

// -----

cudnn.graph @reduction_c2_dim(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x1xf32> {
  // expected-error @+1 {{expects result dims that are the operand's or 1, but got [1, 8, 4, 4] and [1, 8, 2, 1]}}
  %0 = cudnn.reduction add(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x1xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x1xf32>
}

// -----

cudnn.graph @reduction_c2_none(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects a reduced dim, but got [1, 8, 4, 4] twice}}
  %0 = cudnn.reduction add(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @reduction_c3(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x1x1xf32> {
  // expected-error @+1 {{expects compute type f64, f32, f16, bf16 or i32, but got 'i64'}}
  %0 = cudnn.reduction add(%a0) type = i64 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x1x1xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x1x1xf32>
}

// -----

cudnn.graph @resample_c1(%a0: !cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf32> {
  // expected-error @+1 {{expects tensors of rank 3 to 5, but got 2}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<8x4xf32>
}

// -----

cudnn.graph @resample_c2_window(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects 2 numbers in 'window', but got 1}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c2_stride(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects numbers of at least 1 in 'stride', but got [2, 0]}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 0] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c2_pre(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects numbers of at least 0 in 'pre_padding', but got [0, -1]}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, -1] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c2_post(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects 2 numbers in 'post_padding', but got 1}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c3_fit(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects a window that fits into the padded input, but got input [1, 8, 4, 4] and window [5, 5]}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [5, 5] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c3(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x3xf32> {
  // expected-error @+1 {{expects result of shape [1, 8, 2, 2], but got [1, 8, 2, 3]}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x3xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x3xf32>
}

// -----

cudnn.graph @resample_c3_bilinear(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x4x8x8xf32> {
  // expected-error @+1 {{expects a result with the operand's first two dims, but got [1, 8, 4, 4] and [1, 4, 8, 8]}}
  %0 = cudnn.resample bilinear(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x4x8x8xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x4x8x8xf32>
}

// -----

cudnn.graph @resample_c4_max(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects neg_inf_pad with mode maxpool, but got zero_pad}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c4_avg(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects zero_pad or edge_val_pad with mode avgpool_include_padding, but got neg_inf_pad}}
  %0 = cudnn.resample avgpool_include_padding(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c5(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects compute type f64, f32, f16, bf16 or i32, but got 'i64'}}
  %0 = cudnn.resample maxpool(%a0) type = i64 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

// expected-error @+1 {{expects tensor descriptors as arguments, but argument #0 is 'f32'}}
cudnn.graph @graph_c1_argument(%x: f32) -> !cudnn.tensor_desc<8x4xf32> {
  cudnn.return
}

// -----

// expected-error @+1 {{expects tensor descriptors as results, but result #0 is 'f32'}}
cudnn.graph @graph_c1_result(%x: !cudnn.tensor_desc<8x4xf32>) -> f32 {
  cudnn.return
}

// -----

// expected-error @+1 {{expects at least one result, but got none}}
cudnn.graph @graph_c1_none(%x: !cudnn.tensor_desc<8x4xf32>) {
  cudnn.return
}

// -----

// expected-error @+1 {{expects at least one operation in its body}}
cudnn.graph @graph_c2_empty(%x: !cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf32> {
  cudnn.return %x : !cudnn.tensor_desc<8x4xf32>
}

// -----

cudnn.graph @graph_c2_foreign(%x: !cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf32> {
  // expected-error @+1 {{is not an operation of a graph}}
  %c = arith.constant 1.0 : f32
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<8x4xf32>
}

// -----

// expected-error @+1 {{expects 'cudnn.return' at the end of its body}}
cudnn.graph @graph_c2_end(%x: !cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  "test.end"() : () -> ()
}

// -----

// expected-error @+1 {{expects results that are computed in the graph, but result #1 is an argument}}
cudnn.graph @graph_c3_argument(%x: !cudnn.tensor_desc<8x4xf32>) -> (!cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  cudnn.return %0, %x : !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>
}

// -----

// expected-error @+1 {{expects every value as a result once, but result #1 is a result already}}
cudnn.graph @graph_c3_twice(%x: !cudnn.tensor_desc<8x4xf32>) -> (!cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  cudnn.return %0, %0 : !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>
}

// -----

cudnn.graph @return_c1_count(%x: !cudnn.tensor_desc<8x4xf32>) -> (!cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  // expected-error @+1 {{expects 2 operands, but got 1}}
  cudnn.return %0 : !cudnn.tensor_desc<8x4xf32>
}

// -----

cudnn.graph @return_c1_type(%x: !cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf16> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  // expected-error @+1 {{expects operand #0 of type '!cudnn.tensor_desc<8x4xf16>', but got '!cudnn.tensor_desc<8x4xf32>'}}
  cudnn.return %0 : !cudnn.tensor_desc<8x4xf32>
}

// -----

func.func @outside_a_graph(%x: !cudnn.tensor_desc<8x4xf32>) {
  // expected-error @+1 {{expects parent op to be one of 'cudnn.graph, cudnn.build_and_exec_graph'}}
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c1(%a: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects the name of a cudnn.graph, but got @h}}
  cudnn.execute @h ins(%a : memref<1x4x5x8xf16>) outs(%a : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c2_inputs(%a: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects 1 inputs for @g, but got 2}}
  cudnn.execute @g ins(%a, %a : memref<1x4x5x8xf16>, memref<1x4x5x8xf16>) outs(%a : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c2_outputs(%a: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects 1 outputs for @g, but got 2}}
  cudnn.execute @g ins(%a : memref<1x4x5x8xf16>) outs(%a, %a : memref<1x4x5x8xf16>, memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c3(%a: memref<1x4x5x8xf32>, %b: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects input #0 of element type 'f16', but got 'f32'}}
  cudnn.execute @g ins(%a : memref<1x4x5x8xf32>) outs(%b : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c4_logical(%a: memref<1x8x4x5xf16>, %b: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects input #0 of shape [1, 4, 5, 8] for '!cudnn.tensor_desc<1x8x4x5xf16, NHWC>', but got [1, 8, 4, 5]}}
  cudnn.execute @g ins(%a : memref<1x8x4x5xf16>) outs(%b : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c4_output(%a: memref<1x4x5x8xf16>, %b: memref<1x5x4x8xf16>) {
  // expected-error @+1 {{expects output #0 of shape [1, 4, 5, 8] for '!cudnn.tensor_desc<1x8x4x5xf16, NHWC>', but got [1, 5, 4, 8]}}
  cudnn.execute @g ins(%a : memref<1x4x5x8xf16>) outs(%b : memref<1x5x4x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<8x4xf32, stride = [8, 1]>) -> !cudnn.tensor_desc<8x4xf32, stride = [8, 1]> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32, stride = [8, 1]> -> !cudnn.tensor_desc<8x4xf32, stride = [8, 1]>
  cudnn.return %0 : !cudnn.tensor_desc<8x4xf32, stride = [8, 1]>
}

func.func @execute_c4_packed(%a: memref<8x4xf32>) {
  // expected-error @+1 {{expects a packed descriptor for input #0, but got '!cudnn.tensor_desc<8x4xf32, stride = [8, 1]>'}}
  cudnn.execute @g ins(%a : memref<8x4xf32>) outs(%a : memref<8x4xf32>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c5_both(%a: tensor<1x4x5x8xf16>, %b: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects tensors or memrefs alone, but got both}}
  cudnn.execute @g ins(%a : tensor<1x4x5x8xf16>) outs(%b : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_c5_layout(%a: memref<1x4x5x8xf16, strided<[320, 80, 16, 1]>>, %b: memref<1x4x5x8xf16>) {
  // expected-error @+1 {{expects memrefs of identity layout, but got 'memref<1x4x5x8xf16, strided<[320, 80, 16, 1]>>'}}
  cudnn.execute @g ins(%a : memref<1x4x5x8xf16, strided<[320, 80, 16, 1]>>) outs(%b : memref<1x4x5x8xf16>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<1x8x4x5xf16, NHWC>) -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x5xf16, NHWC>
}

func.func @execute_dps(%a: tensor<1x4x5x8xf16>) {
  // expected-error @+1 {{expected type of operand #1 ('tensor<1x4x5x8xf16>') to match type of corresponding result ('tensor<1x4x5x8xf32>')}}
  %0 = cudnn.execute @g ins(%a : tensor<1x4x5x8xf16>) outs(%a : tensor<1x4x5x8xf16>) -> tensor<1x4x5x8xf32>
  return
}

// -----

func.func @build_and_exec_graph_c1_inputs(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects 1 descriptors of inputs in its body, but got 2}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>, %z: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%0) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @build_and_exec_graph_c1_outputs(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects 1 descriptors of outputs in its body, but got 2}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    %1 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%0, %1) : !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @build_and_exec_graph_c2(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects output #0 of element type 'f32', but got 'f16'}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%0) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<8x4xf16>
  return
}

// -----

func.func @build_and_exec_graph_c3(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects output #0 of shape [8, 4] for '!cudnn.tensor_desc<8x4xf32>', but got [4, 8]}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%0) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @build_and_exec_graph_c4_empty(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects at least one operation in its body}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    cudnn.build_graph(%x) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @build_and_exec_graph_c4_end(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects 'cudnn.build_graph' at the end of its body}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    "test.end"() : () -> ()
  } : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @build_and_exec_graph_c4_argument(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects results that are computed in the graph, but result #0 is an argument}}
  %y = cudnn.build_and_exec_graph %h %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%x) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @build_and_exec_graph_c1_type(%t: tensor<8x4xf32>) {
  %h = cudnn.get_current_handle !cudnn.handle
  // expected-error @+1 {{expects a tensor descriptor for input #1, but got 'f32'}}
  %y = cudnn.build_and_exec_graph %h %t, %t {
  ^bb0(%x: !cudnn.tensor_desc<8x4xf32>, %z: f32):
    %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
    cudnn.build_graph(%0) : !cudnn.tensor_desc<8x4xf32>
  } : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  return
}
