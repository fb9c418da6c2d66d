// Pooling, and the gradients of pooling and interpolation. Tests build every graph of this folder
// and make each of its calls fail.

!t8_64_56_56_f16_nhwc = !cudnn.tensor_desc<8x64x56x56xf16, NHWC>
!t8_64_28_28_f16_nhwc = !cudnn.tensor_desc<8x64x28x28xf16, NHWC>
!t2_8_8_8_8_f16_ndhwc = !cudnn.tensor_desc<2x8x8x8x8xf16, NDHWC>
!t2_8_4_4_4_f16_ndhwc = !cudnn.tensor_desc<2x8x4x4x4xf16, NDHWC>
!t8_64_1_1_f16_nhwc = !cudnn.tensor_desc<8x64x1x1xf16, NHWC>
!index = !cudnn.tensor_desc<8x64x28x28xi8, NHWC>

cudnn.graph @maxpool(%x: !t8_64_56_56_f16_nhwc) -> (!t8_64_28_28_f16_nhwc) {
  %y = cudnn.resample maxpool(%x) type = f32 window = [3, 3] stride = [2, 2]
      pre_padding = [1, 1] post_padding = [1, 1] padding_mode = neg_inf_pad
      : !t8_64_56_56_f16_nhwc -> !t8_64_28_28_f16_nhwc
  cudnn.return %y : !t8_64_28_28_f16_nhwc
}

cudnn.graph @avgpool_exclude(%x: !t8_64_56_56_f16_nhwc) -> (!t8_64_28_28_f16_nhwc) {
  %y = cudnn.resample avgpool_exclude_padding(%x) type = f32 window = [3, 3] stride = [2, 2]
      pre_padding = [1, 1] post_padding = [1, 1] padding_mode = zero_pad
      : !t8_64_56_56_f16_nhwc -> !t8_64_28_28_f16_nhwc
  cudnn.return %y : !t8_64_28_28_f16_nhwc
}

cudnn.graph @avgpool_3d(%x: !t2_8_8_8_8_f16_ndhwc) -> (!t2_8_4_4_4_f16_ndhwc) {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [2, 2, 2] stride = [2, 2, 2]
      pre_padding = [0, 0, 0] post_padding = [0, 0, 0] padding_mode = zero_pad
      : !t2_8_8_8_8_f16_ndhwc -> !t2_8_4_4_4_f16_ndhwc
  cudnn.return %y : !t2_8_4_4_4_f16_ndhwc
}

cudnn.graph @global_pool(%x: !t8_64_56_56_f16_nhwc) -> (!t8_64_1_1_f16_nhwc) {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [56, 56] stride = [1, 1]
      pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad
      : !t8_64_56_56_f16_nhwc -> !t8_64_1_1_f16_nhwc
  cudnn.return %y : !t8_64_1_1_f16_nhwc
}

cudnn.graph @maxpool_index(%x: !t8_64_56_56_f16_nhwc) -> (!t8_64_28_28_f16_nhwc, !index) {
  %y, %i = cudnn.resample maxpool(%x) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]
      padding_mode = neg_inf_pad alpha = 2.0 beta = 0.5 : !t8_64_56_56_f16_nhwc -> !t8_64_28_28_f16_nhwc, !index
  cudnn.return %y, %i : !t8_64_28_28_f16_nhwc, !index
}

cudnn.graph @maxpool_backward_index(%dy: !t8_64_28_28_f16_nhwc, %i: !index) -> !t8_64_56_56_f16_nhwc {
  %dx = cudnn.resample_backward maxpool type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]
      padding_mode = neg_inf_pad alpha = 2.0 beta = 0.5 dy(%dy : !t8_64_28_28_f16_nhwc) index(%i : !index) -> dx(!t8_64_56_56_f16_nhwc)
  cudnn.return %dx : !t8_64_56_56_f16_nhwc
}

cudnn.graph @maxpool_backward_values(%dy: !t8_64_28_28_f16_nhwc, %x: !t8_64_56_56_f16_nhwc, %y: !t8_64_28_28_f16_nhwc)
    -> !t8_64_56_56_f16_nhwc {
  %dx = cudnn.resample_backward maxpool type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]
      padding_mode = neg_inf_pad dy(%dy : !t8_64_28_28_f16_nhwc) x(%x : !t8_64_56_56_f16_nhwc) y(%y : !t8_64_28_28_f16_nhwc)
      -> dx(!t8_64_56_56_f16_nhwc)
  cudnn.return %dx : !t8_64_56_56_f16_nhwc
}

cudnn.graph @avgpool_include_backward(%dy: !t8_64_28_28_f16_nhwc) -> !t8_64_56_56_f16_nhwc {
  %dx = cudnn.resample_backward avgpool_include_padding type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1]
      post_padding = [1, 1] padding_mode = zero_pad dy(%dy : !t8_64_28_28_f16_nhwc) -> dx(!t8_64_56_56_f16_nhwc)
  cudnn.return %dx : !t8_64_56_56_f16_nhwc
}

cudnn.graph @avgpool_exclude_backward_3d(%dy: !t2_8_4_4_4_f16_ndhwc) -> !t2_8_8_8_8_f16_ndhwc {
  %dx = cudnn.resample_backward avgpool_exclude_padding type = f32 window = [2, 2, 2] stride = [2, 2, 2] pre_padding = [0, 0, 0]
      post_padding = [0, 0, 0] padding_mode = zero_pad dy(%dy : !t2_8_4_4_4_f16_ndhwc) -> dx(!t2_8_8_8_8_f16_ndhwc)
  cudnn.return %dx : !t2_8_8_8_8_f16_ndhwc
}

cudnn.graph @bilinear_backward(%dy: !t8_64_56_56_f16_nhwc) -> !t8_64_28_28_f16_nhwc {
  %dx = cudnn.resample_backward bilinear type = f32 window = [4, 4] stride = [1, 1] pre_padding = [1, 1] post_padding = [2, 2]
      denominator = 2 padding_mode = edge_val_pad dy(%dy : !t8_64_56_56_f16_nhwc) -> dx(!t8_64_28_28_f16_nhwc)
  cudnn.return %dx : !t8_64_28_28_f16_nhwc
}
