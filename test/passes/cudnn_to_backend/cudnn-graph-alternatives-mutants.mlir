// RUN: convoy-opt %s --split-input-file --convert-cudnn-graphs-to-backend=minimum-version=91900 | filecheck %s

// A manifest written by other tools does not crash the compiler: an entry of `calls` without the
// index of a graph is not a call.

// CHECK: name = "relu"
module attributes {tcp.manifest = {calls = [{location = "main"}, "text"]}} {
cudnn.graph @relu(%x: !cudnn.tensor_desc<1x64x8x8xf16, NHWC>) -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x64x8x8xf16, NHWC> -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
}
}

// -----

// A complex number has the size of two numbers.

// CHECK: temporaries = [{bytes = 64 : i64, zeros = false}]
!c = !cudnn.tensor_desc<1x2x2x2xcomplex<f32>>
module {
cudnn.graph @both(%x: !c) -> !c {
  %0 = cudnn.pointwise identity(%x) type = f32 : !c -> !c
  %1 = cudnn.pointwise identity(%0) type = f32 : !c -> !c
  cudnn.return %1 : !c
}
cudnn.graph @one(%x: !c) -> !c {
  %0 = cudnn.pointwise identity(%x) type = f32 : !c -> !c
  cudnn.return %0 : !c
}
cudnn.alternative @both "one | one" {
^bb0(%x: !c):
  %0 = cudnn.step @one(%x) : (!c) -> !c
  %1 = cudnn.step @one(%0) : (!c) -> !c
  cudnn.return %1 : !c
}
}
