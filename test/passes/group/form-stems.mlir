// RUN: convoy-opt %s --split-input-file --tcp-form-stems=remarks --verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @stem(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x32x64xf32>, %[[W:.*]]: tensor<64x7x7x3xf16>, %[[B:.*]]: tensor<1x1x1x64xf16>)
// CHECK-NEXT: %[[S:.*]] = tcp.isolated_group %[[X]], %[[W]], %[[B]] attributes {anchor = "stem", pattern = "cast+transpose+conv2d+bias+relu+max_pool"} {
// CHECK: tcp.cast
// CHECK-NEXT: tcp.transpose
// CHECK-NEXT: tcp.conv2d
// CHECK-NEXT: tcp.add
// CHECK-NEXT: tcp.clamp
// CHECK-NEXT: tcp.max_pool
// CHECK-NEXT: tcp.yield
// CHECK: return %[[S]]
func.func @stem(%x: tensor<2x3x32x64xf32>, %w: tensor<64x7x7x3xf16>, %b: tensor<1x1x1x64xf16>) -> tensor<2x8x16x64xf16> {
  %0 = tcp.cast %x : tensor<2x3x32x64xf32> -> tensor<2x3x32x64xf16>
  %1 = tcp.transpose %0 {perm = array<i64: 0, 2, 3, 1>} : tensor<2x3x32x64xf16> -> tensor<2x32x64x3xf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 3, 3, 3, 3>, stride = array<i64: 2, 2>} : tensor<2x32x64x3xf16>, tensor<64x7x7x3xf16> -> tensor<2x16x32x64xf16>
  %3 = tcp.add %2, %b : tensor<2x16x32x64xf16>, tensor<1x1x1x64xf16> -> tensor<2x16x32x64xf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<2x16x32x64xf16> -> tensor<2x16x32x64xf16>
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<2x16x32x64xf16> -> tensor<2x8x16x64xf16>
  return %5 : tensor<2x8x16x64xf16>
}

// -----

// An image with the network's type needs no cast. The relu may have an upper bound.
// CHECK-LABEL: func.func @uncast(
// CHECK: pattern = "transpose+conv2d+bias+relu+max_pool"
func.func @uncast(%x: tensor<1x4x32x32xbf16>, %w: tensor<32x3x3x4xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x8x8x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xbf16>, tensor<32x3x3x4xbf16> -> tensor<1x16x16x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x16x16x32xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32, max_float = 6.0 : f32} : tensor<1x16x16x32xbf16> -> tensor<1x16x16x32xbf16>
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xbf16> -> tensor<1x8x8x32xbf16>
  return %5 : tensor<1x8x8x32xbf16>
}

// -----

// SqueezeNet pads neither the convolution nor the pooling.
// CHECK-LABEL: func.func @unpadded(
// CHECK: pattern = "transpose+conv2d+bias+relu+max_pool"
func.func @unpadded(%x: tensor<1x3x32x48xbf16>, %w: tensor<64x3x3x3xbf16>, %b: tensor<1x1x1x64xbf16>) -> tensor<1x7x11x64xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x3x32x48xbf16> -> tensor<1x32x48x3xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<1x32x48x3xbf16>, tensor<64x3x3x3xbf16> -> tensor<1x15x23x64xbf16>
  %3 = tcp.add %2, %b : tensor<1x15x23x64xbf16>, tensor<1x1x1x64xbf16> -> tensor<1x15x23x64xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x15x23x64xbf16> -> tensor<1x15x23x64xbf16>
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<1x15x23x64xbf16> -> tensor<1x7x11x64xbf16>
  return %5 : tensor<1x7x11x64xbf16>
}

// -----

// Odd sizes, a window that is not square, padding below and on the right, as ceil_mode adds it, and
// filters that fill no block.
// CHECK-LABEL: func.func @any_size(
// CHECK: pattern = "transpose+conv2d+bias+relu+max_pool"
func.func @any_size(%x: tensor<1x3x30x41xbf16>, %w: tensor<24x5x3x3xbf16>, %b: tensor<1x1x1x24xbf16>) -> tensor<1x7x11x24xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x3x30x41xbf16> -> tensor<1x30x41x3xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 2, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x30x41x3xbf16>, tensor<24x5x3x3xbf16> -> tensor<1x15x21x24xbf16>
  %3 = tcp.add %2, %b : tensor<1x15x21x24xbf16>, tensor<1x1x1x24xbf16> -> tensor<1x15x21x24xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x15x21x24xbf16> -> tensor<1x15x21x24xbf16>
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 0, 1, 0, 2>, stride = array<i64: 2, 2>} : tensor<1x15x21x24xbf16> -> tensor<1x7x11x24xbf16>
  return %5 : tensor<1x7x11x24xbf16>
}

// -----

// A channels-last image needs no transposition.
// CHECK-LABEL: func.func @channels_last(
// CHECK: pattern = "cast+conv2d+bias+relu+max_pool"
// CHECK-LABEL: func.func @channels_last_uncast(
// CHECK: pattern = "conv2d+bias+relu+max_pool"
func.func @channels_last(%x: tensor<1x32x32x3xf32>, %w: tensor<32x3x3x3xf16>, %b: tensor<1x1x1x32xf16>) -> tensor<1x8x8x32xf16> {
  %1 = tcp.cast %x : tensor<1x32x32x3xf32> -> tensor<1x32x32x3xf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x3xf16>, tensor<32x3x3x3xf16> -> tensor<1x16x16x32xf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xf16>, tensor<1x1x1x32xf16> -> tensor<1x16x16x32xf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x32xf16> -> tensor<1x16x16x32xf16>
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xf16> -> tensor<1x8x8x32xf16>
  return %5 : tensor<1x8x8x32xf16>
}
func.func @channels_last_uncast(%x: tensor<1x32x32x3xf16>, %w: tensor<32x3x3x3xf16>, %b: tensor<1x1x1x32xf16>) -> tensor<1x8x8x32xf16> {
  %2 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x3xf16>, tensor<32x3x3x3xf16> -> tensor<1x16x16x32xf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xf16>, tensor<1x1x1x32xf16> -> tensor<1x16x16x32xf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x32xf16> -> tensor<1x16x16x32xf16>
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xf16> -> tensor<1x8x8x32xf16>
  return %5 : tensor<1x8x8x32xf16>
}

// -----

// CHECK-LABEL: func.func @for_cpu(
// CHECK-NOT: isolated_group
func.func @for_cpu(%x: tensor<1x8x8x32xf32>) -> tensor<1x4x4x32xf32> attributes {tcp.target = "cpu"} {
  %5 = tcp.max_pool %x {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x8x8x32xf32> -> tensor<1x4x4x32xf32>
  return %5 : tensor<1x4x4x32xf32>
}

// -----

func.func @pool_alone(%x: tensor<1x8x8x32xf16>) -> tensor<1x4x4x32xf16> {
  // expected-remark @+1 {{not a stem: expects convolution, bias and relu before the pooling}}
  %5 = tcp.max_pool %x {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x8x8x32xf16> -> tensor<1x4x4x32xf16>
  return %5 : tensor<1x4x4x32xf16>
}

// -----

func.func @stride_one(%x: tensor<1x4x32x32xbf16>, %w: tensor<32x3x3x4xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x16x16x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x32x32x4xbf16>, tensor<32x3x3x4xbf16> -> tensor<1x32x32x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x32x32x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x32x32x32xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x32x32x32xbf16> -> tensor<1x32x32x32xbf16>
  // expected-remark @+1 {{not a stem: expects a convolution over two channels-last spatial dims with stride 2, without dilation and groups}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x32xbf16> -> tensor<1x16x16x32xbf16>
  return %5 : tensor<1x16x16x32xbf16>
}

// -----

func.func @dilated(%x: tensor<1x4x32x32xbf16>, %w: tensor<32x3x3x4xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x8x8x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 2, 2>, pad = array<i64: 2, 2, 2, 2>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xbf16>, tensor<32x3x3x4xbf16> -> tensor<1x16x16x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x16x16x32xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x32xbf16> -> tensor<1x16x16x32xbf16>
  // expected-remark @+1 {{not a stem: expects a convolution over two channels-last spatial dims with stride 2, without dilation and groups}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xbf16> -> tensor<1x8x8x32xbf16>
  return %5 : tensor<1x8x8x32xbf16>
}

// -----

func.func @in_f64(%x: tensor<1x4x32x32xf64>, %w: tensor<32x3x3x4xf64>, %b: tensor<1x1x1x32xf64>) -> tensor<1x8x8x32xf64> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xf64> -> tensor<1x32x32x4xf64>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xf64>, tensor<32x3x3x4xf64> -> tensor<1x16x16x32xf64>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xf64>, tensor<1x1x1x32xf64> -> tensor<1x16x16x32xf64>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x32xf64> -> tensor<1x16x16x32xf64>
  // expected-remark @+1 {{not a stem: expects element type f16, bf16 or f32, and an image of that type or f32}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xf64> -> tensor<1x8x8x32xf64>
  return %5 : tensor<1x8x8x32xf64>
}

// -----

func.func @many_channels(%x: tensor<1x5x32x32xbf16>, %w: tensor<32x3x3x5xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x8x8x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x5x32x32xbf16> -> tensor<1x32x32x5xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x5xbf16>, tensor<32x3x3x5xbf16> -> tensor<1x16x16x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x16x16x32xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x32xbf16> -> tensor<1x16x16x32xbf16>
  // expected-remark @+1 {{not a stem: expects a window of up to 7 x 7, the same padding of at most half of it on the left and top, and at most 4 input channels}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xbf16> -> tensor<1x8x8x32xbf16>
  return %5 : tensor<1x8x8x32xbf16>
}

// -----

func.func @swapped(%x: tensor<1x4x32x32xbf16>, %w: tensor<32x3x3x4xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x8x8x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 3, 2, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xbf16>, tensor<32x3x3x4xbf16> -> tensor<1x16x16x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x16x16x32xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x32xbf16> -> tensor<1x16x16x32xbf16>
  // expected-remark @+1 {{not a stem: expects a transposition from channels-first to channels-last}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xbf16> -> tensor<1x8x8x32xbf16>
  return %5 : tensor<1x8x8x32xbf16>
}

// -----

func.func @no_relu(%x: tensor<1x4x32x32xbf16>, %w: tensor<32x3x3x4xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x8x8x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xbf16>, tensor<32x3x3x4xbf16> -> tensor<1x16x16x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x16x16x32xbf16>
  %4 = tcp.clamp %3 {min_float = -1.0 : f32} : tensor<1x16x16x32xbf16> -> tensor<1x16x16x32xbf16>
  // expected-remark @+1 {{not a stem: expects one number per channel to be added after the convolution, and relu}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xbf16> -> tensor<1x8x8x32xbf16>
  return %5 : tensor<1x8x8x32xbf16>
}

// -----

func.func @large_window(%x: tensor<1x4x32x32xbf16>, %w: tensor<32x3x3x4xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x16x16x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xbf16>, tensor<32x3x3x4xbf16> -> tensor<1x16x16x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x16x16x32xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x32xbf16> -> tensor<1x16x16x32xbf16>
  // expected-remark @+1 {{not a stem: expects a channels-last pooling with windows of 3 that begin inside of their operand or its padding, stride 2, the same padding of 0 or 1 on the left and top, and no dilation}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x16x16x32xbf16> -> tensor<1x16x16x32xbf16>
  return %5 : tensor<1x16x16x32xbf16>
}

// -----

func.func @padded_right(%x: tensor<1x4x32x32xbf16>, %w: tensor<32x3x3x4xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x8x8x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xbf16>, tensor<32x3x3x4xbf16> -> tensor<1x16x16x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x16x16x32xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x32xbf16> -> tensor<1x16x16x32xbf16>
  // expected-remark @+1 {{not a stem: expects a window of up to 7 x 7, the same padding of at most half of it on the left and top, and at most 4 input channels}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xbf16> -> tensor<1x8x8x32xbf16>
  return %5 : tensor<1x8x8x32xbf16>
}

// -----

func.func @much_padding(%x: tensor<1x4x32x32xbf16>, %w: tensor<32x3x3x4xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x9x9x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 2, 2, 2, 2>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xbf16>, tensor<32x3x3x4xbf16> -> tensor<1x17x17x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x17x17x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x17x17x32xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x17x17x32xbf16> -> tensor<1x17x17x32xbf16>
  // expected-remark @+1 {{not a stem: expects a window of up to 7 x 7, the same padding of at most half of it on the left and top, and at most 4 input channels}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x17x17x32xbf16> -> tensor<1x9x9x32xbf16>
  return %5 : tensor<1x9x9x32xbf16>
}

// -----

func.func @few_filters(%x: tensor<1x4x32x32xbf16>, %w: tensor<12x3x3x4xbf16>, %b: tensor<1x1x1x12xbf16>) -> tensor<1x8x8x12xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xbf16>, tensor<12x3x3x4xbf16> -> tensor<1x16x16x12xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x12xbf16>, tensor<1x1x1x12xbf16> -> tensor<1x16x16x12xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x12xbf16> -> tensor<1x16x16x12xbf16>
  // expected-remark @+1 {{not a stem: expects at most 128 filters, a multiple of 16 bytes, and a convolution with at most 256 columns}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x12xbf16> -> tensor<1x8x8x12xbf16>
  return %5 : tensor<1x8x8x12xbf16>
}

// -----

func.func @many_filters(%x: tensor<1x4x32x32xbf16>, %w: tensor<136x3x3x4xbf16>, %b: tensor<1x1x1x136xbf16>) -> tensor<1x8x8x136xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xbf16>, tensor<136x3x3x4xbf16> -> tensor<1x16x16x136xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x136xbf16>, tensor<1x1x1x136xbf16> -> tensor<1x16x16x136xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x136xbf16> -> tensor<1x16x16x136xbf16>
  // expected-remark @+1 {{not a stem: expects at most 128 filters, a multiple of 16 bytes, and a convolution with at most 256 columns}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x136xbf16> -> tensor<1x8x8x136xbf16>
  return %5 : tensor<1x8x8x136xbf16>
}

// -----

func.func @wide(%x: tensor<1x4x32x514xbf16>, %w: tensor<32x3x3x4xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x8x129x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x514xbf16> -> tensor<1x32x514x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x514x4xbf16>, tensor<32x3x3x4xbf16> -> tensor<1x16x257x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x257x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x16x257x32xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x257x32xbf16> -> tensor<1x16x257x32xbf16>
  // expected-remark @+1 {{not a stem: expects at most 128 filters, a multiple of 16 bytes, and a convolution with at most 256 columns}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x257x32xbf16> -> tensor<1x8x129x32xbf16>
  return %5 : tensor<1x8x129x32xbf16>
}

// -----

func.func @window_outside(%x: tensor<1x4x32x32xbf16>, %w: tensor<32x3x3x4xbf16>, %b: tensor<1x1x1x32xbf16>) -> tensor<1x10x8x32xbf16> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xbf16> -> tensor<1x32x32x4xbf16>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xbf16>, tensor<32x3x3x4xbf16> -> tensor<1x16x16x32xbf16>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xbf16>, tensor<1x1x1x32xbf16> -> tensor<1x16x16x32xbf16>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x32xbf16> -> tensor<1x16x16x32xbf16>
  // expected-remark @+1 {{not a stem: expects a channels-last pooling with windows of 3 that begin inside of their operand or its padding, stride 2, the same padding of 0 or 1 on the left and top, and no dilation}}
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 5, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xbf16> -> tensor<1x10x8x32xbf16>
  return %5 : tensor<1x10x8x32xbf16>
}
