// RUN: convoy-opt %s --split-input-file --convert-cudnn-execute-to-backend --convert-cudnn-graphs-to-backend --verify-diagnostics

// expected-error @+1 {{expects every argument to be used, but argument 1 is not}}
cudnn.graph @unused(%x: !cudnn.tensor_desc<2x4x4xf32>, %y: !cudnn.tensor_desc<2x4x4xf32>) -> !cudnn.tensor_desc<2x4x4xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<2x4x4xf32> -> !cudnn.tensor_desc<2x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<2x4x4xf32>
}

// -----

cudnn.graph @mean(%x: !cudnn.tensor_desc<2x4x4xf32>) -> !cudnn.tensor_desc<2x4x1xf32> {
  // expected-error @+1 {{expects a mode that cuDNN graphs support, but got avg}}
  %0 = cudnn.reduction avg(%x) type = f32 : !cudnn.tensor_desc<2x4x4xf32> -> !cudnn.tensor_desc<2x4x1xf32>
  cudnn.return %0 : !cudnn.tensor_desc<2x4x1xf32>
}

// -----

cudnn.graph @early(%x: !cudnn.tensor_desc<2x4x4xf32>) -> !cudnn.tensor_desc<2x4x4xf32> {
  // expected-error @+1 {{expects to be canonicalized or outlined before its graph is built}}
  %0 = cudnn.pointwise_relu(%x) type = f32 : !cudnn.tensor_desc<2x4x4xf32> -> !cudnn.tensor_desc<2x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<2x4x4xf32>
}

// -----

// expected-error @+1 {{expects the name 'taken_build' to be free}}
cudnn.graph @taken(%x: !cudnn.tensor_desc<2x4x4xf32>) -> !cudnn.tensor_desc<2x4x4xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<2x4x4xf32> -> !cudnn.tensor_desc<2x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<2x4x4xf32>
}
// expected-note @+1 {{used here}}
func.func private @taken_build()

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<2x4x4xf32>) -> !cudnn.tensor_desc<2x4x4xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<2x4x4xf32> -> !cudnn.tensor_desc<2x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<2x4x4xf32>
}
// expected-error @+1 {{expects the runtime, an '!llvm.ptr', as first argument; add-runtime-argument adds it}}
func.func @main(%x: memref<2x4x4xf32>, %y: memref<2x4x4xf32>) attributes {tcp.target = "cuda"} {
  cudnn.execute @g ins(%x : memref<2x4x4xf32>) outs(%y : memref<2x4x4xf32>)
  return
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<2x4x4xf32>) -> !cudnn.tensor_desc<2x4x4xf32> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<2x4x4xf32> -> !cudnn.tensor_desc<2x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<2x4x4xf32>
}
func.func @main(%runtime: !llvm.ptr, %x: tensor<2x4x4xf32>, %y: tensor<2x4x4xf32>) -> i32 attributes {tcp.target = "cuda"} {
  // expected-error @+1 {{expects memrefs, but got tensors}}
  %0 = cudnn.execute @g ins(%x : tensor<2x4x4xf32>) outs(%y : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %zero = arith.constant 0 : i32
  return %zero : i32
}

// -----

cudnn.graph @g(%x: !cudnn.tensor_desc<2x4x4xf32>, %s: !cudnn.tensor_desc<1x1x1xf32> {cudnn.by_value}) -> !cudnn.tensor_desc<2x4x4xf32> {
  %0 = cudnn.pointwise mul(%x, %s) type = f32 : !cudnn.tensor_desc<2x4x4xf32>, !cudnn.tensor_desc<1x1x1xf32> -> !cudnn.tensor_desc<2x4x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<2x4x4xf32>
}
func.func @main(%runtime: !llvm.ptr, %x: memref<2x4x4xf32>, %s: memref<1xf32>, %y: memref<2x4x4xf32>) -> i32 attributes {tcp.target = "cuda"} {
  // expected-error @+1 {{expects every operand in device memory, but argument #1 of @g is by value; use a cudnn.constant in the graph instead}}
  cudnn.execute @g ins(%x, %s : memref<2x4x4xf32>, memref<1xf32>) outs(%y : memref<2x4x4xf32>)
  %zero = arith.constant 0 : i32
  return %zero : i32
}

// -----

cudnn.graph @fixed(%x: !cudnn.tensor_desc<2x4x4xf32>) -> !cudnn.tensor_desc<2x4x1xf32> {
  // expected-error @+1 {{expects features of cuDNN 9.2.0, but got CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC, which needs 9.11.0}}
  %0 = cudnn.reduction add(%x) type = f32 is_deterministic = true : !cudnn.tensor_desc<2x4x4xf32> -> !cudnn.tensor_desc<2x4x1xf32>
  cudnn.return %0 : !cudnn.tensor_desc<2x4x1xf32>
}

// -----

cudnn.graph @recurrent(%x: !cudnn.tensor_desc<5x2x16xf16>, %w: !cudnn.tensor_desc<16x16xf16>) -> !cudnn.tensor_desc<5x2x16xf16> {
  // expected-error @+1 {{expects a graph that is marked 'only_kernel', because cuDNN's graphs have no recurrent layers}}
  %y = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<5x2x16xf16>) weights(%w : !cudnn.tensor_desc<16x16xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %y : !cudnn.tensor_desc<5x2x16xf16>
}
