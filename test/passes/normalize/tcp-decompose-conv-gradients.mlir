// RUN: convoy-opt %s --tcp-decompose-conv-gradients | filecheck %s

// The output padding is what the stride leaves of the input.
// CHECK-LABEL: func.func @data
// CHECK-SAME: %[[G:.*]]: tensor<1x8x4x4xf32>, %[[W:.*]]: tensor<8x2x3x3xf32>
func.func @data(%g: tensor<1x8x4x4xf32>, %w: tensor<8x2x3x3xf32>) -> tensor<1x4x8x7xf32> {
  // CHECK: %[[X:.*]] = tcp.conv_transpose %[[G]], %[[W]] {dilation = array<i64: 1, 1>, groups = 2 : i64, output_pad = array<i64: 1, 0>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
  // CHECK: return %[[X]]
  %0 = tcp.conv_backward_data %g, %w {dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
      : tensor<1x8x4x4xf32>, tensor<8x2x3x3xf32> -> tensor<1x4x8x7xf32>
  return %0 : tensor<1x4x8x7xf32>
}

// Stride and dilation change places. The last column of the input is in no window.
// CHECK-LABEL: func.func @filter
// CHECK-SAME: %[[X:.*]]: tensor<2x4x9x10xf32>, %[[G:.*]]: tensor<2x6x4x4xf32>
func.func @filter(%x: tensor<2x4x9x10xf32>, %g: tensor<2x6x4x4xf32>) -> tensor<6x2x3x3xf32> {
  // CHECK: %[[U:.*]] = tcp.slice %[[X]] {sizes = array<i64: 2, 4, 9, 9>,
  // CHECK: %[[I0:.*]] = tcp.reshape %[[U]] : tensor<2x4x9x9xf32> -> tensor<1x2x2x2x9x9xf32>
  // CHECK: %[[I1:.*]] = tcp.transpose %[[I0]] {perm = array<i64: 3, 0, 2, 1, 4, 5>}
  // CHECK: %[[I:.*]] = tcp.reshape %[[I1]] : tensor<2x1x2x2x9x9xf32> -> tensor<2x4x9x9xf32>
  // CHECK: %[[O0:.*]] = tcp.reshape %[[G]] : tensor<2x6x4x4xf32> -> tensor<1x2x2x3x4x4xf32>
  // CHECK: %[[O1:.*]] = tcp.transpose %[[O0]] {perm = array<i64: 0, 2, 3, 1, 4, 5>}
  // CHECK: %[[O:.*]] = tcp.reshape %[[O1]] : tensor<1x2x3x2x4x4xf32> -> tensor<6x2x4x4xf32>
  // CHECK: %[[C:.*]] = tcp.conv2d %[[I]], %[[O]] {dilation = array<i64: 2, 2>, groups = 2 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : {{.*}} -> tensor<2x6x3x3xf32>
  // CHECK: %[[Y:.*]] = tcp.transpose %[[C]] {perm = array<i64: 1, 0, 2, 3>}
  // CHECK: return %[[Y]]
  %0 = tcp.conv_backward_filter %x, %g {dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : tensor<2x4x9x10xf32>, tensor<2x6x4x4xf32> -> tensor<6x2x3x3xf32>
  return %0 : tensor<6x2x3x3xf32>
}

// 4 images of 4096 places are two sums of 8192 products in f32.
// CHECK-LABEL: func.func @long_sums
func.func @long_sums(%x: tensor<4x2x4096xf16>, %g: tensor<4x3x4096xf16>) -> tensor<3x2x1xf16> {
  // CHECK: tcp.cast {{.*}} -> tensor<4x2x4096xf32>
  // CHECK: tcp.conv1d {{.*}} groups = 2 : i64, {{.*}} -> tensor<2x6x1xf32>
  // CHECK: tcp.reshape {{.*}} -> tensor<2x2x3x1xf32>
  // CHECK: tcp.reduce_sum {{.*}} {dims = array<i64: 1>} : tensor<2x2x3x1xf32> -> tensor<2x1x3x1xf32>
  // CHECK: tcp.cast {{.*}} -> tensor<3x2x1xf16>
  %0 = tcp.conv_backward_filter %x, %g {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>}
      : tensor<4x2x4096xf16>, tensor<4x3x4096xf16> -> tensor<3x2x1xf16>
  return %0 : tensor<3x2x1xf16>
}
