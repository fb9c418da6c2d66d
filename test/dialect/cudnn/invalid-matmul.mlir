// Every error of cudnn.matmul. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

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
  // expected-error @+1 {{expects the last dim of a to equal the second last of b, but got [1, 8, 4] and [1, 5, 2]}}
  %0 = cudnn.matmul(%a0, %a1) type = f32 : !cudnn.tensor_desc<1x8x4xf16>, !cudnn.tensor_desc<1x5x2xf16> -> !cudnn.tensor_desc<1x8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2xf16>
}

// -----

cudnn.graph @matmul_c3_batch(%a0: !cudnn.tensor_desc<2x8x4xf16>, %a1: !cudnn.tensor_desc<3x4x2xf16>) -> !cudnn.tensor_desc<2x8x2xf16> {
  // expected-error @+1 {{expects batch dims where one divides the other, but got [2, 8, 4] and [3, 4, 2]}}
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
  // expected-error @+1 {{expects compute type f64, f32, f16, bf16, i32 or '!cudnn.fast_float_for_fp8', but got 'i64'}}
  %0 = cudnn.matmul(%a0, %a1) type = i64 : !cudnn.tensor_desc<1x8x4xf16>, !cudnn.tensor_desc<1x4x2xf16> -> !cudnn.tensor_desc<1x8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2xf16>
}

// -----

cudnn.graph @matmul_c5_shape(%a0: !cudnn.tensor_desc<4x8x6xf16>, %a1: !cudnn.tensor_desc<4x6x2xf16>, %a2: !cudnn.tensor_desc<1x1x1xi32>) -> !cudnn.tensor_desc<4x8x2xf16> {
  // expected-error @+1 {{expects m_override of shape [4, 1, 1], but got [1, 1, 1]}}
  %0 = cudnn.matmul(%a0, %a1) type = f32 m_override(%a2 : !cudnn.tensor_desc<1x1x1xi32>) : !cudnn.tensor_desc<4x8x6xf16>, !cudnn.tensor_desc<4x6x2xf16> -> !cudnn.tensor_desc<4x8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<4x8x2xf16>
}

// -----

cudnn.graph @matmul_c5_rank(%a0: !cudnn.tensor_desc<4x8x6xf16>, %a1: !cudnn.tensor_desc<4x6x2xf16>, %a2: !cudnn.tensor_desc<4x1xi32>) -> !cudnn.tensor_desc<4x8x2xf16> {
  // expected-error @+1 {{expects n_override of shape [4, 1, 1], but got [4, 1]}}
  %0 = cudnn.matmul(%a0, %a1) type = f32 n_override(%a2 : !cudnn.tensor_desc<4x1xi32>) : !cudnn.tensor_desc<4x8x6xf16>, !cudnn.tensor_desc<4x6x2xf16> -> !cudnn.tensor_desc<4x8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<4x8x2xf16>
}

// -----

cudnn.graph @matmul_c5_type(%a0: !cudnn.tensor_desc<4x8x6xf16>, %a1: !cudnn.tensor_desc<4x6x2xf16>, %a2: !cudnn.tensor_desc<4x1x1xf32>) -> !cudnn.tensor_desc<4x8x2xf16> {
  // expected-error @+1 {{expects k_override of i32 or i64, but got 'f32'}}
  %0 = cudnn.matmul(%a0, %a1) type = f32 k_override(%a2 : !cudnn.tensor_desc<4x1x1xf32>) : !cudnn.tensor_desc<4x8x6xf16>, !cudnn.tensor_desc<4x6x2xf16> -> !cudnn.tensor_desc<4x8x2xf16>
  cudnn.return %0 : !cudnn.tensor_desc<4x8x2xf16>
}
