// RUN: convoy-opt %s --cudnn-insert-zero-bias --split-input-file --verify-diagnostics

cudnn.graph @relu(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

func.func @main(%x: memref<8x16x16x64xf16>, %w: memref<64x3x3x64xf16>, %y: memref<8x16x16x64xf16>) {
  // expected-error @+1 {{expects tensors while a zero bias is inserted, but got memrefs}}
  cudnn.execute @relu ins(%x, %w : memref<8x16x16x64xf16>, memref<64x3x3x64xf16>) outs(%y : memref<8x16x16x64xf16>)
  return
}

// -----

cudnn.graph @relu(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

func.func @main(%x: tensor<8x16x16x64xf16>, %w: tensor<64x3x3x64xf16>) -> tensor<8x16x16x64xf16> {
  %o = tensor.empty() : tensor<8x16x16x64xf16>
  // expected-error @+1 {{expects to stand in @main, beside @prepare_weights, which makes the zeros}}
  %y = cudnn.execute @relu ins(%x, %w : tensor<8x16x16x64xf16>, tensor<64x3x3x64xf16>) outs(%o : tensor<8x16x16x64xf16>) -> tensor<8x16x16x64xf16>
  return %y : tensor<8x16x16x64xf16>
}
