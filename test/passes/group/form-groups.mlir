// RUN: convoy-opt %s --split-input-file --tcp-form-groups --tcp-verify-groups | filecheck %s

// The end of a bottleneck, bias, residual and relu, is one group.
// CHECK-LABEL: func.func @residual_block(
// CHECK-SAME: %[[X:.*]]: tensor<1x8x8x64xf16>, %[[W:.*]]: tensor<64x3x3x64xf16>, %[[B:.*]]: tensor<1x1x1x64xf16>)
// CHECK: %[[A:.*]] = tcp.isolated_group %[[X]], %[[W]], %[[B]] attributes {anchor = "conv2d", pattern = "conv2d+bias+relu"} {
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<1x8x8x64xf16>, %[[F:.*]]: tensor<64x3x3x64xf16>, %[[V:.*]]: tensor<1x1x1x64xf16>):
// CHECK-NEXT: %[[C:.*]] = tcp.conv2d %[[I]], %[[F]]
// CHECK-NEXT: %[[D:.*]] = tcp.add %[[C]], %[[V]]
// CHECK-NEXT: %[[E:.*]] = tcp.clamp %[[D]]
// CHECK-NEXT: tcp.yield %[[E]]
// CHECK: %[[R:.*]] = tcp.isolated_group %[[A]], %[[W]], %[[B]], %[[X]] attributes {anchor = "conv2d", pattern = "conv2d+bias+residual+relu"} {
// CHECK: return %[[R]]
func.func @residual_block(%x: tensor<1x8x8x64xf16>, %w: tensor<64x3x3x64xf16>, %b: tensor<1x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x3x3x64xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.add %0, %b : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %3 = tcp.conv2d %2, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x3x3x64xf16> -> tensor<1x8x8x64xf16>
  %4 = tcp.add %3, %b : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %5 = tcp.add %x, %4 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %6 = tcp.clamp %5 {min_float = 0.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %6 : tensor<1x8x8x64xf16>
}

// -----

// Both branches are convolutions: the sum is part of the last one's group.
// CHECK-LABEL: func.func @downsample(
// CHECK: %[[D:.*]] = tcp.isolated_group {{.*}} attributes {anchor = "conv2d", pattern = "conv2d"}
// CHECK: tcp.isolated_group %{{.*}}, %{{.*}}, %[[D]] attributes {anchor = "conv2d", pattern = "conv2d+residual+relu"}
func.func @downsample(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %2 = tcp.add %1, %0 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %3 = tcp.clamp %2 {min_float = 0.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %3 : tensor<1x8x8x64xf16>
}

// -----

// A diamond: the residual depends on the group's value through another convolution, so a group with both would read its own
// result. The value has two uses, at which the group ends. The sum is part of the second convolution's group.
// CHECK-LABEL: func.func @diamond(
// CHECK: %[[A:.*]] = tcp.isolated_group {{.*}} attributes {anchor = "conv2d", pattern = "conv2d+relu"}
// CHECK: %[[S:.*]] = tcp.sigmoid %[[A]] {tcp.outside = "the result of clamp has other uses"}
// CHECK: tcp.isolated_group %[[S]], %{{.*}}, %[[A]] attributes {anchor = "conv2d", pattern = "conv2d+residual"}
func.func @diamond(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.clamp %0 {min_float = 0.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %2 = tcp.sigmoid %1 : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %3 = tcp.conv2d %2, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %4 = tcp.add %1, %3 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %4 : tensor<1x8x8x64xf16>
}

// -----

// A value with two uses in the group: swish as separate ops.
// CHECK-LABEL: func.func @own_value(
// CHECK: %[[A:.*]] = tcp.isolated_group %arg0, %arg1 attributes {anchor = "conv2d", pattern = "conv2d+sigmoid+mul_virtual"}
// CHECK: return %[[A]]
func.func @own_value(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.sigmoid %0 : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %2 = tcp.mul %0, %1 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %2 : tensor<1x8x8x64xf16>
}

// -----

// Activations that are in no epilogue are part of the next anchor's group. leaky_relu is its epilogue.
// CHECK-LABEL: func.func @prologue(
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "conv2d", pattern = "relu+conv2d+leaky_relu"}
func.func @prologue(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %2 = tcp.clamp %x {min_float = 0.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %3 = tcp.conv2d %2, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %4 = tcp.leaky_relu %3 {negative_slope = 0.1 : f64} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %4 : tensor<1x8x8x64xf16>
}

// -----

// A scale and a shift of the input are a kernel of their own.
// CHECK-LABEL: func.func @scaled(
// CHECK: tcp.mul {{.*}}tcp.outside = "cuDNN is slow if a convolution scales or shifts its input"
// CHECK: tcp.add {{.*}}tcp.outside
// CHECK: tcp.clamp {{.*}}tcp.outside
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "conv2d", pattern = "conv2d+leaky_relu"}
func.func @scaled(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x64xf16>, %s: tensor<1x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.mul %x, %s : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.add %0, %s : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %3 = tcp.conv2d %2, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %4 = tcp.leaky_relu %3 {negative_slope = 0.1 : f64} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %4 : tensor<1x8x8x64xf16>
}

// -----

// CHECK-LABEL: func.func @tail(
// CHECK: tcp.max_pool {{.*}}tcp.outside = "max_pool: a generated kernel is faster than cuDNN's"
// CHECK: tcp.avg_pool {{.*}}tcp.outside = "avg_pool: a generated kernel is faster than cuDNN's for small windows"
// CHECK: attributes {anchor = "mean", pattern = "mean"}
// CHECK: tcp.reshape {{.*}}tcp.outside = "reshape: a view, needs no kernel"
// CHECK: attributes {anchor = "matmul", pattern = "matmul+bias+cast"}
func.func @tail(%x: tensor<2x8x8x64xf16>, %w: tensor<64x10xf16>, %b: tensor<1x10xf16>) -> tensor<2x10xf32> {
  %0 = tcp.max_pool %x {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x8x8x64xf16> -> tensor<2x4x4x64xf16>
  %1 = tcp.avg_pool %0 {channels_last, ceil_pad = array<i64: 0, 0>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x4x4x64xf16> -> tensor<2x2x2x64xf16>
  %2 = tcp.reduce_mean %1 {dims = array<i64: 1, 2>} : tensor<2x2x2x64xf16> -> tensor<2x1x1x64xf16>
  %3 = tcp.reshape %2 : tensor<2x1x1x64xf16> -> tensor<2x64xf16>
  %4 = tcp.matmul %3, %w : tensor<2x64xf16>, tensor<64x10xf16> -> tensor<2x10xf16>
  %5 = tcp.add %4, %b : tensor<2x10xf16>, tensor<1x10xf16> -> tensor<2x10xf16>
  %6 = tcp.cast %5 : tensor<2x10xf16> -> tensor<2x10xf32>
  return %6 : tensor<2x10xf32>
}

// -----

// CHECK-LABEL: func.func @ranks(
// CHECK: attributes {anchor = "conv1d", pattern = "conv1d+gelu"}
// CHECK: attributes {anchor = "conv3d", pattern = "conv3d+relu_clip"}
func.func @ranks(%x: tensor<1x16x8xbf16>, %w: tensor<8x3x8xbf16>, %y: tensor<1x4x4x4x8xf32>, %v: tensor<8x1x1x1x8xf32>) -> (tensor<1x16x8xbf16>, tensor<1x4x4x4x8xf32>) {
  %0 = tcp.conv1d %x, %w {channels_last, dilation = array<i64: 1>, pad = array<i64: 1, 1>, stride = array<i64: 1>} : tensor<1x16x8xbf16>, tensor<8x3x8xbf16> -> tensor<1x16x8xbf16>
  %1 = tcp.gelu %0 : tensor<1x16x8xbf16> -> tensor<1x16x8xbf16>
  %2 = tcp.conv3d %y, %v {channels_last, dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>} : tensor<1x4x4x4x8xf32>, tensor<8x1x1x1x8xf32> -> tensor<1x4x4x4x8xf32>
  %3 = tcp.clamp %2 {min_float = 0.0 : f32, max_float = 6.0 : f32} : tensor<1x4x4x4x8xf32> -> tensor<1x4x4x4x8xf32>
  return %1, %3 : tensor<1x16x8xbf16>, tensor<1x4x4x4x8xf32>
}

// -----

// A function of the cpu target is not changed.
// CHECK-LABEL: func.func @prepare_weights(
// CHECK-NOT: tcp.isolated_group
// CHECK-NOT: tcp.outside
func.func @prepare_weights(%x: tensor<2x64xf16>, %w: tensor<64x10xf16>) -> tensor<2x10xf16> attributes {tcp.target = "cpu"} {
  %0 = tcp.matmul %x, %w : tensor<2x64xf16>, tensor<64x10xf16> -> tensor<2x10xf16>
  return %0 : tensor<2x10xf16>
}

// -----

// x * tanh(floor(x)): the table refuses floor. One kernel computes all of it, instead of two tensors that the group reads,
// and the relu as well.
// CHECK-LABEL: func.func @prologue_of_a_refused_op(
// CHECK: tcp.floor
// CHECK: tcp.tanh
// CHECK: tcp.mul
// CHECK: tcp.clamp {{.*}} {min_float = 0.000000e+00 : f32, tcp.outside = "the kernel before it computes it, too"}
// CHECK: attributes {anchor = "conv2d", pattern = "conv2d"}
func.func @prologue_of_a_refused_op(%x: tensor<2x8x8x64xf16>, %w: tensor<64x1x1x64xf16>) -> tensor<2x8x8x64xf16> {
  %0 = tcp.floor %x : tensor<2x8x8x64xf16> -> tensor<2x8x8x64xf16>
  %1 = tcp.tanh %0 : tensor<2x8x8x64xf16> -> tensor<2x8x8x64xf16>
  %2 = tcp.mul %x, %1 : tensor<2x8x8x64xf16>, tensor<2x8x8x64xf16> -> tensor<2x8x8x64xf16>
  %3 = tcp.clamp %2 {min_float = 0.0 : f32} : tensor<2x8x8x64xf16> -> tensor<2x8x8x64xf16>
  %4 = tcp.conv2d %3, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x64xf16>, tensor<64x1x1x64xf16> -> tensor<2x8x8x64xf16>
  return %4 : tensor<2x8x8x64xf16>
}

// -----

// The gradients of a convolution, and the sum with the gradient of another branch. C and K may have any alignment.
// CHECK-LABEL: func.func @gradients(
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "dgrad2d", pattern = "dgrad2d+residual"}
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "wgrad2d", pattern = "wgrad2d"}
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "wgrad1d", pattern = "wgrad1d"}
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "dgrad3d", pattern = "dgrad3d"}
func.func @gradients(%g: tensor<1x4x4x64xf16>, %w: tensor<64x3x3x32xf16>, %x: tensor<1x8x8x32xf16>, %g1: tensor<2x6x5xf32>, %x1: tensor<2x8x3xf32>, %g3: tensor<2x4x4x4x5xbf16>, %w3: tensor<5x1x1x1x7xbf16>)
    -> (tensor<1x8x8x32xf16>, tensor<64x3x3x32xf16>, tensor<5x3x3xf32>, tensor<2x4x4x4x7xbf16>) {
  %0 = tcp.conv_backward_data %g, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x4x4x64xf16>, tensor<64x3x3x32xf16> -> tensor<1x8x8x32xf16>
  %1 = tcp.add %0, %x : tensor<1x8x8x32xf16>, tensor<1x8x8x32xf16> -> tensor<1x8x8x32xf16>
  %2 = tcp.conv_backward_filter %x, %g {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x8x8x32xf16>, tensor<1x4x4x64xf16> -> tensor<64x3x3x32xf16>
  %3 = tcp.conv_backward_filter %x1, %g1 {channels_last, dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<2x8x3xf32>, tensor<2x6x5xf32> -> tensor<5x3x3xf32>
  %4 = tcp.conv_backward_data %g3, %w3 {channels_last, dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>} : tensor<2x4x4x4x5xbf16>, tensor<5x1x1x1x7xbf16> -> tensor<2x4x4x4x7xbf16>
  return %1, %2, %3, %4 : tensor<1x8x8x32xf16>, tensor<64x3x3x32xf16>, tensor<5x3x3xf32>, tensor<2x4x4x4x7xbf16>
}

// -----

// A tensor of one number is an operand of the product, and a number in the sum.
// CHECK-LABEL: func.func @splat(
// CHECK-SAME: %[[X:.*]]: tensor<16x16xf16>)
// CHECK: %[[W:.*]] = arith.constant dense<5.000000e-01> : tensor<16x16xf16>
// CHECK: tcp.isolated_group %[[X]], %[[W]] attributes
// CHECK: ^bb0(%[[A:.*]]: tensor<16x16xf16>, %[[B:.*]]: tensor<16x16xf16>):
// CHECK: %[[N:.*]] = arith.constant dense<5.000000e-01>
// CHECK: %[[P:.*]] = tcp.matmul %[[A]], %[[B]]
// CHECK: tcp.add %[[P]], %[[N]]
func.func @splat(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %w = arith.constant dense<0.5> : tensor<16x16xf16>
  %0 = tcp.matmul %x, %w : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf16>
  %1 = tcp.add %0, %w : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf16>
  return %1 : tensor<16x16xf16>
}
