// Convolutions: forward with every number of spatial dims, fused, and both gradients. Tests build
// every graph of this folder and make each of its calls fail.

!t8_64_56_56_f16_nhwc = !cudnn.tensor_desc<8x64x56x56xf16, NHWC>
!t64_64_3_3_f16_nhwc = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
!t1_64_1_1_f16_nhwc = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
!t8_64_56_56_f32_nhwc = !cudnn.tensor_desc<8x64x56x56xf32, NHWC>
!t8_64_28_28_f16_nhwc = !cudnn.tensor_desc<8x64x28x28xf16, NHWC>
!t64_16_3_3_f16_nhwc = !cudnn.tensor_desc<64x16x3x3xf16, NHWC>
!t64_1_3_3_f16_nhwc = !cudnn.tensor_desc<64x1x3x3xf16, NHWC>
!t4_16_100_f16_nwc = !cudnn.tensor_desc<4x16x100xf16, NWC>
!t32_16_5_f16_nwc = !cudnn.tensor_desc<32x16x5xf16, NWC>
!t4_32_100_f16_nwc = !cudnn.tensor_desc<4x32x100xf16, NWC>
!t2_16_8_12_12_f16_ndhwc = !cudnn.tensor_desc<2x16x8x12x12xf16, NDHWC>
!t32_16_3_3_3_f16_ndhwc = !cudnn.tensor_desc<32x16x3x3x3xf16, NDHWC>
!t2_32_8_12_12_f16_ndhwc = !cudnn.tensor_desc<2x32x8x12x12xf16, NDHWC>

cudnn.graph @conv(%x: !t8_64_56_56_f16_nhwc, %w: !t64_64_3_3_f16_nhwc) -> (!t8_64_56_56_f16_nhwc) {
  %y = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !t8_64_56_56_f16_nhwc, !t64_64_3_3_f16_nhwc -> !t8_64_56_56_f16_nhwc
  cudnn.return %y : !t8_64_56_56_f16_nhwc
}

cudnn.graph @conv_bias_relu(%x: !t8_64_56_56_f16_nhwc, %w: !t64_64_3_3_f16_nhwc, %b: !t1_64_1_1_f16_nhwc) -> (!t8_64_56_56_f16_nhwc) {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !t8_64_56_56_f16_nhwc, !t64_64_3_3_f16_nhwc -> !t8_64_56_56_f32_nhwc
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !t8_64_56_56_f32_nhwc, !t1_64_1_1_f16_nhwc -> !t8_64_56_56_f32_nhwc
  %y = cudnn.pointwise relu_fwd(%1) type = f32 : !t8_64_56_56_f32_nhwc -> !t8_64_56_56_f16_nhwc
  cudnn.return %y : !t8_64_56_56_f16_nhwc
}

cudnn.graph @conv_residual_bias_relu(%x: !t8_64_56_56_f16_nhwc, %w: !t64_64_3_3_f16_nhwc, %z: !t8_64_56_56_f16_nhwc,
                                    %b: !t1_64_1_1_f16_nhwc)
    -> (!t8_64_56_56_f16_nhwc) {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !t8_64_56_56_f16_nhwc, !t64_64_3_3_f16_nhwc -> !t8_64_56_56_f32_nhwc
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !t8_64_56_56_f32_nhwc, !t8_64_56_56_f16_nhwc -> !t8_64_56_56_f32_nhwc
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !t8_64_56_56_f32_nhwc, !t1_64_1_1_f16_nhwc -> !t8_64_56_56_f32_nhwc
  %y = cudnn.pointwise relu_fwd(%2) type = f32 upper_clip = 6.0 : !t8_64_56_56_f32_nhwc -> !t8_64_56_56_f16_nhwc
  cudnn.return %y : !t8_64_56_56_f16_nhwc
}

cudnn.graph @relu_conv(%x: !t8_64_56_56_f16_nhwc, %w: !t64_64_3_3_f16_nhwc) -> (!t8_64_56_56_f16_nhwc) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t8_64_56_56_f16_nhwc -> !t8_64_56_56_f16_nhwc
  %y = cudnn.convolution(%0, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !t8_64_56_56_f16_nhwc, !t64_64_3_3_f16_nhwc -> !t8_64_56_56_f16_nhwc
  cudnn.return %y : !t8_64_56_56_f16_nhwc
}

cudnn.graph @conv_two_results(%x: !t8_64_56_56_f16_nhwc, %w: !t64_64_3_3_f16_nhwc, %b: !t1_64_1_1_f16_nhwc)
    -> (!t8_64_56_56_f16_nhwc, !t8_64_56_56_f16_nhwc) {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !t8_64_56_56_f16_nhwc, !t64_64_3_3_f16_nhwc -> !t8_64_56_56_f32_nhwc
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !t8_64_56_56_f32_nhwc, !t1_64_1_1_f16_nhwc -> !t8_64_56_56_f16_nhwc
  %y = cudnn.pointwise relu_fwd(%1) type = f32 : !t8_64_56_56_f16_nhwc -> !t8_64_56_56_f16_nhwc
  cudnn.return %1, %y : !t8_64_56_56_f16_nhwc, !t8_64_56_56_f16_nhwc
}

cudnn.graph @conv_stride_dilation(%x: !t8_64_56_56_f16_nhwc, %w: !t64_64_3_3_f16_nhwc) -> (!t8_64_28_28_f16_nhwc) {
  %y = cudnn.convolution(%x, %w) type = f32 spatial_stride = [2, 2] pre_padding = [2, 2] post_padding = [2, 2] dilation = [2, 2]
      : !t8_64_56_56_f16_nhwc, !t64_64_3_3_f16_nhwc -> !t8_64_28_28_f16_nhwc
  cudnn.return %y : !t8_64_28_28_f16_nhwc
}

cudnn.graph @conv_groups(%x: !t8_64_56_56_f16_nhwc, %w: !t64_16_3_3_f16_nhwc) -> (!t8_64_56_56_f16_nhwc) {
  %y = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !t8_64_56_56_f16_nhwc, !t64_16_3_3_f16_nhwc -> !t8_64_56_56_f16_nhwc
  cudnn.return %y : !t8_64_56_56_f16_nhwc
}

cudnn.graph @conv_depthwise(%x: !t8_64_56_56_f16_nhwc, %w: !t64_1_3_3_f16_nhwc) -> (!t8_64_56_56_f16_nhwc) {
  %y = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !t8_64_56_56_f16_nhwc, !t64_1_3_3_f16_nhwc -> !t8_64_56_56_f16_nhwc
  cudnn.return %y : !t8_64_56_56_f16_nhwc
}

cudnn.graph @conv_1d(%x: !t4_16_100_f16_nwc, %w: !t32_16_5_f16_nwc) -> (!t4_32_100_f16_nwc) {
  %y = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1] pre_padding = [2] post_padding = [2] dilation = [1]
      : !t4_16_100_f16_nwc, !t32_16_5_f16_nwc -> !t4_32_100_f16_nwc
  cudnn.return %y : !t4_32_100_f16_nwc
}

cudnn.graph @conv_3d(%x: !t2_16_8_12_12_f16_ndhwc, %w: !t32_16_3_3_3_f16_ndhwc) -> (!t2_32_8_12_12_f16_ndhwc) {
  %y = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1, 1] pre_padding = [1, 1, 1] post_padding = [1, 1, 1] dilation = [1, 1, 1]
      : !t2_16_8_12_12_f16_ndhwc, !t32_16_3_3_3_f16_ndhwc -> !t2_32_8_12_12_f16_ndhwc
  cudnn.return %y : !t2_32_8_12_12_f16_ndhwc
}

cudnn.graph @dgrad(%dy: !t8_64_56_56_f16_nhwc, %w: !t64_64_3_3_f16_nhwc) -> (!t8_64_56_56_f16_nhwc) {
  %dx = cudnn.convolution(%dy, %w) mode = dgrad type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1]
      dilation = [1, 1]
      : !t8_64_56_56_f16_nhwc, !t64_64_3_3_f16_nhwc -> !t8_64_56_56_f16_nhwc
  cudnn.return %dx : !t8_64_56_56_f16_nhwc
}

cudnn.graph @wgrad(%x: !t8_64_56_56_f16_nhwc, %dy: !t8_64_56_56_f16_nhwc) -> (!t64_64_3_3_f16_nhwc) {
  %dw = cudnn.convolution(%x, %dy) mode = wgrad type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1]
      dilation = [1, 1]
      : !t8_64_56_56_f16_nhwc, !t8_64_56_56_f16_nhwc -> !t64_64_3_3_f16_nhwc
  cudnn.return %dw : !t64_64_3_3_f16_nhwc
}
