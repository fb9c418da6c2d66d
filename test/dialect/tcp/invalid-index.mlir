// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @index_select_c1(%x: tensor<5x4xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'tcp.index_select' op expects 'dim' below the rank 2 of the input, but got 2}}
  %0 = tcp.index_select %x, %i {dim = 2 : index} : tensor<5x4xf32>, tensor<3xi64> -> tensor<5x3xf32>
  return
}

// -----

func.func @index_select_c1_negative(%x: tensor<5x4xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'tcp.index_select' op expects 'dim' below the rank 2 of the input, but got -1}}
  %0 = tcp.index_select %x, %i {dim = -1 : index} : tensor<5x4xf32>, tensor<3xi64> -> tensor<5x3xf32>
  return
}

// -----

func.func @index_select_c2(%x: tensor<5x4xf32>, %i: tensor<2x3xi64>) {
  // expected-error@+1 {{'tcp.index_select' op expects result shape [2, 3, 4], but got [6, 4]}}
  %0 = tcp.index_select %x, %i {dim = 0 : index} : tensor<5x4xf32>, tensor<2x3xi64> -> tensor<6x4xf32>
  return
}

// -----

func.func @index_select_of_float(%x: tensor<5x4xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{'tcp.index_select' op operand #1 must be}}
  %0 = tcp.index_select %x, %i {dim = 0 : index} : tensor<5x4xf32>, tensor<3xf32> -> tensor<3x4xf32>
  return
}

// -----

func.func @gather_c1(%x: tensor<5x4xf32>, %i: tensor<5x3xi32>) {
  // expected-error@+1 {{'tcp.gather' op expects 'dim' below the rank 2 of the input, but got 3}}
  %0 = tcp.gather %x, %i {dim = 3 : index} : tensor<5x4xf32>, tensor<5x3xi32> -> tensor<5x3xf32>
  return
}

// -----

func.func @gather_c2_rank(%x: tensor<5x4xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{'tcp.gather' op expects indices of the input's rank, and at most its size in each dim except dim 1, but got [3] for [5, 4]}}
  %0 = tcp.gather %x, %i {dim = 1 : index} : tensor<5x4xf32>, tensor<3xi32> -> tensor<3xf32>
  return
}

// -----

func.func @gather_c2_size(%x: tensor<5x4xf32>, %i: tensor<6x3xi32>) {
  // expected-error@+1 {{'tcp.gather' op expects indices of the input's rank, and at most its size in each dim except dim 1, but got [6, 3] for [5, 4]}}
  %0 = tcp.gather %x, %i {dim = 1 : index} : tensor<5x4xf32>, tensor<6x3xi32> -> tensor<6x3xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<5x4xf32>, %i: tensor<5x3xi32>) {
  // expected-error@+1 {{'tcp.gather' op expects result shape [5, 3], but got [5, 4]}}
  %0 = tcp.gather %x, %i {dim = 1 : index} : tensor<5x4xf32>, tensor<5x3xi32> -> tensor<5x4xf32>
  return
}

// -----

func.func @gather_of_other_type(%x: tensor<5x4xf32>, %i: tensor<5x3xi32>) {
  // expected-error@+1 {{'tcp.gather' op failed to verify that all of {input, output} have same element type}}
  %0 = tcp.gather %x, %i {dim = 1 : index} : tensor<5x4xf32>, tensor<5x3xi32> -> tensor<5x3xf16>
  return
}

// -----

func.func @scatter_c1(%x: tensor<5x4xf32>, %i: tensor<3x4xi64>, %u: tensor<3x4xf32>) {
  // expected-error@+1 {{'tcp.scatter' op expects 'dim' below the rank 2 of the input, but got 2}}
  %0 = tcp.scatter %x, %i, %u {dim = 2 : index, kind = "set"} : tensor<5x4xf32>, tensor<3x4xi64>, tensor<3x4xf32> -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_c2(%x: tensor<5x4xf32>, %i: tensor<3x2xi64>, %u: tensor<3x4xf32>) {
  // expected-error@+1 {{'tcp.scatter' op expects indices of the input's rank, whose dims except dim 0 are 1 or the input's, but got [3, 2] for [5, 4]}}
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "set"} : tensor<5x4xf32>, tensor<3x2xi64>, tensor<3x4xf32> -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_c2_rank(%x: tensor<5x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) {
  // expected-error@+1 {{'tcp.scatter' op expects indices of the input's rank, whose dims except dim 0 are 1 or the input's, but got [3] for [5, 4]}}
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "set"} : tensor<5x4xf32>, tensor<3xi64>, tensor<3x4xf32> -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_c3(%x: tensor<5x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x1xf32>) {
  // expected-error@+1 {{'tcp.scatter' op expects updates of shape [3, 4], but got [3, 1]}}
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "set"} : tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x1xf32> -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_c4(%x: tensor<5x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) {
  // expected-error@+1 {{'tcp.scatter' op expects result shape [5, 4], but got [3, 4]}}
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "set"} : tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32> -> tensor<3x4xf32>
  return
}

// -----

func.func @scatter_c5(%x: tensor<5x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) {
  // expected-error@+1 {{'tcp.scatter' op expects 'kind' to be set, add, mul, max or min, but got mean}}
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "mean"} : tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32> -> tensor<5x4xf32>
  return
}

// -----

func.func @scatter_of_other_type(%x: tensor<5x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf16>) {
  // expected-error@+1 {{'tcp.scatter' op failed to verify that all of {input, updates, output} have same element type}}
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "set"} : tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf16> -> tensor<5x4xf32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error@+1 {{'tcp.iota' op expects 'dim' below the rank 1, but got 1}}
  %0 = tcp.iota {dim = 1 : index} : tensor<4xi32>
  return
}

// -----

func.func @argsort_c1(%x: tensor<f32>) {
  // expected-error@+1 {{'tcp.argsort' op expects an input of rank at least 1, but got 0}}
  %0 = tcp.argsort %x : tensor<f32> -> tensor<i64>
  return
}

// -----

func.func @argsort_c2(%x: tensor<2147483648xi8>) {
  // expected-error@+1 {{'tcp.argsort' op expects less than 2^31 elements in the last dim, but got 2147483648}}
  %0 = tcp.argsort %x : tensor<2147483648xi8> -> tensor<2147483648xi64>
  return
}
