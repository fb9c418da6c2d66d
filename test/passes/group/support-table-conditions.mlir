// Conditions of rows (`after`, `channel_bytes`, `channel_groups`), and refusals, which take precedence.
// RUN: convoy-opt %s --tcp-form-groups="support-table=%S/Inputs/conditions.json" --tcp-verify-groups="support-table=%S/Inputs/conditions.json" | filecheck %s
// RUN: not convoy-opt %s --tcp-form-groups --tcp-verify-groups="support-table=%S/Inputs/conditions.json" 2>&1 | filecheck %s --check-prefix=VERIFY

// A relu is accepted after a bias.
// CHECK-LABEL: func.func @after(
// CHECK: pattern = "matmul+bias+relu"
func.func @after(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>, %b: tensor<1x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.matmul %x, %w : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  %1 = tcp.add %0, %b : tensor<8x8xf16>, tensor<1x8xf16> -> tensor<8x8xf16>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<8x8xf16> -> tensor<8x8xf16>
  return %2 : tensor<8x8xf16>
}

// CHECK-LABEL: func.func @alone(
// CHECK: pattern = "matmul"
// CHECK: tcp.clamp {{.*}}tcp.outside = "relu with matmul: cuDNN supports it after bias or bias+tanh, not directly after the anchor"
// VERIFY: error: does not form one cuDNN graph: relu with matmul: cuDNN supports it after bias or bias+tanh, not directly after the anchor
func.func @alone(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.matmul %x, %w : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  %1 = tcp.clamp %0 {min_float = 0.0 : f32} : tensor<8x8xf16> -> tensor<8x8xf16>
  return %1 : tensor<8x8xf16>
}

// CHECK-LABEL: func.func @after_another(
// CHECK: pattern = "matmul+bias+bias"
// CHECK: tcp.clamp {{.*}}tcp.outside = "relu with matmul: cuDNN supports it after bias or bias+tanh, not after bias+bias"
func.func @after_another(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>, %b: tensor<1x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.matmul %x, %w : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  %1 = tcp.add %0, %b : tensor<8x8xf16>, tensor<1x8xf16> -> tensor<8x8xf16>
  %2 = tcp.add %1, %b : tensor<8x8xf16>, tensor<1x8xf16> -> tensor<8x8xf16>
  %3 = tcp.clamp %2 {min_float = 0.0 : f32} : tensor<8x8xf16> -> tensor<8x8xf16>
  return %3 : tensor<8x8xf16>
}

// A row accepts it, but a refusal takes precedence.
// CHECK-LABEL: func.func @refused(
// CHECK: tcp.tanh {{.*}}tcp.outside = "tanh with matmul: it is slow"
func.func @refused(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.matmul %x, %w : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  %1 = tcp.tanh %0 : tensor<8x8xf16> -> tensor<8x8xf16>
  return %1 : tensor<8x8xf16>
}

// A refusal by channel_bytes: 8 channels of f16 are 16 bytes, 16 channels are 32.
// CHECK-LABEL: func.func @channels(
// CHECK: tcp.clamp {{.*}}tcp.outside = "prologue_relu with matmul: channels are not a multiple of 32 bytes"
// CHECK: pattern = "relu+matmul"
func.func @channels(%x: tensor<8x8xf16>, %w: tensor<8x16xf16>, %v: tensor<16x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.clamp %x {min_float = 0.0 : f32} : tensor<8x8xf16> -> tensor<8x8xf16>
  %1 = tcp.matmul %0, %w : tensor<8x8xf16>, tensor<8x16xf16> -> tensor<8x16xf16>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<8x16xf16> -> tensor<8x16xf16>
  %3 = tcp.matmul %2, %v : tensor<8x16xf16>, tensor<16x8xf16> -> tensor<8x8xf16>
  return %3 : tensor<8x8xf16>
}

// CHECK-LABEL: func.func @channel_groups(
// CHECK: tcp.conv2d {{.*}}tcp.outside = "conv2d: cuDNN supports channel groups none or grouped, not depthwise"
func.func @channel_groups(%x: tensor<1x8x8x64xf16>, %w: tensor<64x1x1x1xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x1x1x1xf16> -> tensor<1x8x8x64xf16>
  return %0 : tensor<1x8x8x64xf16>
}

// CHECK-LABEL: func.func @no_row(
// CHECK: tcp.sigmoid {{.*}}tcp.outside = "the support table has no row for sigmoid with matmul"
func.func @no_row(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.matmul %x, %w : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  %1 = tcp.sigmoid %0 : tensor<8x8xf16> -> tensor<8x8xf16>
  return %1 : tensor<8x8xf16>
}

// CHECK-LABEL: func.func @channel_bytes(
// CHECK: tcp.conv2d {{.*}}tcp.outside = "conv2d: cuDNN supports channels that are a multiple of 4 bytes, not 63 of f16"
func.func @channel_bytes(%x: tensor<1x8x8x63xf16>, %w: tensor<64x1x1x63xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x8x63xf16>, tensor<64x1x1x63xf16> -> tensor<1x8x8x64xf16>
  return %0 : tensor<1x8x8x64xf16>
}
