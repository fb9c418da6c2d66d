// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @conv_c1_input(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'tcp.conv2d' op expects input of rank 4, but got 3}}
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x3x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_c1_weights(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error@+1 {{'tcp.conv2d' op expects weights of rank 4, but got 3}}
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x3x8x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_c1_output(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error@+1 {{'tcp.conv1d' op expects output of rank 3, but got 4}}
  %0 = tcp.conv1d %x, %w {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x3x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x6x1xf32>
  return
}

// -----

func.func @conv_c2_count(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'tcp.conv2d' op expects 4 numbers in 'pad', but got 2}}
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0>, stride = array<i64: 1, 1>} : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_c2_minimum(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'tcp.conv2d' op expects numbers of at least 1 in 'stride', but got [1, 0]}}
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 0>} : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_c3_groups(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'tcp.conv2d' op expects 'groups' to divide 3 input channels and 4 output channels, but got 2}}
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_c3_weights(%x: tensor<1x8x8x6xf32>, %w: tensor<4x3x3x6xf32>) {
  // expected-error@+1 {{'tcp.conv2d' op expects weights with 3 channels (6 input channels in 2 groups), but got 6}}
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x6xf32>, tensor<4x3x3x6xf32> -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @conv_c4(%x: tensor<1x3x2x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'tcp.conv2d' op expects a window that fits into the padded input, but got input [1, 3, 2, 8] and weights [4, 3, 3, 3]}}
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x3x2x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x0x6xf32>
  return
}

// -----

func.func @conv_c5(%x: tensor<1x3x8x8x8xf32>, %w: tensor<4x3x3x3x3xf32>) {
  // expected-error@+1 {{'tcp.conv3d' op expects result shape [1, 4, 6, 6, 6], but got [1, 4, 6, 6, 5]}}
  %0 = tcp.conv3d %x, %w {dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>} : tensor<1x3x8x8x8xf32>, tensor<4x3x3x3x3xf32> -> tensor<1x4x6x6x5xf32>
  return
}

// -----

func.func @conv_transpose_c1_spatial(%x: tensor<1x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{'tcp.conv_transpose' op expects 1 to 3 spatial dims in 'stride', but got 0}}
  %0 = tcp.conv_transpose %x, %w {dilation = array<i64>, output_pad = array<i64>, pad = array<i64>, stride = array<i64>} : tensor<1x4xf32>, tensor<4x3xf32> -> tensor<1x3xf32>
  return
}

// -----

func.func @conv_transpose_c1_rank(%x: tensor<1x4x8x8xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{'tcp.conv_transpose' op expects input of rank 3, but got 4}}
  %0 = tcp.conv_transpose %x, %w {dilation = array<i64: 1>, output_pad = array<i64: 0>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8x8xf32>, tensor<4x3x2xf32> -> tensor<1x3x9xf32>
  return
}

// -----

func.func @conv_transpose_c2(%x: tensor<1x4x8xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{'tcp.conv_transpose' op expects numbers of at least 0 in 'output_pad', but got [-1]}}
  %0 = tcp.conv_transpose %x, %w {dilation = array<i64: 1>, output_pad = array<i64: -1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<4x3x2xf32> -> tensor<1x3x8xf32>
  return
}

// -----

func.func @conv_transpose_c3_groups(%x: tensor<1x4x8xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{'tcp.conv_transpose' op expects 'groups' to divide 4 input channels, but got 3}}
  %0 = tcp.conv_transpose %x, %w {dilation = array<i64: 1>, groups = 3 : i64, output_pad = array<i64: 0>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<4x3x2xf32> -> tensor<1x9x9xf32>
  return
}

// -----

func.func @conv_transpose_c3_weights(%x: tensor<1x4x8xf32>, %w: tensor<3x4x2xf32>) {
  // expected-error@+1 {{'tcp.conv_transpose' op expects weights whose first dim is 4, the number of input channels, but got 3}}
  %0 = tcp.conv_transpose %x, %w {dilation = array<i64: 1>, output_pad = array<i64: 0>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<3x4x2xf32> -> tensor<1x4x9xf32>
  return
}

// -----

func.func @conv_transpose_c4(%x: tensor<1x4x8xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{'tcp.conv_transpose' op expects result shape [1, 3, 9], but got [1, 3, 8]}}
  %0 = tcp.conv_transpose %x, %w {dilation = array<i64: 1>, output_pad = array<i64: 0>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<4x3x2xf32> -> tensor<1x3x8xf32>
  return
}

// -----

func.func @matmul_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.matmul' op expects operands of rank at least 2, but got 1}}
  %0 = tcp.matmul %a, %a : tensor<4xf32>, tensor<4xf32> -> tensor<1xf32>
  return
}

// -----

func.func @matmul_c2(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+1 {{'tcp.matmul' op expects the last dim of lhs to equal the second last of rhs, but got [2, 3] and [4, 5]}}
  %0 = tcp.matmul %a, %b : tensor<2x3xf32>, tensor<4x5xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @matmul_c3_batch(%a: tensor<2x2x3xf32>, %b: tensor<3x3x5xf32>) {
  // expected-error@+1 {{'tcp.matmul' op expects batch dims that are equal or 1, but got [2, 2, 3] and [3, 3, 5]}}
  %0 = tcp.matmul %a, %b : tensor<2x2x3xf32>, tensor<3x3x5xf32> -> tensor<2x2x5xf32>
  return
}

// -----

func.func @matmul_c3_result(%a: tensor<2x2x3xf32>, %b: tensor<1x3x5xf32>) {
  // expected-error@+1 {{'tcp.matmul' op expects result shape [2, 2, 5], but got [1, 2, 5]}}
  %0 = tcp.matmul %a, %b : tensor<2x2x3xf32>, tensor<1x3x5xf32> -> tensor<1x2x5xf32>
  return
}

// -----

func.func @conv_backward_data_c1_spatial(%g: tensor<1x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_data' op expects 1 to 3 spatial dims in 'stride', but got 0}}
  %0 = tcp.conv_backward_data %g, %w {dilation = array<i64>, pad = array<i64>, stride = array<i64>} : tensor<1x4xf32>, tensor<4x3xf32> -> tensor<1x3xf32>
  return
}

// -----

func.func @conv_backward_data_c1_rank(%g: tensor<1x4x8xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_data' op expects result of rank 3, but got 2}}
  %0 = tcp.conv_backward_data %g, %w {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<4x3x2xf32> -> tensor<1x3xf32>
  return
}

// -----

func.func @conv_backward_data_c2(%g: tensor<1x4x8xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_data' op expects numbers of at least 1 in 'stride', but got [0]}}
  %0 = tcp.conv_backward_data %g, %w {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 0>} : tensor<1x4x8xf32>, tensor<4x3x2xf32> -> tensor<1x3x9xf32>
  return
}

// -----

func.func @conv_backward_data_c3_groups(%g: tensor<1x4x8xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_data' op expects 'groups' to divide 3 input channels and 4 channels of the gradient, but got 2}}
  %0 = tcp.conv_backward_data %g, %w {dilation = array<i64: 1>, groups = 2 : i64, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<4x3x2xf32> -> tensor<1x3x9xf32>
  return
}

// -----

func.func @conv_backward_data_c3_weights(%g: tensor<1x4x8xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_data' op expects weights with 2 channels (4 input channels in 2 groups), but got 3}}
  %0 = tcp.conv_backward_data %g, %w {dilation = array<i64: 1>, groups = 2 : i64, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<4x3x2xf32> -> tensor<1x4x9xf32>
  return
}

// -----

func.func @conv_backward_data_c4(%g: tensor<1x4x8xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_data' op expects a gradient of shape [1, 4, 9], that of the convolution of [1, 3, 10] with [4, 3, 2], without empty dims, but got [1, 4, 8]}}
  %0 = tcp.conv_backward_data %g, %w {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<4x3x2xf32> -> tensor<1x3x10xf32>
  return
}

// -----

func.func @conv_backward_filter_c1_spatial(%x: tensor<1x4xf32>, %g: tensor<1x3xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_filter' op expects 1 to 3 spatial dims in 'stride', but got 0}}
  %0 = tcp.conv_backward_filter %x, %g {dilation = array<i64>, pad = array<i64>, stride = array<i64>} : tensor<1x4xf32>, tensor<1x3xf32> -> tensor<3x4xf32>
  return
}

// -----

func.func @conv_backward_filter_c1_rank(%x: tensor<1x4x8xf32>, %g: tensor<1x3x7x1xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_filter' op expects gradient of rank 3, but got 4}}
  %0 = tcp.conv_backward_filter %x, %g {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<1x3x7x1xf32> -> tensor<3x4x2xf32>
  return
}

// -----

func.func @conv_backward_filter_c2(%x: tensor<1x4x8xf32>, %g: tensor<1x3x7xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_filter' op expects 2 numbers in 'pad', but got 1}}
  %0 = tcp.conv_backward_filter %x, %g {dilation = array<i64: 1>, pad = array<i64: 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<1x3x7xf32> -> tensor<3x4x2xf32>
  return
}

// -----

func.func @conv_backward_filter_c3(%x: tensor<1x4x8xf32>, %g: tensor<1x3x7xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_filter' op expects weights with 4 channels (4 input channels in 1 groups), but got 2}}
  %0 = tcp.conv_backward_filter %x, %g {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<1x3x7xf32> -> tensor<3x2x2xf32>
  return
}

// -----

func.func @conv_backward_filter_c4(%x: tensor<1x4x8xf32>, %g: tensor<2x3x7xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_filter' op expects a gradient of shape [1, 3, 7], that of the convolution of [1, 4, 8] with [3, 4, 2], without empty dims, but got [2, 3, 7]}}
  %0 = tcp.conv_backward_filter %x, %g {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x4x8xf32>, tensor<2x3x7xf32> -> tensor<3x4x2xf32>
  return
}

// -----

func.func @attention_c1(%q: tensor<1x4x8x16xf32>, %k: tensor<1x4x8x12xf32>) {
  // expected-error@+1 {{'tcp.attention' op expects a query of B x H x M x D, a key of B x G x N x D and a value of B x G x N x E, but got [1, 4, 8, 16], [1, 4, 8, 12] and [1, 4, 8, 12]}}
  %0 = tcp.attention %q, %k, %k {scale = 1.0 : f64} : tensor<1x4x8x16xf32>, tensor<1x4x8x12xf32>, tensor<1x4x8x12xf32> -> tensor<1x4x8x12xf32>
  return
}

// -----

func.func @attention_c2(%q: tensor<1x4x8x16xf32>, %k: tensor<1x3x8x16xf32>) {
  // expected-error@+1 {{'tcp.attention' op expects heads of the key that divide the 4 of the query, but got 3}}
  %0 = tcp.attention %q, %k, %k {scale = 1.0 : f64} : tensor<1x4x8x16xf32>, tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c3(%q: tensor<1x4x8x16xf32>, %m: tensor<8x8xf32>) {
  // expected-error@+1 {{'tcp.attention' op expects a mask whose dims are 1 or those of [1, 4, 8, 8], but got [8, 8]}}
  %0 = tcp.attention %q, %q, %q mask %m {scale = 1.0 : f64} : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<8x8xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c4(%q: tensor<1x4x8x16xf32>) {
  // expected-error@+1 {{'tcp.attention' op expects result shape [1, 4, 8, 16], but got [1, 4, 16, 8]}}
  %0 = tcp.attention %q, %q, %q {scale = 1.0 : f64} : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x16x8xf32>
  return
}

// -----

func.func @attention_c5_zero(%q: tensor<1x4x8x16xf32>) {
  // expected-error@+1 {{'tcp.attention' op expects a positive, finite 'softcap', but got 0.000000e+00}}
  %0 = tcp.attention %q, %q, %q {scale = 1.0 : f64, softcap = 0.0 : f64} : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c5_infinite(%q: tensor<1x4x8x16xf32>) {
  // expected-error@+1 {{'tcp.attention' op expects a positive, finite 'softcap', but got INF}}
  %0 = tcp.attention %q, %q, %q {scale = 1.0 : f64, softcap = 0x7FF0000000000000 : f64} : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_c6(%q: tensor<1x4x8x16xf32>) {
  // expected-error@+1 {{'tcp.attention' op expects a positive 'window', but got 0}}
  %0 = tcp.attention %q, %q, %q {causal, scale = 1.0 : f64, window = 0 : i64} : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  return
}
