// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @reduce_c1_order(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'tcp.reduce_sum' op expects 'dims' sorted, distinct and below 3, but got [2, 1]}}
  %0 = tcp.reduce_sum %x {dims = array<i64: 2, 1>} : tensor<2x3x4xf32> -> tensor<2x1x1xf32>
  return
}

// -----

func.func @reduce_c1_range(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'tcp.reduce_mean' op expects 'dims' sorted, distinct and below 3, but got [3]}}
  %0 = tcp.reduce_mean %x {dims = array<i64: 3>} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'tcp.reduce_max' op expects result shape [2, 1, 4], but got [2, 3, 1]}}
  %0 = tcp.reduce_max %x {dims = array<i64: 1>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  return
}

// -----

func.func @cumsum_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.cumsum' op expects 'dim' below the rank 2 of the input, but got 2}}
  %0 = tcp.cumsum %x {dim = 2 : index} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @cumsum_c2(%x: tensor<2x3xi1>) {
  // expected-error@+1 {{'tcp.cumsum' op expects elements that are numbers, but got i1}}
  %0 = tcp.cumsum %x {dim = 1 : index} : tensor<2x3xi1> -> tensor<2x3xi1>
  return
}

// -----

func.func @cumprod_c1(%x: tensor<f32>) {
  // expected-error@+1 {{'tcp.cumprod' op expects 'dim' below the rank 0 of the input, but got 0}}
  %0 = tcp.cumprod %x {dim = 0 : index} : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @cumprod_c2(%x: tensor<2x3xi1>) {
  // expected-error@+1 {{'tcp.cumprod' op expects elements that are numbers, but got i1}}
  %0 = tcp.cumprod %x {dim = 1 : index} : tensor<2x3xi1> -> tensor<2x3xi1>
  return
}

// -----

func.func @softmax_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.softmax' op expects 'dim' in 0 to 1, but got -1}}
  %0 = tcp.softmax %x {dim = -1 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.layer_norm' op expects 'dims' sorted, distinct and below 2, but got [2]}}
  %0 = tcp.layer_norm %x {dims = array<i64: 2>, epsilon = 1.0e-5 : f64} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

