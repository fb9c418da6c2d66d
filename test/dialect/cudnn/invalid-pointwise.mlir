// Every error of cudnn.pointwise and cudnn.pointwise_relu. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

cudnn.graph @pointwise_c1_unary(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 1 operands with mode relu_fwd, but got 2}}
  %0 = cudnn.pointwise relu_fwd(%a0, %a1) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c1_binary(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 2 operands with mode add, but got 1}}
  %0 = cudnn.pointwise add(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c1_ternary(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 3 operands with mode binary_select, but got 2}}
  %0 = cudnn.pointwise binary_select(%a0, %a1) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c1_backward(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 2 operands with mode gelu_bwd, but got 1}}
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

cudnn.graph @pointwise_c3_nan_propagation(%a0: !cudnn.tensor_desc<1x8x4x4xf32>, %a1: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'nan_propagation' with mode add}}
  %0 = cudnn.pointwise add(%a0, %a1) type = f32 nan_propagation = propagate_nan : !cudnn.tensor_desc<1x8x4x4xf32>, !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c6(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'alpha2' with mode abs, which has one operand}}
  %0 = cudnn.pointwise abs(%a0) type = f32 alpha2 = 2.0 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @pointwise_c2_vectors(%a0: !cudnn.tensor_desc<1x2x4x4xi8, vector_count = 4, vectorized_dimension = 1>) -> !cudnn.tensor_desc<1x2x4x4xi8> {
  // expected-error @+1 {{expects result of shape [1, 8, 4, 4], but got [1, 2, 4, 4]}}
  %0 = cudnn.pointwise identity(%a0) type = f32 : !cudnn.tensor_desc<1x2x4x4xi8, vector_count = 4, vectorized_dimension = 1> -> !cudnn.tensor_desc<1x2x4x4xi8>
  cudnn.return %0 : !cudnn.tensor_desc<1x2x4x4xi8>
}
