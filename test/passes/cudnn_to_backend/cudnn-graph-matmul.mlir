// RUN: convoy-opt %s --cudnn-describe-matmuls --add-runtime-argument --convert-cudnn-execute-to-backend --convert-cudnn-graphs-to-backend | filecheck %s

// A product that cuBLASLt can compute is in the manifest's entry of its graph.
// CHECK: matmul = {activation = "none", bias = 2 : i64, left = 0 : i64, right = 1 : i64}, name = "linear"
cudnn.graph @linear(%a: !cudnn.tensor_desc<1x3x5xf16>, %b: !cudnn.tensor_desc<1x5x7xf16>, %v: !cudnn.tensor_desc<1x1x7xf16>) -> !cudnn.tensor_desc<1x3x7xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3x5xf16>, !cudnn.tensor_desc<1x5x7xf16> -> !cudnn.tensor_desc<1x3x7xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x3x7xf32>, !cudnn.tensor_desc<1x1x7xf16> -> !cudnn.tensor_desc<1x3x7xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x3x7xf16>
}
