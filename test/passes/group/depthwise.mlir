// RUN: convoy-opt %s --tcp-form-groups --tcp-verify-groups | filecheck %s

// The kernel for a depthwise convolution computes either form of GELU. f32 is in outside.mlir.
// CHECK-LABEL: func.func @gelu(
// CHECK: tcp.isolated_group {{.*}} pattern = "conv2d+bias+gelu"
// CHECK: tcp.gelu
// CHECK-NEXT: tcp.yield
func.func @gelu(%x: tensor<1x8x8x64xf16>, %w: tensor<64x3x3x1xf16>, %b: tensor<1x1x1x64xf16>) -> tensor<1x8x8x64xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.conv2d %x, %w {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x3x3x1xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.add %0, %b : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %2 = tcp.gelu %1 {approximate = "none"} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %2 : tensor<1x8x8x64xf16>
}

// CHECK-LABEL: func.func @gelu_tanh(
// CHECK: tcp.isolated_group {{.*}} pattern = "conv2d+bias+gelu_approx_tanh"
func.func @gelu_tanh(%x: tensor<1x8x8x64xf32>, %w: tensor<64x3x3x1xf32>, %b: tensor<1x1x1x64xf32>) -> tensor<1x8x8x64xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.conv2d %x, %w {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf32>, tensor<64x3x3x1xf32> -> tensor<1x8x8x64xf32>
  %1 = tcp.add %0, %b : tensor<1x8x8x64xf32>, tensor<1x1x1x64xf32> -> tensor<1x8x8x64xf32>
  %2 = tcp.gelu %1 {approximate = "tanh"} : tensor<1x8x8x64xf32> -> tensor<1x8x8x64xf32>
  return %2 : tensor<1x8x8x64xf32>
}

// A conditional position encoding: tokens plus their depthwise convolution.
// CHECK-LABEL: func.func @residual(
// CHECK: tcp.isolated_group {{.*}} pattern = "conv2d+bias+residual"
func.func @residual(%x: tensor<1x8x8x64xf16>, %w: tensor<64x3x3x1xf16>, %b: tensor<1x1x1x64xf16>, %r: tensor<1x8x8x64xf16>) -> tensor<1x8x8x64xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.conv2d %x, %w {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x3x3x1xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.add %0, %b : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %2 = tcp.add %r, %1 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %2 : tensor<1x8x8x64xf16>
}
