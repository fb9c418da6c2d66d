// What verifiers check of shapes with `?`: all dims that are numbers.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @add_c1(%a: tensor<?x4xf32>, %b: tensor<?x5xf32>) {
  // expected-error@+1 {{'tcp.add' op expects dims that are equal or 1, but got shapes [?, 4] and [?, 5]}}
  %0 = tcp.add %a, %b : tensor<?x4xf32>, tensor<?x5xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @add_c1_result(%a: tensor<?x4xf32>, %b: tensor<6x1xf32>) {
  // expected-error@+1 {{'tcp.add' op expects result shape [6, 4], but got [5, ?]}}
  %0 = tcp.add %a, %b : tensor<?x4xf32>, tensor<6x1xf32> -> tensor<5x?xf32>
  return
}

// -----

func.func @type(%a: tensor<?xf32>) {
  // expected-error@+2 {{'tcp.tanh' op failed to infer returned types}}
  // expected-error@+1 {{'tcp.tanh' op inferred type(s) 'tensor<?xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  %0 = "tcp.tanh"(%a) : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_c3(%x: tensor<?x8x?xf32>, %w: tensor<4x7x3xf32>) {
  // expected-error@+1 {{'tcp.conv1d' op expects weights with 8 channels (8 input channels in 1 groups), but got 7}}
  %0 = tcp.conv1d %x, %w {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<?x8x?xf32>, tensor<4x7x3xf32> -> tensor<?x4x?xf32>
  return
}

// -----

func.func @conv_c4(%x: tensor<?x8x2xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error@+1 {{'tcp.conv1d' op expects a window that fits into the padded input, but got input [?, 8, 2] and weights [4, 8, 3]}}
  %0 = tcp.conv1d %x, %w {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<?x8x2xf32>, tensor<4x8x3xf32> -> tensor<?x4x0xf32>
  return
}

// -----

func.func @conv_c5(%x: tensor<?x8x16xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error@+1 {{'tcp.conv1d' op expects result shape [?, 4, 14], but got [?, 4, 16]}}
  %0 = tcp.conv1d %x, %w {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<?x8x16xf32>, tensor<4x8x3xf32> -> tensor<?x4x16xf32>
  return
}

// -----

func.func @conv_backward_data_c4(%dy: tensor<?x8x5xf32>, %w: tensor<8x4x3xf32>) {
  // expected-error@+1 {{'tcp.conv_backward_data' op expects a gradient of shape [?, 8, 4], that of the convolution of [?, 4, 8] with [8, 4, 3], without empty dims, but got [?, 8, 5]}}
  %0 = tcp.conv_backward_data %dy, %w {dilation = array<i64: 1>, pad = array<i64: 1, 1>, stride = array<i64: 2>} : tensor<?x8x5xf32>, tensor<8x4x3xf32> -> tensor<?x4x8xf32>
  return
}

// -----

func.func @matmul_c2(%a: tensor<?x4xf32>, %b: tensor<5x?xf32>) {
  // expected-error@+1 {{'tcp.matmul' op expects the last dim of lhs to equal the second last of rhs, but got [?, 4] and [5, ?]}}
  %0 = tcp.matmul %a, %b : tensor<?x4xf32>, tensor<5x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @matmul_c3(%a: tensor<2x?x4xf32>, %b: tensor<3x4x?xf32>) {
  // expected-error@+1 {{'tcp.matmul' op expects batch dims that are equal or 1, but got [2, ?, 4] and [3, 4, ?]}}
  %0 = tcp.matmul %a, %b : tensor<2x?x4xf32>, tensor<3x4x?xf32> -> tensor<?x?x?xf32>
  return
}

// -----

func.func @attention_c2(%q: tensor<?x12x?x64xf32>, %k: tensor<?x5x?x64xf32>) {
  // expected-error@+1 {{'tcp.attention' op expects heads of the key that divide the 12 of the query, but got 5}}
  %0 = tcp.attention %q, %k, %k {scale = 0.125 : f64} : tensor<?x12x?x64xf32>, tensor<?x5x?x64xf32>, tensor<?x5x?x64xf32> -> tensor<?x12x?x64xf32>
  return
}

// -----

func.func @max_pool_c3(%x: tensor<?x4x8xf32>) {
  // expected-error@+1 {{'tcp.max_pool' op expects result shape [?, 4, 4], but got [?, 4, 8]}}
  %0 = tcp.max_pool %x {dilation = array<i64: 1>, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  return
}

// -----

func.func @reduce_sum_c2(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{'tcp.reduce_sum' op expects result shape [1, 4], but got [2, 4]}}
  %0 = tcp.reduce_sum %x {dims = array<i64: 0>} : tensor<?x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<2x6xf32>) {
  // expected-error@+1 {{'tcp.reshape' op expects a result of 12 elements, but got a multiple of 5}}
  %0 = tcp.reshape %x : tensor<2x6xf32> -> tensor<?x5xf32>
  return
}

// -----

func.func @reshape_c1_empty(%x: tensor<2x6xf32>) {
  // expected-error@+1 {{'tcp.reshape' op expects a result of 12 elements, but got 0}}
  %0 = tcp.reshape %x : tensor<2x6xf32> -> tensor<?x0xf32>
  return
}

// -----

func.func @reshape_c1_inferred(%x: tensor<2x6xf32>) {
  // expected-error@+2 {{'tcp.transpose' op expects result shape [?, 4], but got [5, 3]}}
  %1 = tcp.reshape %x : tensor<2x6xf32> -> tensor<4x?xf32>
  %0 = tcp.transpose %1 {perm = array<i64: 1, 0>} : tensor<4x?xf32> -> tensor<5x3xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{'tcp.slice' op expects numbers of at least 1 in 'sizes', or -1 where the input has ?, but got [-1, -1] for [?, 4]}}
  %0 = tcp.slice %x {sizes = array<i64: -1, -1>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{'tcp.slice' op expects a slice inside [?, 4], but got starts [0, 2], sizes [-1, 3], strides [1, 1]}}
  %0 = tcp.slice %x {sizes = array<i64: -1, 3>, starts = array<i64: 0, 2>, strides = array<i64: 1, 1>} : tensor<?x4xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{'tcp.pad' op expects result shape [?, 7], but got [?, 8]}}
  %0 = tcp.pad %x {high = array<i64: 0, 1>, interior = array<i64: 1, 0>, low = array<i64: 0, 2>, value = 0.0 : f64} : tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @broadcast_c1(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{'tcp.broadcast' op expects input dims equal to the result's or 1, but got [?, 4] and [?, 8]}}
  %0 = tcp.broadcast %x : tensor<?x4xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @concat_c2(%a: tensor<?x4xf32>, %b: tensor<?x5xf32>) {
  // expected-error@+1 {{'tcp.concat' op expects inputs with equal dims except dim 0, but got [?, 4] and [?, 5]}}
  %0 = tcp.concat %a, %b {dim = 0 : i64} : tensor<?x4xf32>, tensor<?x5xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @index_select_c2(%x: tensor<?x4xf32>, %i: tensor<3x?xi64>) {
  // expected-error@+1 {{'tcp.index_select' op expects result shape [3, ?, 4], but got [?, ?, 5]}}
  %0 = tcp.index_select %x, %i {dim = 0 : index} : tensor<?x4xf32>, tensor<3x?xi64> -> tensor<?x?x5xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<?x4xf32>, %i: tensor<?x5xi64>) {
  // expected-error@+1 {{'tcp.gather' op expects indices of the input's rank, and at most its size in each dim except dim 0, but got [?, 5] for [?, 4]}}
  %0 = tcp.gather %x, %i {dim = 0 : index} : tensor<?x4xf32>, tensor<?x5xi64> -> tensor<?x5xf32>
  return
}

// -----

func.func @scatter_c3(%x: tensor<?x4xf32>, %i: tensor<?x1xi64>, %u: tensor<?x5xf32>) {
  // expected-error@+1 {{'tcp.scatter' op expects updates of shape [?, 4], but got [?, 5]}}
  %0 = tcp.scatter %x, %i, %u {dim = 0 : index, kind = "set"} : tensor<?x4xf32>, tensor<?x1xi64>, tensor<?x5xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @scan_c5(%h: tensor<?xf32>, %x: tensor<?x?xf32>) {
  // expected-error@+1 {{'tcp.scan' op expects results of types 'tensor<?xf32>', 'tensor<5x?xf32>', but got 'tensor<?xf32>', 'tensor<6x?xf32>'}}
  %0:2 = tcp.scan trips 5 carried(%h : tensor<?xf32>) sliced(%x : tensor<?x?xf32>) {
  ^bb0(%state: tensor<?xf32>, %element: tensor<?xf32>):
    %1 = tcp.add %state, %element : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
    tcp.yield %1, %1 : tensor<?xf32>, tensor<?xf32>
  } -> tensor<?xf32>, tensor<6x?xf32>
  return
}
