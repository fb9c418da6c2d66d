// RUN: convoy-opt %s --tcp-undilate-convs --canonicalize | filecheck %s

// The pixels between two elements along the last spatial dim are channels next to each other. The bias
// is one for each of them, and is added with the channels together.
// CHECK-LABEL: func.func @row(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x24xf16>
// CHECK: %[[C:.*]] = tcp.conv1d %[[X]], %{{.*}} {channels_last, dilation = array<i64: 1>, pad = array<i64: 1, 1>, stride = array<i64: 1>} : tensor<2x8x24xf16>, tensor<64x3x24xf16> -> tensor<2x8x64xf16>
// CHECK: %[[B:.*]] = tcp.add %[[C]], %{{.*}} : tensor<2x8x64xf16>, tensor<1x1x64xf16> -> tensor<2x8x64xf16>
// CHECK: %[[T:.*]] = tcp.tanh %[[B]]
// CHECK: tcp.reshape %[[T]] : tensor<2x8x64xf16> -> tensor<2x32x16xf16>
func.func @row(%x: tensor<2x8x24xf16>, %w: tensor<16x8x24xf16> {tcp.weight = "w"}, %b: tensor<1x1x16xf16> {tcp.weight = "b"}) -> tensor<2x32x16xf16> {
  %0 = tcp.pad %x {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 3, 0>, low = array<i64: 0, 0, 0>, value = 0.0 : f64} : tensor<2x8x24xf16> -> tensor<2x29x24xf16>
  %1 = tcp.conv1d %0, %w {channels_last, dilation = array<i64: 1>, pad = array<i64: 5, 5>, stride = array<i64: 1>} : tensor<2x29x24xf16>, tensor<16x8x24xf16> -> tensor<2x32x16xf16>
  %2 = tcp.add %1, %b : tensor<2x32x16xf16>, tensor<1x1x16xf16> -> tensor<2x32x16xf16>
  %3 = tcp.tanh %2 : tensor<2x32x16xf16> -> tensor<2x32x16xf16>
  return %3 : tensor<2x32x16xf16>
}

// Over two dims cuDNN has the gradient, if pixels are multiples of 16 bytes.
// CHECK-LABEL: func.func @gradient(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x4x16xf16>, %[[W:.*]]: tensor<8x4x4x16xf16>
// CHECK: %[[V:.*]] = tcp.reverse %[[W]] {dims = array<i64: 1, 2>}
// CHECK: %[[F:.*]] = tcp.transpose %[[V]] {perm = array<i64: 3, 1, 2, 0>} : tensor<8x4x4x16xf16> -> tensor<16x4x4x8xf16>
// CHECK: tcp.conv_backward_data %[[X]], %[[F]] {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<2x4x4x16xf16>, tensor<16x4x4x8xf16> -> tensor<2x8x8x8xf16>
func.func @gradient(%x: tensor<2x4x4x16xf16>, %w: tensor<8x4x4x16xf16> {tcp.weight = "w"}) -> tensor<2x8x8x8xf16> {
  %0 = tcp.pad %x {high = array<i64: 0, 0, 0, 0>, interior = array<i64: 0, 1, 1, 0>, low = array<i64: 0, 0, 0, 0>, value = 0.0 : f64} : tensor<2x4x4x16xf16> -> tensor<2x7x7x16xf16>
  %1 = tcp.conv2d %0, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 2, 2, 2, 2>, stride = array<i64: 1, 1>} : tensor<2x7x7x16xf16>, tensor<8x4x4x16xf16> -> tensor<2x8x8x8xf16>
  return %1 : tensor<2x8x8x8xf16>
}

// Otherwise pixels are put in order. The last row and column are none of the image.
// CHECK-LABEL: func.func @image(
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x4x16xf16>
// CHECK: %[[C:.*]] = tcp.conv2d %[[X]], %{{.*}} {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x4x4x16xf16>, tensor<12x2x2x16xf16> -> tensor<1x3x3x12xf16>
// CHECK: %[[S:.*]] = tcp.reshape %[[C]] : tensor<1x3x3x12xf16> -> tensor<1x3x3x2x2x3xf16>
// CHECK: %[[T:.*]] = tcp.transpose %[[S]] {perm = array<i64: 0, 1, 3, 2, 4, 5>}
// CHECK: %[[R:.*]] = tcp.reshape %[[T]] : tensor<1x3x2x3x2x3xf16> -> tensor<1x6x6x3xf16>
// CHECK: tcp.slice %[[R]] {{.*}} tensor<1x6x6x3xf16> -> tensor<1x5x5x3xf16>
func.func @image(%x: tensor<1x4x4x16xf16>, %w: tensor<3x3x3x16xf16> {tcp.weight = "w"}) -> tensor<1x5x5x3xf16> {
  %0 = tcp.pad %x {high = array<i64: 0, 0, 0, 0>, interior = array<i64: 0, 1, 1, 0>, low = array<i64: 0, 0, 0, 0>, value = 0.0 : f64} : tensor<1x4x4x16xf16> -> tensor<1x7x7x16xf16>
  %1 = tcp.conv2d %0, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x7x7x16xf16>, tensor<3x3x3x16xf16> -> tensor<1x5x5x3xf16>
  return %1 : tensor<1x5x5x3xf16>
}

// Stay: other values than zeros, groups, dilation, filters that are no weights, more filters than
// channels where pixels would be copied, and a window that leaves outputs without taps.
// CHECK-LABEL: func.func @dilated(
// CHECK-COUNT-6: tcp.pad
// CHECK-NOT: tcp.slice
// CHECK-NOT: tcp.conv_backward_data
// CHECK: return
func.func @dilated(%x: tensor<1x4x4xf16>, %z: tensor<1x4x4x2xf16>, %v: tensor<2x3x4xf16>, %w: tensor<2x3x4xf16> {tcp.weight = "w"}, %g: tensor<4x3x1xf16> {tcp.weight = "g"}, %i: tensor<3x2x2x2xf16> {tcp.weight = "i"}, %s: tensor<2x1x4xf16> {tcp.weight = "s"}) -> (tensor<1x7x2xf16>, tensor<1x7x4xf16>, tensor<1x7x2xf16>, tensor<1x7x2xf16>, tensor<1x8x8x3xf16>, tensor<1x7x2xf16>) {
  %0 = tcp.pad %x {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 1, 0>, low = array<i64: 0, 0, 0>, value = 1.0 : f64} : tensor<1x4x4xf16> -> tensor<1x7x4xf16>
  %1 = tcp.conv1d %0, %w {channels_last, dilation = array<i64: 1>, pad = array<i64: 1, 1>, stride = array<i64: 1>} : tensor<1x7x4xf16>, tensor<2x3x4xf16> -> tensor<1x7x2xf16>
  %2 = tcp.pad %x {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 1, 0>, low = array<i64: 0, 0, 0>, value = 0.0 : f64} : tensor<1x4x4xf16> -> tensor<1x7x4xf16>
  %3 = tcp.conv1d %2, %g {channels_last, dilation = array<i64: 1>, groups = 4 : i64, pad = array<i64: 1, 1>, stride = array<i64: 1>} : tensor<1x7x4xf16>, tensor<4x3x1xf16> -> tensor<1x7x4xf16>
  %4 = tcp.pad %x {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 1, 0>, low = array<i64: 0, 0, 0>, value = 0.0 : f64} : tensor<1x4x4xf16> -> tensor<1x7x4xf16>
  %5 = tcp.conv1d %4, %w {channels_last, dilation = array<i64: 2>, pad = array<i64: 2, 2>, stride = array<i64: 1>} : tensor<1x7x4xf16>, tensor<2x3x4xf16> -> tensor<1x7x2xf16>
  %6 = tcp.pad %x {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 1, 0>, low = array<i64: 0, 0, 0>, value = 0.0 : f64} : tensor<1x4x4xf16> -> tensor<1x7x4xf16>
  %7 = tcp.conv1d %6, %v {channels_last, dilation = array<i64: 1>, pad = array<i64: 1, 1>, stride = array<i64: 1>} : tensor<1x7x4xf16>, tensor<2x3x4xf16> -> tensor<1x7x2xf16>
  %8 = tcp.pad %z {high = array<i64: 0, 0, 0, 0>, interior = array<i64: 0, 1, 1, 0>, low = array<i64: 0, 0, 0, 0>, value = 0.0 : f64} : tensor<1x4x4x2xf16> -> tensor<1x7x7x2xf16>
  %9 = tcp.conv2d %8, %i {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x7x7x2xf16>, tensor<3x2x2x2xf16> -> tensor<1x8x8x3xf16>
  %10 = tcp.pad %x {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 1, 0>, low = array<i64: 0, 0, 0>, value = 0.0 : f64} : tensor<1x4x4xf16> -> tensor<1x7x4xf16>
  %11 = tcp.conv1d %10, %s {channels_last, dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x7x4xf16>, tensor<2x1x4xf16> -> tensor<1x7x2xf16>
  return %1, %3, %5, %7, %9, %11 : tensor<1x7x2xf16>, tensor<1x7x4xf16>, tensor<1x7x2xf16>, tensor<1x7x2xf16>, tensor<1x8x8x3xf16>, tensor<1x7x2xf16>
}
