// RUN: convoy-opt %s --tcp-flatten-patches | filecheck %s

// The elements of a patch are in the order of the input before the transpose.
// CHECK-LABEL: func.func @planes(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3x32x16xf16>, %[[W:.*]]: tensor<64x8x8x3xf16>
// CHECK-DAG: %[[F:.*]] = tcp.transpose %[[W]] {perm = array<i64: 0, 3, 1, 2>} : tensor<64x8x8x3xf16> -> tensor<64x3x8x8xf16>
// CHECK-DAG: %[[V:.*]] = tcp.reshape %[[F]] : tensor<64x3x8x8xf16> -> tensor<64x1x1x192xf16>
// CHECK-DAG: %[[S:.*]] = tcp.reshape %[[X]] : tensor<2x3x32x16xf16> -> tensor<2x3x4x8x2x8xf16>
// CHECK-DAG: %[[T:.*]] = tcp.transpose %[[S]] {perm = array<i64: 0, 2, 4, 1, 3, 5>} : tensor<2x3x4x8x2x8xf16> -> tensor<2x4x2x3x8x8xf16>
// CHECK-DAG: %[[P:.*]] = tcp.reshape %[[T]] : tensor<2x4x2x3x8x8xf16> -> tensor<2x4x2x192xf16>
// CHECK: tcp.conv2d %[[P]], %[[V]] {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x4x2x192xf16>, tensor<64x1x1x192xf16> -> tensor<2x4x2x64xf16>
func.func @planes(%x: tensor<2x3x32x16xf16>, %w: tensor<64x8x8x3xf16> {tcp.weight = "w"}) -> tensor<2x4x2x64xf16> {
  %0 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<2x3x32x16xf16> -> tensor<2x32x16x3xf16>
  %1 = tcp.conv2d %0, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 8, 8>} : tensor<2x32x16x3xf16>, tensor<64x8x8x3xf16> -> tensor<2x4x2x64xf16>
  return %1 : tensor<2x4x2x64xf16>
}

// Elements behind the last patch go, and 147 elements are padded to a multiple of 16 bytes.
// CHECK-LABEL: func.func @pixels(
// CHECK-SAME:    %[[X:.*]]: tensor<2x16x15x3xf16>, %[[W:.*]]: tensor<64x7x7x3xf16>
// CHECK-DAG: %[[F:.*]] = tcp.reshape %[[W]] : tensor<64x7x7x3xf16> -> tensor<64x1x1x147xf16>
// CHECK-DAG: %[[V:.*]] = tcp.pad %[[F]] {high = array<i64: 0, 0, 0, 5>, {{.*}} -> tensor<64x1x1x152xf16>
// CHECK-DAG: %[[K:.*]] = tcp.slice %[[X]] {sizes = array<i64: 2, 14, 14, 3>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}
// CHECK-DAG: %[[S:.*]] = tcp.reshape %[[K]] : tensor<2x14x14x3xf16> -> tensor<2x2x7x2x7x3xf16>
// CHECK-DAG: %[[T:.*]] = tcp.transpose %[[S]] {perm = array<i64: 0, 1, 3, 2, 4, 5>}
// CHECK-DAG: %[[R:.*]] = tcp.reshape %[[T]] : tensor<2x2x2x7x7x3xf16> -> tensor<2x2x2x147xf16>
// CHECK-DAG: %[[P:.*]] = tcp.pad %[[R]] {high = array<i64: 0, 0, 0, 5>, {{.*}} -> tensor<2x2x2x152xf16>
// CHECK: tcp.conv2d %[[P]], %[[V]]
func.func @pixels(%x: tensor<2x16x15x3xf16>, %w: tensor<64x7x7x3xf16> {tcp.weight = "w"}) -> tensor<2x2x2x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 7, 7>} : tensor<2x16x15x3xf16>, tensor<64x7x7x3xf16> -> tensor<2x2x2x64xf16>
  return %0 : tensor<2x2x2x64xf16>
}

// Filters that are no weights, and channels-first convolutions, remain.
// CHECK-LABEL: func.func @left_alone(
// CHECK-NOT: tcp.reshape
func.func @left_alone(%x: tensor<2x16x16x3xf16>, %w: tensor<64x8x8x3xf16>, %y: tensor<2x3x16x16xf16>, %v: tensor<64x3x8x8xf16> {tcp.weight = "v"}) -> (tensor<2x2x2x64xf16>, tensor<2x64x2x2xf16>) {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 8, 8>} : tensor<2x16x16x3xf16>, tensor<64x8x8x3xf16> -> tensor<2x2x2x64xf16>
  %1 = tcp.conv2d %y, %v {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 8, 8>} : tensor<2x3x16x16xf16>, tensor<64x3x8x8xf16> -> tensor<2x64x2x2xf16>
  return %0, %1 : tensor<2x2x2x64xf16>, tensor<2x64x2x2xf16>
}
