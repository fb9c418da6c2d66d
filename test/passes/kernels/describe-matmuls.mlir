// RUN: convoy-opt %s --split-input-file --cudnn-describe-matmuls=remarks --verify-diagnostics | filecheck %s

// Sizes that no kernel of Convoy supports.
// CHECK: cudnn.graph @odd(
// CHECK-SAME: attributes {cudnn.matmul = {activation = "none", left = 0 : i64, right = 1 : i64}}
cudnn.graph @odd(%a: !cudnn.tensor_desc<1x3x5xf16>, %b: !cudnn.tensor_desc<1x5x7xf16>) -> !cudnn.tensor_desc<1x3x7xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3x5xf16>, !cudnn.tensor_desc<1x5x7xf16> -> !cudnn.tensor_desc<1x3x7xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x3x7xf16>
}

// -----

// The numbers are those of arguments, in any order. A bias may follow a residual.
// CHECK: cudnn.graph @all(
// CHECK-SAME: attributes {cudnn.matmul = {activation = "relu", bias = 0 : i64, left = 3 : i64, residual = 1 : i64, right = 2 : i64}}
cudnn.graph @all(%v: !cudnn.tensor_desc<1x1x128xbf16>, %r: !cudnn.tensor_desc<1x9x128xbf16>, %b: !cudnn.tensor_desc<1x64x128xbf16>, %a: !cudnn.tensor_desc<1x9x64xbf16>) -> !cudnn.tensor_desc<1x9x128xbf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x9x64xbf16>, !cudnn.tensor_desc<1x64x128xbf16> -> !cudnn.tensor_desc<1x9x128xf32>
  %1 = cudnn.pointwise add(%0, %r) type = f32 : !cudnn.tensor_desc<1x9x128xf32>, !cudnn.tensor_desc<1x9x128xbf16> -> !cudnn.tensor_desc<1x9x128xf32>
  %2 = cudnn.pointwise add(%1, %v) type = f32 : !cudnn.tensor_desc<1x9x128xf32>, !cudnn.tensor_desc<1x1x128xbf16> -> !cudnn.tensor_desc<1x9x128xf32>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x9x128xf32> -> !cudnn.tensor_desc<1x9x128xbf16>
  cudnn.return %3 : !cudnn.tensor_desc<1x9x128xbf16>
}

// -----

// A batch of matrices, with one right matrix for all of them, in f32.
// CHECK: cudnn.graph @batch(
// CHECK-SAME: attributes {cudnn.matmul = {activation = "gelu_tanh", left = 0 : i64, right = 1 : i64}}
cudnn.graph @batch(%a: !cudnn.tensor_desc<4x3x5xf32>, %b: !cudnn.tensor_desc<1x5x7xf32>) -> !cudnn.tensor_desc<4x3x7xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<4x3x5xf32>, !cudnn.tensor_desc<1x5x7xf32> -> !cudnn.tensor_desc<4x3x7xf32>
  %1 = cudnn.pointwise gelu_approx_tanh_fwd(%0) type = f32 : !cudnn.tensor_desc<4x3x7xf32> -> !cudnn.tensor_desc<4x3x7xf32>
  cudnn.return %1 : !cudnn.tensor_desc<4x3x7xf32>
}

// -----

// A result in f32 of 16-bit factors.
// CHECK: cudnn.graph @wide(
// CHECK-SAME: attributes {cudnn.matmul = {activation = "none", left = 0 : i64, right = 1 : i64}}
cudnn.graph @wide(%a: !cudnn.tensor_desc<1x3x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>) -> !cudnn.tensor_desc<1x3x128xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x3x128xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x3x128xf32>
}

// -----

// expected-remark @+1 {{not for cuBLASLt: the bias or the residual does not have the result's element type}}
cudnn.graph @wide_bias(%a: !cudnn.tensor_desc<1x3x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>, %v: !cudnn.tensor_desc<1x1x128xf16>) -> !cudnn.tensor_desc<1x3x128xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x3x128xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x3x128xf32>, !cudnn.tensor_desc<1x1x128xf16> -> !cudnn.tensor_desc<1x3x128xf32>
  cudnn.return %1 : !cudnn.tensor_desc<1x3x128xf32>
}

// -----

// expected-remark @+1 {{not for cuBLASLt: there is a scale}}
cudnn.graph @scale(%a: !cudnn.tensor_desc<1x3x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>, %v: !cudnn.tensor_desc<1x1x128xf16>) -> !cudnn.tensor_desc<1x3x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x3x128xf32>
  %1 = cudnn.pointwise mul(%0, %v) type = f32 : !cudnn.tensor_desc<1x3x128xf32>, !cudnn.tensor_desc<1x1x128xf16> -> !cudnn.tensor_desc<1x3x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x3x128xf16>
}

// -----

// expected-remark @+1 {{not for cuBLASLt: its result is multiplied by a matrix}}
cudnn.graph @gate(%a: !cudnn.tensor_desc<1x3x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>, %g: !cudnn.tensor_desc<1x3x128xf16>) -> !cudnn.tensor_desc<1x3x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x3x128xf32>
  %1 = cudnn.pointwise mul(%0, %g) type = f32 : !cudnn.tensor_desc<1x3x128xf32>, !cudnn.tensor_desc<1x3x128xf16> -> !cudnn.tensor_desc<1x3x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x3x128xf16>
}

// -----

// expected-remark @+1 {{not for cuBLASLt: the activation is not relu or the form of gelu with tanh}}
cudnn.graph @gelu(%a: !cudnn.tensor_desc<1x3x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>) -> !cudnn.tensor_desc<1x3x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x3x128xf32>
  %1 = cudnn.pointwise gelu_fwd(%0) type = f32 : !cudnn.tensor_desc<1x3x128xf32> -> !cudnn.tensor_desc<1x3x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x3x128xf16>
}

// -----

// expected-remark @+1 {{not for cuBLASLt: relu has an upper bound, a lower one other than 0, or follows another activation}}
cudnn.graph @relu6(%a: !cudnn.tensor_desc<1x3x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>) -> !cudnn.tensor_desc<1x3x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x3x128xf32>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<1x3x128xf32> -> !cudnn.tensor_desc<1x3x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x3x128xf16>
}

// -----

// expected-remark @+1 {{not for cuBLASLt: relu has an upper bound, a lower one other than 0, or follows another activation}}
cudnn.graph @two(%a: !cudnn.tensor_desc<1x3x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>) -> !cudnn.tensor_desc<1x3x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x3x128xf32>
  %1 = cudnn.pointwise gelu_approx_tanh_fwd(%0) type = f32 : !cudnn.tensor_desc<1x3x128xf32> -> !cudnn.tensor_desc<1x3x128xf32>
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x3x128xf32> -> !cudnn.tensor_desc<1x3x128xf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x3x128xf16>
}

// -----

// expected-remark @+1 {{not for cuBLASLt: the activation is not the last operation}}
cudnn.graph @early(%a: !cudnn.tensor_desc<1x3x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>, %r: !cudnn.tensor_desc<1x3x128xf16>) -> !cudnn.tensor_desc<1x3x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x3x128xf32>
  %1 = cudnn.pointwise gelu_approx_tanh_fwd(%0) type = f32 : !cudnn.tensor_desc<1x3x128xf32> -> !cudnn.tensor_desc<1x3x128xf32>
  %2 = cudnn.pointwise add(%1, %r) type = f32 : !cudnn.tensor_desc<1x3x128xf32>, !cudnn.tensor_desc<1x3x128xf16> -> !cudnn.tensor_desc<1x3x128xf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x3x128xf16>
}

// -----

// expected-remark @+1 {{not for cuBLASLt: the matrices are not two arguments of the same type in row-major memory, aligned to 16 bytes}}
cudnn.graph @transposed(%a: !cudnn.tensor_desc<1x1x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16, stride = [8192, 1, 64]>) -> !cudnn.tensor_desc<1x1x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x64xf16>, !cudnn.tensor_desc<1x64x128xf16, stride = [8192, 1, 64]> -> !cudnn.tensor_desc<1x1x128xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x1x128xf16>
}

// -----

// expected-remark @+1 {{not for cuBLASLt: it does not begin with a matrix product without overrides}}
cudnn.graph @relu(%a: !cudnn.tensor_desc<1x1x64xf16>) -> !cudnn.tensor_desc<1x1x64xf16> {
  %0 = cudnn.pointwise relu_fwd(%a) type = f32 : !cudnn.tensor_desc<1x1x64xf16> -> !cudnn.tensor_desc<1x1x64xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x1x64xf16>
}

// -----

// expected-remark @+1 {{not for cuBLASLt: the matrices do not have one batch dim}}
cudnn.graph @dims(%a: !cudnn.tensor_desc<1x1x4x64xf16>, %b: !cudnn.tensor_desc<1x1x64x128xf16>) -> !cudnn.tensor_desc<1x1x4x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x4x64xf16>, !cudnn.tensor_desc<1x1x64x128xf16> -> !cudnn.tensor_desc<1x1x4x128xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x1x4x128xf16>
}
