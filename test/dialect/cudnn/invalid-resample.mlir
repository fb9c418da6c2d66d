// Every error of cudnn.resample. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

cudnn.graph @resample_c1(%a0: !cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf32> {
  // expected-error @+1 {{expects tensors of rank 3 to 5, but got 2}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  cudnn.return %0 : !cudnn.tensor_desc<8x4xf32>
}

// -----

cudnn.graph @resample_c2_window(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects 2 numbers in 'window', but got 1}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c2_stride(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects numbers of at least 1 in 'stride', but got [2, 0]}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 0] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c2_pre(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects numbers of at least 0 in 'pre_padding', but got [0, -1]}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, -1] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c2_post(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects 2 numbers in 'post_padding', but got 1}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c3_fit(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects a window that fits into the padded input, but got input [1, 8, 4, 4] and window [5, 5]}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [5, 5] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c3(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x3xf32> {
  // expected-error @+1 {{expects result of shape [1, 8, 2, 2], but got [1, 8, 2, 3]}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x3xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x3xf32>
}

// -----

cudnn.graph @resample_c3_bilinear(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x4x8x8xf32> {
  // expected-error @+1 {{expects result of shape [1, 8, 2, 2], but got [1, 4, 8, 8]}}
  %0 = cudnn.resample bilinear(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x4x8x8xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x4x8x8xf32>
}

// -----

cudnn.graph @resample_c4_max(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects neg_inf_pad with mode maxpool, but got zero_pad}}
  %0 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c4_avg(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects zero_pad or edge_val_pad with mode avgpool_include_padding, but got neg_inf_pad}}
  %0 = cudnn.resample avgpool_include_padding(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c5(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects compute type f64, f32, f16, bf16 or i32, but got 'i64'}}
  %0 = cudnn.resample maxpool(%a0) type = i64 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c3_denominator(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x8x8xf32> {
  // expected-error @+1 {{expects result of shape [1, 8, 5, 5], but got [1, 8, 8, 8]}}
  %0 = cudnn.resample bilinear(%a0) type = f32 window = [8, 8] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] denominator = 4 padding_mode = edge_val_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x8x8xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x8x8xf32>
}

// -----

cudnn.graph @resample_c6_pooling(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects 'denominator' 1 with mode avgpool_include_padding, but got 2}}
  %0 = cudnn.resample avgpool_include_padding(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] denominator = 2 padding_mode = zero_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c6_zero(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects 'denominator' of at least 1 with mode bilinear, but got 0}}
  %0 = cudnn.resample bilinear(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] denominator = 0 padding_mode = zero_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c7(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects a window of 2 elements per dim, 2 over 1, with mode nearest, but got [2, 3]}}
  %0 = cudnn.resample nearest(%a0) type = f32 window = [2, 3] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c7_denominator(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> !cudnn.tensor_desc<1x8x2x2xf32> {
  // expected-error @+1 {{expects a window of 2 elements per dim, 4 over 2, with mode bilinear, but got [2, 2]}}
  %0 = cudnn.resample bilinear(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] denominator = 2 padding_mode = zero_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x2x2xf32>
}

// -----

cudnn.graph @resample_c8_mode(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> (!cudnn.tensor_desc<1x8x2x2xf32>, !cudnn.tensor_desc<1x8x2x2xi8>) {
  // expected-error @+1 {{expects no index with mode avgpool_include_padding}}
  %0, %1 = cudnn.resample avgpool_include_padding(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>, !cudnn.tensor_desc<1x8x2x2xi8>
  cudnn.return %0, %1 : !cudnn.tensor_desc<1x8x2x2xf32>, !cudnn.tensor_desc<1x8x2x2xi8>
}

// -----

cudnn.graph @resample_c8_shape(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> (!cudnn.tensor_desc<1x8x2x2xf32>, !cudnn.tensor_desc<1x8x2x1xi8>) {
  // expected-error @+1 {{expects index of shape [1, 8, 2, 2], but got [1, 8, 2, 1]}}
  %0, %1 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>, !cudnn.tensor_desc<1x8x2x1xi8>
  cudnn.return %0, %1 : !cudnn.tensor_desc<1x8x2x2xf32>, !cudnn.tensor_desc<1x8x2x1xi8>
}

// -----

cudnn.graph @resample_c8_type(%a0: !cudnn.tensor_desc<1x8x4x4xf32>) -> (!cudnn.tensor_desc<1x8x2x2xf32>, !cudnn.tensor_desc<1x8x2x2xf32>) {
  // expected-error @+1 {{expects an index of i8, i32, i64 or i1, but got 'f32'}}
  %0, %1 = cudnn.resample maxpool(%a0) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x4x4xf32> -> !cudnn.tensor_desc<1x8x2x2xf32>, !cudnn.tensor_desc<1x8x2x2xf32>
  cudnn.return %0, %1 : !cudnn.tensor_desc<1x8x2x2xf32>, !cudnn.tensor_desc<1x8x2x2xf32>
}
