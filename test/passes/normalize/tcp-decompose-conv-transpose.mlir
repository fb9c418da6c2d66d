// RUN: convoy-opt %s --tcp-decompose-conv-transpose | filecheck %s

// The border is the reach of the window less the padding. A negative border crops the input, which
// the convolution cannot do.
// CHECK-LABEL: func.func @stride_groups_output_pad
// CHECK-SAME: %[[X:.*]]: tensor<1x4x5x6xf32>, %[[W:.*]]: tensor<4x3x3x2xf32>
func.func @stride_groups_output_pad(%x: tensor<1x4x5x6xf32>, %w: tensor<4x3x3x2xf32>) -> tensor<1x6x10x13xf32> {
  // CHECK: %[[PAD:.*]] = tcp.pad %[[X]] {high = array<i64: 0, 0, 0, -1>, interior = array<i64: 0, 0, 1, 2>, low = array<i64: 0, 0, 0, -1>, value = 0.000000e+00 : f64} : tensor<1x4x5x6xf32> -> tensor<1x4x9x14xf32>
  // CHECK: %[[G:.*]] = tcp.reshape %[[W]] : tensor<4x3x3x2xf32> -> tensor<2x2x3x3x2xf32>
  // CHECK: %[[T:.*]] = tcp.transpose %[[G]] {perm = array<i64: 0, 2, 1, 3, 4>} : tensor<2x2x3x3x2xf32> -> tensor<2x3x2x3x2xf32>
  // CHECK: %[[F:.*]] = tcp.reshape %[[T]] : tensor<2x3x2x3x2xf32> -> tensor<6x2x3x2xf32>
  // CHECK: %[[R:.*]] = tcp.reverse %[[F]] {dims = array<i64: 2, 3>}
  // CHECK: %[[Y:.*]] = tcp.conv2d %[[PAD]], %[[R]] {dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 1, 2, 0, 0>, stride = array<i64: 1, 1>}
  // CHECK: return %[[Y]]
  %y = tcp.conv_transpose %x, %w {dilation = array<i64: 1, 1>, groups = 2 : i64, output_pad = array<i64: 1, 1>, pad = array<i64: 1, 1, 2, 3>, stride = array<i64: 2, 3>}
      : tensor<1x4x5x6xf32>, tensor<4x3x3x2xf32> -> tensor<1x6x10x13xf32>
  return %y : tensor<1x6x10x13xf32>
}

// CHECK-LABEL: func.func @rank_1
func.func @rank_1(%x: tensor<1x4x8xf32>, %w: tensor<4x2x2xf32>) -> tensor<1x2x16xf32> {
  // CHECK: tcp.conv1d
  %y = tcp.conv_transpose %x, %w {dilation = array<i64: 1>, output_pad = array<i64: 0>, pad = array<i64: 0, 0>, stride = array<i64: 2>}
      : tensor<1x4x8xf32>, tensor<4x2x2xf32> -> tensor<1x2x16xf32>
  return %y : tensor<1x2x16xf32>
}

// CHECK-LABEL: func.func @rank_3_dilated
func.func @rank_3_dilated(%x: tensor<1x2x4x4x4xf32>, %w: tensor<2x1x2x2x2xf32>) -> tensor<1x1x6x5x5xf32> {
  // CHECK: tcp.conv3d {{.*}} {dilation = array<i64: 2, 1, 1>, pad = array<i64: 2, 2, 1, 1, 1, 1>, stride = array<i64: 1, 1, 1>}
  %y = tcp.conv_transpose %x, %w {dilation = array<i64: 2, 1, 1>, output_pad = array<i64: 0, 0, 0>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>}
      : tensor<1x2x4x4x4xf32>, tensor<2x1x2x2x2xf32> -> tensor<1x1x6x5x5xf32>
  return %y : tensor<1x1x6x5x5xf32>
}
