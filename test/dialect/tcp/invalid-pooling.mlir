// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @max_pool_c1_spatial(%x: tensor<1x3xf32>) {
  // expected-error@+1 {{'tcp.max_pool' op expects 1 to 3 numbers in 'kernel', but got 0}}
  %0 = tcp.max_pool %x {dilation = array<i64>, kernel = array<i64>, pad = array<i64>, stride = array<i64>} : tensor<1x3xf32> -> tensor<1x3xf32>
  return
}

// -----

func.func @max_pool_c1_rank(%x: tensor<1x3x8xf32>) {
  // expected-error@+1 {{'tcp.max_pool' op expects input of rank 4, but got 3}}
  %0 = tcp.max_pool %x {dilation = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

func.func @max_pool_c2(%x: tensor<1x3x8xf32>) {
  // expected-error@+1 {{'tcp.max_pool' op expects 1 numbers in 'dilation', but got 2}}
  %0 = tcp.max_pool %x {dilation = array<i64: 1, 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

func.func @max_pool_c3(%x: tensor<1x3x8xf32>) {
  // expected-error@+1 {{'tcp.max_pool' op expects result shape [1, 3, 4], but got [1, 3, 5]}}
  %0 = tcp.max_pool %x {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x3x8xf32> -> tensor<1x3x5xf32>
  return
}

// -----

func.func @max_pool_c4(%x: tensor<1x3x8xf32>) {
  // expected-error@+1 {{'tcp.max_pool' op expects a window that fits into the padded input, but got input [1, 3, 8] and kernel [9]}}
  %0 = tcp.max_pool %x {dilation = array<i64: 1>, kernel = array<i64: 9>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x3x8xf32> -> tensor<1x3x0xf32>
  return
}

// -----

func.func @avg_pool_c1(%x: tensor<1x3x8xf32>) {
  // expected-error@+1 {{'tcp.avg_pool' op expects input of rank 4, but got 3}}
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0, 0>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

func.func @avg_pool_c2_ceil_pad(%x: tensor<1x3x8xf32>) {
  // expected-error@+1 {{'tcp.avg_pool' op expects 1 numbers in 'ceil_pad', but got 2}}
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0, 0>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

func.func @avg_pool_c2_kernel(%x: tensor<1x3x8xf32>) {
  // expected-error@+1 {{'tcp.avg_pool' op expects numbers of at least 1 in 'kernel', but got [0]}}
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0>, kernel = array<i64: 0>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

func.func @avg_pool_c3(%x: tensor<1x3x7xf32>) {
  // expected-error@+1 {{'tcp.avg_pool' op expects result shape [1, 3, 4], but got [1, 3, 3]}}
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x3x7xf32> -> tensor<1x3x3xf32>
  return
}

// -----

func.func @avg_pool_c4(%x: tensor<1x3x8xf32>) {
  // expected-error@+1 {{'tcp.avg_pool' op expects a nonzero 'divisor', but got 0}}
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0>, divisor = 0 : i64, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

func.func @avg_pool_c5(%x: tensor<1x1x3xf32>) {
  // expected-error@+1 {{'tcp.avg_pool' op expects a window that fits into the padded input, but got input [1, 1, 3] and kernel [2]}}
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0>, channels_last, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x1x3xf32> -> tensor<1x0x3xf32>
  return
}

// -----

func.func @max_pool_indices_c1(%a: tensor<1x4x8x1xf32>, %b: tensor<1x4x4xf32>) {
  // expected-error@+1 {{'tcp.max_pool_indices' op expects input of rank 3, but got 4}}
  %0 = tcp.max_pool_indices %a, %b {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x4x8x1xf32>, tensor<1x4x4xf32> -> tensor<1x4x4xi64>
  return
}

// -----

func.func @max_pool_indices_c2(%a: tensor<1x4x8xf32>, %b: tensor<1x4x4xf32>) {
  // expected-error@+1 {{'tcp.max_pool_indices' op expects numbers of at least 1 in 'stride', but got [0]}}
  %0 = tcp.max_pool_indices %a, %b {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 0>} : tensor<1x4x8xf32>, tensor<1x4x4xf32> -> tensor<1x4x4xi64>
  return
}

// -----

func.func @max_pool_indices_c3(%a: tensor<1x4x8xf32>, %b: tensor<1x4x3xf32>) {
  // expected-error@+1 {{'tcp.max_pool_indices' op expects maxima of shape [1, 4, 4], but got [1, 4, 3]}}
  %0 = tcp.max_pool_indices %a, %b {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x4x8xf32>, tensor<1x4x3xf32> -> tensor<1x4x3xi64>
  return
}

// -----

func.func @max_pool_indices_c4(%a: tensor<1x4x1xf32>, %b: tensor<1x4x1xf32>) {
  // expected-error@+1 {{'tcp.max_pool_indices' op expects a window that fits into the padded input, but got input [1, 4, 1] and kernel [2]}}
  %0 = tcp.max_pool_indices %a, %b {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x4x1xf32>, tensor<1x4x1xf32> -> tensor<1x4x1xi64>
  return
}

// -----

func.func @max_pool_backward_c1(%a: tensor<1x4x4xf32>, %b: tensor<1x4x4xi64>) {
  // expected-error@+1 {{'tcp.max_pool_backward' op expects result of rank 3, but got 4}}
  %0 = tcp.max_pool_backward %a, %b {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x4x4xf32>, tensor<1x4x4xi64> -> tensor<1x4x8x1xf32>
  return
}

// -----

func.func @max_pool_backward_c2(%a: tensor<1x4x4xf32>, %b: tensor<1x4x4xi64>) {
  // expected-error@+1 {{'tcp.max_pool_backward' op expects 2 numbers in 'pad', but got 1}}
  %0 = tcp.max_pool_backward %a, %b {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0>, stride = array<i64: 2>} : tensor<1x4x4xf32>, tensor<1x4x4xi64> -> tensor<1x4x8xf32>
  return
}

// -----

func.func @max_pool_backward_c3(%a: tensor<1x4x3xf32>, %b: tensor<1x4x3xi64>) {
  // expected-error@+1 {{'tcp.max_pool_backward' op expects a gradient of shape [1, 4, 4], but got [1, 4, 3]}}
  %0 = tcp.max_pool_backward %a, %b {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x4x3xf32>, tensor<1x4x3xi64> -> tensor<1x4x8xf32>
  return
}

// -----

func.func @max_pool_backward_c3_indices(%a: tensor<1x4x4xf32>, %b: tensor<1x4x3xi64>) {
  // expected-error@+1 {{'tcp.max_pool_backward' op expects indices of the gradient's shape [1, 4, 4], but got [1, 4, 3]}}
  %0 = tcp.max_pool_backward %a, %b {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x4x4xf32>, tensor<1x4x3xi64> -> tensor<1x4x8xf32>
  return
}

// -----

func.func @max_pool_indices_c3_result(%a: tensor<1x4x8xf32>, %b: tensor<1x4x4xf32>) {
  // expected-error@+1 {{'tcp.max_pool_indices' op expects result shape [1, 4, 4], but got [1, 4, 3]}}
  %0 = tcp.max_pool_indices %a, %b {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x4x8xf32>, tensor<1x4x4xf32> -> tensor<1x4x3xi64>
  return
}

// -----

func.func @max_pool_backward_c4(%a: tensor<1x4x1xf32>, %b: tensor<1x4x1xi64>) {
  // expected-error@+1 {{'tcp.max_pool_backward' op expects a window that fits into the padded input, but got input [1, 4, 1] and kernel [2]}}
  %0 = tcp.max_pool_backward %a, %b {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<1x4x1xf32>, tensor<1x4x1xi64> -> tensor<1x4x1xf32>
  return
}
