// Reasons why ops are outside of groups, from the table and from the form of cuDNN's graphs. One function per reason.
// RUN: convoy-opt %s --tcp-form-groups --tcp-verify-groups | filecheck %s

// CHECK-LABEL: func.func @dtype(
// CHECK: tcp.conv2d {{.*}}tcp.outside = "conv2d: cuDNN supports f16, bf16 or f32, not f64"
func.func @dtype(%x: tensor<1x8x8x64xf64>, %w: tensor<64x1x1x64xf64>) -> tensor<1x8x8x64xf64> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf64>, tensor<64x1x1x64xf64> -> tensor<1x8x8x64xf64>
  return %0 : tensor<1x8x8x64xf64>
}

// CHECK-LABEL: func.func @layout(
// CHECK: tcp.conv2d {{.*}}tcp.outside = "conv2d: cuDNN supports channels_last; it would convert channels_first in each call"
// CHECK: tcp.reduce_mean {{.*}}tcp.outside = "mean: cuDNN supports channels_last; it would convert channels_first in each call"
func.func @layout(%x: tensor<1x64x8x8xf16>, %w: tensor<64x64x1x1xf16>) -> tensor<1x64x1x1xf16> {
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x64x8x8xf16>, tensor<64x64x1x1xf16> -> tensor<1x64x8x8xf16>
  %1 = tcp.reduce_mean %0 {dims = array<i64: 2, 3>} : tensor<1x64x8x8xf16> -> tensor<1x64x1x1xf16>
  return %1 : tensor<1x64x1x1xf16>
}

// CHECK-LABEL: func.func @rank(
// CHECK: tcp.matmul {{.*}}tcp.outside = "matmul: cuDNN supports rank 3, not 4"
func.func @rank(%x: tensor<2x3x4x8xf16>, %w: tensor<2x3x8x4xf16>) -> tensor<2x3x4x4xf16> {
  %0 = tcp.matmul %x, %w : tensor<2x3x4x8xf16>, tensor<2x3x8x4xf16> -> tensor<2x3x4x4xf16>
  return %0 : tensor<2x3x4x4xf16>
}

// CHECK-LABEL: func.func @channel_groups(
// CHECK: pattern = "conv2d+bias"
// CHECK: tcp.elu {{.*}}tcp.outside = "elu with conv2d: a depthwise convolution without it has better engines (engine 8 uses no tensor cores)"
func.func @channel_groups(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x1xf16>, %b: tensor<1x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x1xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.add %0, %b : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %2 = tcp.elu %1 {alpha = 1.0 : f64} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %2 : tensor<1x8x8x64xf16>
}

// CHECK-LABEL: func.func @gelu_f32(
// CHECK: pattern = "conv2d+bias"
// CHECK: tcp.gelu {{.*}}tcp.outside = "gelu with conv2d: the kernel for a depthwise convolution has no GELU in f32, and without it cuDNN has better engines"
func.func @gelu_f32(%x: tensor<1x8x8x64xf32>, %w: tensor<64x1x1x1xf32>, %b: tensor<1x1x1x64xf32>) -> tensor<1x8x8x64xf32> {
  %0 = tcp.conv2d %x, %w {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf32>, tensor<64x1x1x1xf32> -> tensor<1x8x8x64xf32>
  %1 = tcp.add %0, %b : tensor<1x8x8x64xf32>, tensor<1x1x1x64xf32> -> tensor<1x8x8x64xf32>
  %2 = tcp.gelu %1 : tensor<1x8x8x64xf32> -> tensor<1x8x8x64xf32>
  return %2 : tensor<1x8x8x64xf32>
}

// CHECK-LABEL: func.func @channel_bytes(
// CHECK: tcp.clamp {{.*}}tcp.outside = "prologue_relu with conv2d: cuDNN's guide requires channels that are a multiple of 16 bytes for operations before an anchor"
// CHECK: pattern = "conv2d"
func.func @channel_bytes(%x: tensor<1x8x8x12xf16>, %w: tensor<64x1x1x12xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.clamp %x {min_float = 0.0 : f32} : tensor<1x8x8x12xf16> -> tensor<1x8x8x12xf16>
  %1 = tcp.conv2d %0, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x12xf16>, tensor<64x1x1x12xf16> -> tensor<1x8x8x64xf16>
  return %1 : tensor<1x8x8x64xf16>
}

// CHECK-LABEL: func.func @roles(
// CHECK: tcp.clamp {{.*}}tcp.outside = "clamp with conv2d: cuDNN's relu is meant for a lower bound of 0"
func.func @roles(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.clamp %0 {min_float = -1.0 : f32, max_float = 1.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %1 : tensor<1x8x8x64xf16>
}

// CHECK-LABEL: func.func @constant(
// CHECK: tcp.mul {{.*}}tcp.outside = "mul: a constant operand that is not a scalar"
func.func @constant(%x: tensor<1x8x8x64xf16>, %w: tensor<2x1x1x64xf16>) -> tensor<1x8x8x2xf16> {
  %c = arith.constant dense<[[[[2.0, 3.0]]]]> : tensor<1x1x1x2xf16>
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<2x1x1x64xf16> -> tensor<1x8x8x2xf16>
  %1 = tcp.mul %0, %c : tensor<1x8x8x2xf16>, tensor<1x1x1x2xf16> -> tensor<1x8x8x2xf16>
  return %1 : tensor<1x8x8x2xf16>
}

// CHECK-LABEL: func.func @second_operand(
// CHECK: tcp.div {{.*}}tcp.outside = "div: the value computed in the graph must be the first operand"
func.func @second_operand(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.div %x, %0 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %1 : tensor<1x8x8x64xf16>
}

// CHECK-LABEL: func.func @broadcast_of_the_value(
// CHECK: tcp.add {{.*}}tcp.outside = "add: broadcasts the value computed in the graph"
func.func @broadcast_of_the_value(%x: tensor<1x8x8x64xf16>, %w: tensor<1x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x1xf16>
  %1 = tcp.add %0, %x : tensor<1x8x8x1xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %1 : tensor<1x8x8x64xf16>
}

// CHECK-LABEL: func.func @ternary(
// CHECK: tcp.select {{.*}}tcp.outside = "select: expects floats"
func.func @ternary(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x64xf16>, %c: tensor<1x8x8x64xi1>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.select %c, %0, %x : tensor<1x8x8x64xi1>, tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %1 : tensor<1x8x8x64xf16>
}

// CHECK-LABEL: func.func @casts(
// CHECK: pattern = "matmul+cast"
// CHECK: tcp.clamp {{.*}}tcp.outside = "cast: a cast must be the last op of the group"
// CHECK: pattern = "matmul"
// CHECK: tcp.cast {{.*}}tcp.outside = "cast: expects a float result"
func.func @casts(%x: tensor<4x8xf16>, %w: tensor<8x8xf16>) -> (tensor<4x8xf32>, tensor<4x8xi32>) {
  %0 = tcp.matmul %x, %w : tensor<4x8xf16>, tensor<8x8xf16> -> tensor<4x8xf16>
  %1 = tcp.cast %0 : tensor<4x8xf16> -> tensor<4x8xf32>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = tcp.matmul %x, %w : tensor<4x8xf16>, tensor<8x8xf16> -> tensor<4x8xf16>
  %4 = tcp.cast %3 : tensor<4x8xf16> -> tensor<4x8xi32>
  return %2, %4 : tensor<4x8xf32>, tensor<4x8xi32>
}

// CHECK-LABEL: func.func @before_with_other_uses(
// CHECK: tcp.clamp {{.*}}tcp.outside = "its result is not only used by conv2d"
func.func @before_with_other_uses(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x64xf16>) -> (tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16>) {
  %0 = tcp.clamp %x {min_float = 0.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.conv2d %0, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  return %0, %1 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16>
}

// CHECK-LABEL: func.func @pools(
// CHECK: tcp.max_pool {{.*}}tcp.outside = "max_pool: cuDNN has no pooling with dilation"
// CHECK: tcp.avg_pool {{.*}}tcp.outside = "avg_pool: cuDNN has no pooling with a custom divisor"
// CHECK: tcp.avg_pool {{.*}}tcp.outside = "avg_pool: cuDNN counts all of the padding or none, but ceil_mode requires counting a part"
// CHECK: tcp.reduce_mean {{.*}}tcp.outside = "reduce_mean: cuDNN supports the mean over all spatial dims, not over other dims"
// CHECK: tcp.avg_pool {{.*}}tcp.outside = "avg_pool: a generated kernel is faster than cuDNN's for small windows"
// CHECK: tcp.clamp {{.*}}tcp.outside = "elementwise, not next to an anchor"
// CHECK: tcp.transpose {{.*}}tcp.outside = "transpose: cuDNN's graphs have no such operation"
// CHECK: tcp.clamp {{.*}}tcp.outside = "the support table has no row for prologue_relu with avg_pool"
// CHECK: pattern = "avg_pool"
// CHECK: tcp.sigmoid {{.*}}tcp.outside = "elementwise, not next to an anchor"
func.func @pools(%x: tensor<1x8x8x64xf16>) -> (tensor<1x6x6x64xf16>, tensor<1x4x4x64xf16>, tensor<1x5x4x64xf16>, tensor<1x8x1x64xf16>, tensor<1x4x4x64xf16>, tensor<1x64x4x4xf16>, tensor<1x1x1x64xf16>, tensor<1x8x8x64xf16>) {
  %0 = tcp.max_pool %x {channels_last, dilation = array<i64: 2, 2>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16> -> tensor<1x6x6x64xf16>
  %1 = tcp.avg_pool %x {channels_last, ceil_pad = array<i64: 0, 0>, divisor = 3 : i64, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<1x8x8x64xf16> -> tensor<1x4x4x64xf16>
  %2 = tcp.avg_pool %x {channels_last, ceil_pad = array<i64: 1, 0>, count_include_pad, kernel = array<i64: 2, 2>, pad = array<i64: 1, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<1x8x8x64xf16> -> tensor<1x5x4x64xf16>
  %3 = tcp.reduce_mean %x {dims = array<i64: 2>} : tensor<1x8x8x64xf16> -> tensor<1x8x1x64xf16>
  %4 = tcp.avg_pool %x {ceil_pad = array<i64: 0, 0>, channels_last, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<1x8x8x64xf16> -> tensor<1x4x4x64xf16>
  %5 = tcp.clamp %4 {min_float = 0.0 : f32} : tensor<1x4x4x64xf16> -> tensor<1x4x4x64xf16>
  %6 = tcp.transpose %5 {perm = array<i64: 0, 3, 1, 2>} : tensor<1x4x4x64xf16> -> tensor<1x64x4x4xf16>
  %7 = tcp.clamp %x {min_float = 0.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %8 = tcp.avg_pool %7 {ceil_pad = array<i64: 0, 0>, channels_last, kernel = array<i64: 8, 8>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 8, 8>} : tensor<1x8x8x64xf16> -> tensor<1x1x1x64xf16>
  %9 = tcp.sigmoid %x : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %0, %1, %2, %3, %5, %6, %8, %9 : tensor<1x6x6x64xf16>, tensor<1x4x4x64xf16>, tensor<1x5x4x64xf16>, tensor<1x8x1x64xf16>, tensor<1x4x4x64xf16>, tensor<1x64x4x4xf16>, tensor<1x1x1x64xf16>, tensor<1x8x8x64xf16>
}

// CHECK-LABEL: func.func @gradients_with_other_padding_at_each_side(
// CHECK: tcp.conv_backward_filter {{.*}}tcp.outside = "conv_backward_filter: engines of cuDNN 9.19 compute wrong gradients with padding that differs between the two sides"
// CHECK: tcp.conv_backward_data {{.*}}tcp.outside = "conv_backward_data: engines of cuDNN 9.19 compute wrong gradients
func.func @gradients_with_other_padding_at_each_side(%x: tensor<1x7x7x64xf16>, %g: tensor<1x7x7x64xf16>, %w: tensor<64x2x2x64xf16>) -> (tensor<64x2x2x64xf16>, tensor<1x7x7x64xf16>) {
  %0 = tcp.conv_backward_filter %x, %g {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 1, 0, 1>, stride = array<i64: 1, 1>} : tensor<1x7x7x64xf16>, tensor<1x7x7x64xf16> -> tensor<64x2x2x64xf16>
  %1 = tcp.conv_backward_data %g, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 0, 1, 0>, stride = array<i64: 1, 1>} : tensor<1x7x7x64xf16>, tensor<64x2x2x64xf16> -> tensor<1x7x7x64xf16>
  return %0, %1 : tensor<64x2x2x64xf16>, tensor<1x7x7x64xf16>
}
