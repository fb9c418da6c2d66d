// The operations that a batch normalization between two convolutions is split into.

cudnn.graph @gen_stats(%y: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>) -> (!cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
    !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %sum, %sq_sum = cudnn.gen_stats sum_sqsum(%y) type = f32 : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
      -> !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  cudnn.return %sum, %sq_sum : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @conv_gen_stats(%x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x1x1xf16, NHWC>)
    -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %y = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
      !cudnn.tensor_desc<64x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
  %sum, %sq_sum = cudnn.gen_stats sum_sqsum(%y) type = f32 : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
      -> !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  cudnn.return %y, %sum, %sq_sum : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

cudnn.graph @scale_bias_relu_conv_gen_stats(%x: !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, %scale: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>,
    %bias: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x1x1xf16, NHWC>)
    -> (!cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) {
  %0 = cudnn.pointwise mul(%x, %scale) type = f32 : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
      -> !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
  %1 = cudnn.pointwise add(%0, %bias) type = f32 : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
      -> !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 : !cudnn.tensor_desc<32x64x28x28xf16, NHWC> -> !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
  %y = cudnn.convolution(%2, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>,
      !cudnn.tensor_desc<64x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
  %sum, %sq_sum = cudnn.gen_stats sum_sqsum(%y) type = f32 : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>
      -> !cudnn.tensor_desc<1x64x1x1xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  cudnn.return %y, %sum, %sq_sum : !cudnn.tensor_desc<32x64x28x28xf16, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}
