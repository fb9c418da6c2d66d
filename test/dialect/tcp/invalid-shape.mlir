// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @reshape_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.reshape' op expects a result of 6 elements, but got 5}}
  %0 = tcp.reshape %x : tensor<2x3xf32> -> tensor<5xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.transpose' op expects 'perm' to be a permutation of 2 dims, but got [0, 0]}}
  %0 = tcp.transpose %x {perm = array<i64: 0, 0>} : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.transpose' op expects result shape [3, 2], but got [2, 3]}}
  %0 = tcp.transpose %x {perm = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c1_count(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.slice' op expects 2 numbers in 'starts', but got 1}}
  %0 = tcp.slice %x {sizes = array<i64: 2, 3>, starts = array<i64: 0>, strides = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c1_minimum(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.slice' op expects numbers of at least 1 in 'strides', but got [1, 0]}}
  %0 = tcp.slice %x {sizes = array<i64: 2, 3>, starts = array<i64: 0, 0>, strides = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.slice' op expects a slice inside [2, 3], but got starts [0, 1], sizes [2, 2], strides [1, 2]}}
  %0 = tcp.slice %x {sizes = array<i64: 2, 2>, starts = array<i64: 0, 1>, strides = array<i64: 1, 2>} : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.slice' op expects result shape [2, 2], but got [2, 3]}}
  %0 = tcp.slice %x {sizes = array<i64: 2, 2>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c1_count(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.pad' op expects 2 numbers in 'low', but got 1}}
  %0 = tcp.pad %x {high = array<i64: 0, 0>, interior = array<i64: 0, 0>, low = array<i64: 0>, value = 0.0 : f64} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_c1_interior(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.pad' op expects numbers of at least 0 in 'interior', but got [0, -1]}}
  %0 = tcp.pad %x {high = array<i64: 0, 0>, interior = array<i64: 0, -1>, low = array<i64: 0, 0>, value = 0.0 : f64} : tensor<2x3xf32> -> tensor<2x1xf32>
  return
}

// -----

func.func @pad_c2_negative(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.pad' op expects non-negative result dims, but got [2, -1]}}
  %0 = tcp.pad %x {high = array<i64: 0, -2>, interior = array<i64: 0, 0>, low = array<i64: 0, -2>, value = 0.0 : f64} : tensor<2x3xf32> -> tensor<2x0xf32>
  return
}

// -----

func.func @pad_c2_result(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.pad' op expects result shape [2, 7], but got [2, 6]}}
  %0 = tcp.pad %x {high = array<i64: 0, 1>, interior = array<i64: 0, 1>, low = array<i64: 0, 1>, value = 0.0 : f64} : tensor<2x3xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @broadcast_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.broadcast' op expects input dims equal to the result's or 1, but got [2, 3] and [4, 3]}}
  %0 = tcp.broadcast %x : tensor<2x3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @reverse_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.reverse' op expects 'dims' sorted, distinct and below 2, but got [1, 1]}}
  %0 = tcp.reverse %x {dims = array<i64: 1, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_c1_empty() {
  // expected-error@+1 {{'tcp.concat' op expected 1 or more operands, but found 0}}
  %0 = "tcp.concat"() {dim = 0 : i64} : () -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_c1_dim(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.concat' op expects 'dim' in 0 to 1, but got 2}}
  %0 = tcp.concat %x, %x {dim = 2 : i64} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_c2_inputs(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+1 {{'tcp.concat' op expects inputs with equal dims except dim 0, but got [2, 3] and [2, 4]}}
  %0 = tcp.concat %x, %y {dim = 0 : i64} : tensor<2x3xf32>, tensor<2x4xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_c2_result(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.concat' op expects result shape [4, 3], but got [2, 3]}}
  %0 = tcp.concat %x, %x {dim = 0 : i64} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  return
}
