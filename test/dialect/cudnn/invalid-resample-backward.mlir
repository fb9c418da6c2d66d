// Every error of cudnn.resample_backward. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

cudnn.graph @resample_backward_c1(%dy: !cudnn.tensor_desc<8x2xf32>, %index: !cudnn.tensor_desc<8x2xi8>) -> !cudnn.tensor_desc<8x4xf32> {
  // expected-error @+1 {{expects tensors of rank 3 to 5, but got 2}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<8x2xf32>) index(%index : !cudnn.tensor_desc<8x2xi8>) -> dx(!cudnn.tensor_desc<8x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<8x4xf32>
}

// -----

cudnn.graph @resample_backward_c1_equal(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<8x2x2xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects tensors of equal rank, but got 3 and 4}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<8x2x2xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c2_window(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x2xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 2 numbers in 'window', but got 1}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c2_stride(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x2xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects numbers of at least 1 in 'stride', but got [2, 0]}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 0] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c2_pre(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x2xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects numbers of at least 0 in 'pre_padding', but got [0, -1]}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, -1] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c2_post(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x2xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 2 numbers in 'post_padding', but got 1}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c2_denominator(%dy: !cudnn.tensor_desc<1x8x2x2xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'denominator' 1 with mode avgpool_include_padding, but got 2}}
  %dx = cudnn.resample_backward avgpool_include_padding type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] denominator = 2 padding_mode = zero_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c2_bilinear(%dy: !cudnn.tensor_desc<1x8x2x2xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects a window of 2 elements per dim, 2 over 1, with mode bilinear, but got [2, 3]}}
  %dx = cudnn.resample_backward bilinear type = f32 window = [2, 3] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c2_padding_mode(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x2xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects neg_inf_pad with mode maxpool, but got zero_pad}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c2_type(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x2xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects compute type f64, f32, f16, bf16 or i32, but got 'i64'}}
  %dx = cudnn.resample_backward maxpool type = i64 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c3_fit(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x2xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects a window that fits into the padded input, but got input [1, 8, 4, 4] and window [5, 5]}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [5, 5] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c3(%dy: !cudnn.tensor_desc<1x8x2x3xf32>, %index: !cudnn.tensor_desc<1x8x2x2xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'dy' of shape [1, 8, 2, 2], but got [1, 8, 2, 3]}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x3xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c4(%dy: !cudnn.tensor_desc<1x8x2x2xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects a mode with a gradient in cuDNN, but got nearest}}
  %dx = cudnn.resample_backward nearest type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c5_none(%dy: !cudnn.tensor_desc<1x8x2x2xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'index', or 'x' and 'y', with mode maxpool}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c5_x(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %x: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'index', or 'x' and 'y', with mode maxpool}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) x(%x : !cudnn.tensor_desc<1x8x4x4xf32>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c5_index_and_y(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x2xi8>, %y: !cudnn.tensor_desc<1x8x2x2xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'index', or 'x' and 'y', with mode maxpool}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xi8>) y(%y : !cudnn.tensor_desc<1x8x2x2xf32>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c5_average(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x2xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'index', 'x' or 'y' with mode avgpool_include_padding}}
  %dx = cudnn.resample_backward avgpool_include_padding type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c5_average_x(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %x: !cudnn.tensor_desc<1x8x4x4xf32>, %y: !cudnn.tensor_desc<1x8x2x2xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects no 'index', 'x' or 'y' with mode avgpool_exclude_padding}}
  %dx = cudnn.resample_backward avgpool_exclude_padding type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) x(%x : !cudnn.tensor_desc<1x8x4x4xf32>) y(%y : !cudnn.tensor_desc<1x8x2x2xf32>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c6_x(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %x: !cudnn.tensor_desc<1x8x5x5xf32>, %y: !cudnn.tensor_desc<1x8x2x2xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'x' of shape [1, 8, 4, 4], but got [1, 8, 5, 5]}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) x(%x : !cudnn.tensor_desc<1x8x5x5xf32>) y(%y : !cudnn.tensor_desc<1x8x2x2xf32>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c6_y(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %x: !cudnn.tensor_desc<1x8x4x4xf32>, %y: !cudnn.tensor_desc<1x8x2x1xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects 'y' of shape [1, 8, 2, 2], but got [1, 8, 2, 1]}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) x(%x : !cudnn.tensor_desc<1x8x4x4xf32>) y(%y : !cudnn.tensor_desc<1x8x2x1xf32>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c6_index(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x1xi8>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects index of shape [1, 8, 2, 2], but got [1, 8, 2, 1]}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x1xi8>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}

// -----

cudnn.graph @resample_backward_c6_type(%dy: !cudnn.tensor_desc<1x8x2x2xf32>, %index: !cudnn.tensor_desc<1x8x2x2xf32>) -> !cudnn.tensor_desc<1x8x4x4xf32> {
  // expected-error @+1 {{expects an index of i8, i32, i64 or i1, but got 'f32'}}
  %dx = cudnn.resample_backward maxpool type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad dy(%dy : !cudnn.tensor_desc<1x8x2x2xf32>) index(%index : !cudnn.tensor_desc<1x8x2x2xf32>) -> dx(!cudnn.tensor_desc<1x8x4x4xf32>)
  cudnn.return %dx : !cudnn.tensor_desc<1x8x4x4xf32>
}
