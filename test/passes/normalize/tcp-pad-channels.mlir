// RUN: convoy-opt %s --tcp-pad-channels | filecheck %s

// CHECK-LABEL: func.func @three_channels
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]:
func.func @three_channels(%x: tensor<2x8x8x3xf16>, %w: tensor<4x3x3x3xf16>) -> tensor<2x6x6x4xf16> {
  // CHECK-NEXT: %[[XP:.*]] = tcp.pad %[[X]] {high = array<i64: 0, 0, 0, 1>, {{.*}}, value = 0.000000e+00 : f64} : tensor<2x8x8x3xf16> -> tensor<2x8x8x4xf16>
  // CHECK-NEXT: %[[WP:.*]] = tcp.pad %[[W]] {high = array<i64: 0, 0, 0, 1>, {{.*}}, value = 0.000000e+00 : f64} : tensor<4x3x3x3xf16> -> tensor<4x3x3x4xf16>
  // CHECK-NEXT: tcp.conv2d %[[XP]], %[[WP]]
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x3xf16>, tensor<4x3x3x3xf16> -> tensor<2x6x6x4xf16>
  return %0 : tensor<2x6x6x4xf16>
}

// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %y: tensor<2x8x8x3xf64>, %v: tensor<4x3x3x3xf64>, %z: tensor<2x8x8x3xf32>, %u: tensor<3x3x3x1xf32>)
    -> (tensor<2x4x6x6xf32>, tensor<2x6x6x4xf64>, tensor<2x6x6x3xf32>) {
  // CHECK-NOT: tcp.pad
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x6x6xf32>
  %1 = tcp.conv2d %y, %v {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x3xf64>, tensor<4x3x3x3xf64> -> tensor<2x6x6x4xf64>
  %2 = tcp.conv2d %z, %u {channels_last, dilation = array<i64: 1, 1>, groups = 3 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x3xf32>, tensor<3x3x3x1xf32> -> tensor<2x6x6x3xf32>
  return %0, %1, %2 : tensor<2x4x6x6xf32>, tensor<2x6x6x4xf64>, tensor<2x6x6x3xf32>
}
