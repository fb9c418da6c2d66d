// RUN: convoy-opt %s --tcp-trim-windows --split-input-file | filecheck %s

// All but one tap read only padding in rows, and none in columns.

// CHECK-LABEL: func.func @rows
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x6x30xf32>, %[[W:.*]]: tensor<5x4x3x3xf32>
// CHECK:         %[[V:.*]] = tcp.slice %[[W]] {sizes = array<i64: 5, 4, 1, 3>, starts = array<i64: 0, 0, 1, 0>, strides = array<i64: 1, 1, 1, 1>}
// CHECK:         tcp.conv2d %[[X]], %[[V]] {dilation = array<i64: 8, 8>, pad = array<i64: 0, 0, 8, 8>, stride = array<i64: 1, 1>}
func.func @rows(%x: tensor<1x4x6x30xf32>, %w: tensor<5x4x3x3xf32>) -> tensor<1x5x6x30xf32> attributes {tcp.target = "cpu"} {
  %y = tcp.conv2d %x, %w {dilation = array<i64: 8, 8>, pad = array<i64: 8, 8, 8, 8>, stride = array<i64: 1, 1>}
      : tensor<1x4x6x30xf32>, tensor<5x4x3x3xf32> -> tensor<1x5x6x30xf32>
  return %y : tensor<1x5x6x30xf32>
}

// -----

// Channels-last weights. The last tap reads the input for two outputs.

// CHECK-LABEL: func.func @channels_last
// CHECK:         %[[V:.*]] = tcp.slice {{.*}} {sizes = array<i64: 5, 2, 4>, starts = array<i64: 0, 1, 0>
// CHECK:         tcp.conv1d %{{.*}}, %[[V]] {channels_last, dilation = array<i64: 5>, pad = array<i64: 1, 4>
func.func @channels_last(%x: tensor<1x6x4xf32>, %w: tensor<5x3x4xf32>) -> tensor<1x6x5xf32> attributes {tcp.target = "cpu"} {
  %y = tcp.conv1d %x, %w {channels_last, dilation = array<i64: 5>, pad = array<i64: 6, 4>, stride = array<i64: 1>}
      : tensor<1x6x4xf32>, tensor<5x3x4xf32> -> tensor<1x6x5xf32>
  return %y : tensor<1x6x5xf32>
}
