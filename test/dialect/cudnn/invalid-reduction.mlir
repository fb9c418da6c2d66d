// Every error of cudnn.reduction. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

cudnn.graph @reduction_c1(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8xf32> {
  // expected-error @+1 {{expects tensors of equal rank, but got 4 and 2}}
  %0 = cudnn.reduction add(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8xf32>
}

// -----

cudnn.graph @reduction_c2_dim(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x1xf32> {
  // expected-error @+1 {{expects result dims equal to the operand's or 1, but got [1, 8, 4, 4] and [1, 8, 2, 1]}}
  %0 = cudnn.reduction add(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x1xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x1xf32>
}

// -----

cudnn.graph @reduction_c2_none(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects at least one reduced dim, but got [1, 8, 4, 4] twice}}
  %0 = cudnn.reduction add(%a0) type = f32 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @reduction_c3(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x1x1xf32> {
  // expected-error @+1 {{expects compute type f64, f32, f16, bf16 or i32, but got 'i64'}}
  %0 = cudnn.reduction add(%a0) type = i64 : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x1x1xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x1x1xf32>
}
