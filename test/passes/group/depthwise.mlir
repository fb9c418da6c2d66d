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

// cuDNN has no engine for it in bf16, but a kernel of Convoy computes it.
// CHECK-LABEL: func.func @relu6_bf16(
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "conv2d", only_kernel, pattern = "conv2d+bias+relu_clip"}
func.func @relu6_bf16(%x: tensor<1x8x8x64xbf16>, %w: tensor<64x3x3x1xbf16>, %b: tensor<1x1x1x64xbf16>) -> tensor<1x8x8x64xbf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.conv2d %x, %w {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xbf16>, tensor<64x3x3x1xbf16> -> tensor<1x8x8x64xbf16>
  %1 = tcp.add %0, %b : tensor<1x8x8x64xbf16>, tensor<1x1x1x64xbf16> -> tensor<1x8x8x64xbf16>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32, max_float = 6.0 : f32} : tensor<1x8x8x64xbf16> -> tensor<1x8x8x64xbf16>
  return %2 : tensor<1x8x8x64xbf16>
}

// relu has an engine.
// CHECK-LABEL: func.func @relu_bf16(
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "conv2d", pattern = "conv2d+bias+relu"}
func.func @relu_bf16(%x: tensor<1x8x8x64xbf16>, %w: tensor<64x3x3x1xbf16>, %b: tensor<1x1x1x64xbf16>) -> tensor<1x8x8x64xbf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.conv2d %x, %w {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xbf16>, tensor<64x3x3x1xbf16> -> tensor<1x8x8x64xbf16>
  %1 = tcp.add %0, %b : tensor<1x8x8x64xbf16>, tensor<1x1x1x64xbf16> -> tensor<1x8x8x64xbf16>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<1x8x8x64xbf16> -> tensor<1x8x8x64xbf16>
  return %2 : tensor<1x8x8x64xbf16>
}

// The kernel has one filter per channel.
// CHECK-LABEL: func.func @two_filters(
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "conv2d", pattern = "conv2d"}
// CHECK: tcp.silu {{.*}}tcp.outside = "swish with conv2d: cuDNN supports
func.func @two_filters(%x: tensor<1x8x8x32xbf16>, %w: tensor<64x3x3x1xbf16>) -> tensor<1x8x8x64xbf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.conv2d %x, %w {channels_last, groups = 32 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x32xbf16>, tensor<64x3x3x1xbf16> -> tensor<1x8x8x64xbf16>
  %1 = tcp.silu %0 : tensor<1x8x8x64xbf16> -> tensor<1x8x8x64xbf16>
  return %1 : tensor<1x8x8x64xbf16>
}

// A hard swish joins as a whole: its branches alone have no kernel.
// CHECK-LABEL: func.func @hard_swish(
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "conv2d", only_kernel, pattern = "conv2d+bias+add_scalar+relu_clip+mul_virtual+div_scalar"}
func.func @hard_swish(%x: tensor<1x8x8x64xf16>, %w: tensor<64x3x3x1xf16>, %b: tensor<1x1x1x64xf16>) -> tensor<1x8x8x64xf16> attributes {tcp.target = "cuda"} {
  %three = arith.constant dense<3.0> : tensor<1x1x1x1xf16>
  %six = arith.constant dense<6.0> : tensor<1x1x1x1xf16>
  %0 = tcp.conv2d %x, %w {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x3x3x1xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.add %0, %b : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %2 = tcp.add %1, %three : tensor<1x8x8x64xf16>, tensor<1x1x1x1xf16> -> tensor<1x8x8x64xf16>
  %3 = tcp.clamp %2 {min_float = 0.0 : f32, max_float = 6.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %4 = tcp.mul %1, %3 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %5 = tcp.div %4, %six : tensor<1x8x8x64xf16>, tensor<1x1x1x1xf16> -> tensor<1x8x8x64xf16>
  return %5 : tensor<1x8x8x64xf16>
}

// The kernel computes it with these numbers only.
// CHECK-LABEL: func.func @other_numbers(
// CHECK: tcp.isolated_group {{.*}} attributes {anchor = "conv2d", pattern = "conv2d+bias"}
// CHECK: tcp.clamp {{.*}}tcp.outside = "add_scalar with conv2d: a depthwise
func.func @other_numbers(%x: tensor<1x8x8x64xf16>, %w: tensor<64x3x3x1xf16>, %b: tensor<1x1x1x64xf16>) -> tensor<1x8x8x64xf16> attributes {tcp.target = "cuda"} {
  %three = arith.constant dense<2.0> : tensor<1x1x1x1xf16>
  %six = arith.constant dense<6.0> : tensor<1x1x1x1xf16>
  %0 = tcp.conv2d %x, %w {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x3x3x1xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.add %0, %b : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
  %2 = tcp.add %1, %three : tensor<1x8x8x64xf16>, tensor<1x1x1x1xf16> -> tensor<1x8x8x64xf16>
  %3 = tcp.clamp %2 {min_float = 0.0 : f32, max_float = 6.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %4 = tcp.mul %1, %3 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %5 = tcp.div %4, %six : tensor<1x8x8x64xf16>, tensor<1x1x1x1xf16> -> tensor<1x8x8x64xf16>
  return %5 : tensor<1x8x8x64xf16>
}
