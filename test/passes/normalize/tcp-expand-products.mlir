// RUN: convoy-opt %s --tcp-expand-products | filecheck %s

// A sum of two terms in f32, to which the bias is added before it is rounded.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x512x2xf16> {{.*}}, %[[W:[^:]*]]: tensor<1x2x8xf16> {{.*}}, %[[B:[^:]*]]: tensor<1x1x8xf16>
// CHECK: %[[X0:.*]] = tcp.slice %[[X]] {sizes = array<i64: 4, 512, 1>, starts = array<i64: 0, 0, 0>
// CHECK: %[[XF:.*]] = tcp.cast %[[X0]]
// CHECK: %[[W0:.*]] = tcp.slice %[[W]] {sizes = array<i64: 1, 1, 8>, starts = array<i64: 0, 0, 0>
// CHECK: %[[WF:.*]] = tcp.cast %[[W0]]
// CHECK: %[[P0:.*]] = tcp.mul %[[XF]], %[[WF]] : tensor<4x512x1xf32>, tensor<1x1x8xf32> -> tensor<4x512x8xf32>
// CHECK: tcp.slice %[[X]] {sizes = array<i64: 4, 512, 1>, starts = array<i64: 0, 0, 1>
// CHECK: tcp.slice %[[W]] {sizes = array<i64: 1, 1, 8>, starts = array<i64: 0, 1, 0>
// CHECK: %[[P1:.*]] = tcp.mul
// CHECK: %[[S:.*]] = tcp.add %[[P0]], %[[P1]]
// CHECK: %[[BF:.*]] = tcp.cast %[[B]]
// CHECK: %[[BIASED:.*]] = tcp.add %[[S]], %[[BF]]
// CHECK: %[[R:.*]] = tcp.cast %[[BIASED]] : tensor<4x512x8xf32> -> tensor<4x512x8xf16>
// CHECK-NEXT: return %[[R]]
func.func @sum(%x: tensor<4x512x2xf16> {tcp.input = "x"}, %w: tensor<1x2x8xf16> {tcp.weight = "w"}, %b: tensor<1x1x8xf16> {tcp.weight = "b"}) -> tensor<4x512x8xf16> {
  %0 = tcp.matmul %x, %w : tensor<4x512x2xf16>, tensor<1x2x8xf16> -> tensor<4x512x8xf16>
  %1 = tcp.add %b, %0 : tensor<1x1x8xf16>, tensor<4x512x8xf16> -> tensor<4x512x8xf16>
  return %1 : tensor<4x512x8xf16>
}

// Four terms and any number of columns; the weight on the left; rotations; one term, an outer
// product. f64 remains.
// CHECK-LABEL: func.func @forms(
// CHECK-NOT: tcp.matmul
// CHECK: return
func.func @forms(%x: tensor<1024x4xf64> {tcp.input = "x"}, %w: tensor<4x256xf64> {tcp.weight = "w"}, %y: tensor<8x1200xf16> {tcp.input = "y"}, %v: tensor<9x8xf16> {tcp.weight = "v"}, %p: tensor<400x3x3xf16> {tcp.input = "p"}, %r: tensor<400x3x3xf16> {tcp.input = "r"}, %a: tensor<3000x1xf16> {tcp.input = "a"}, %b: tensor<1x40xf16> {tcp.input = "b"}) -> (tensor<1024x256xf64>, tensor<9x1200xf16>, tensor<400x3x3xf16>, tensor<3000x40xf16>) {
  %0 = tcp.matmul %x, %w : tensor<1024x4xf64>, tensor<4x256xf64> -> tensor<1024x256xf64>
  %1 = tcp.matmul %v, %y : tensor<9x8xf16>, tensor<8x1200xf16> -> tensor<9x1200xf16>
  %2 = tcp.matmul %p, %r : tensor<400x3x3xf16>, tensor<400x3x3xf16> -> tensor<400x3x3xf16>
  %3 = tcp.matmul %a, %b : tensor<3000x1xf16>, tensor<1x40xf16> -> tensor<3000x40xf16>
  return %0, %1, %2, %3 : tensor<1024x256xf64>, tensor<9x1200xf16>, tensor<400x3x3xf16>, tensor<3000x40xf16>
}

// Too few rows; too many terms, or columns; matrices that are no weights, and too large; weights
// only.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-5: tcp.matmul
// CHECK-NOT: tcp.slice
// CHECK: return
func.func @others(%a: tensor<1000x8xf16> {tcp.input = "a"}, %c: tensor<2048x17xf16> {tcp.input = "c"}, %d: tensor<2048x8xf16> {tcp.input = "d"}, %u: tensor<8x8xf16> {tcp.weight = "u"}, %w: tensor<17x8xf16> {tcp.weight = "w"}, %y: tensor<8x17xf16> {tcp.weight = "y"}, %z: tensor<8x8xf16> {tcp.input = "z"}, %v: tensor<2048x8xf16> {tcp.weight = "v"}) -> (tensor<1000x8xf16>, tensor<2048x8xf16>, tensor<2048x17xf16>, tensor<2048x8xf16>, tensor<2048x8xf16>) {
  %0 = tcp.matmul %a, %u : tensor<1000x8xf16>, tensor<8x8xf16> -> tensor<1000x8xf16>
  %1 = tcp.matmul %c, %w : tensor<2048x17xf16>, tensor<17x8xf16> -> tensor<2048x8xf16>
  %2 = tcp.matmul %d, %y : tensor<2048x8xf16>, tensor<8x17xf16> -> tensor<2048x17xf16>
  %3 = tcp.matmul %d, %z : tensor<2048x8xf16>, tensor<8x8xf16> -> tensor<2048x8xf16>
  %4 = tcp.matmul %v, %u : tensor<2048x8xf16>, tensor<8x8xf16> -> tensor<2048x8xf16>
  return %0, %1, %2, %3, %4 : tensor<1000x8xf16>, tensor<2048x8xf16>, tensor<2048x17xf16>, tensor<2048x8xf16>, tensor<2048x8xf16>
}

// A convolution of single pixels.
// CHECK-LABEL: func.func @pixels(
// CHECK-SAME: %[[X:[^:]*]]: tensor<1x2x32x32xf32> {{.*}}, %[[W:[^:]*]]: tensor<8x2x1x1xf32>
// CHECK: %[[T:.*]] = tcp.transpose %[[W]] {perm = array<i64: 1, 0, 2, 3>}
// CHECK: tcp.slice %[[X]] {sizes = array<i64: 1, 1, 32, 32>, starts = array<i64: 0, 0, 0, 0>
// CHECK: tcp.slice %[[T]] {sizes = array<i64: 1, 8, 1, 1>, starts = array<i64: 0, 0, 0, 0>
// CHECK: tcp.mul {{.*}} : tensor<1x1x32x32xf32>, tensor<1x8x1x1xf32> -> tensor<1x8x32x32xf32>
// CHECK: tcp.slice %[[T]] {sizes = array<i64: 1, 8, 1, 1>, starts = array<i64: 1, 0, 0, 0>
// CHECK-NOT: tcp.conv2d
func.func @pixels(%x: tensor<1x2x32x32xf32> {tcp.input = "x"}, %w: tensor<8x2x1x1xf32> {tcp.weight = "w"}) -> tensor<1x8x32x32xf32> {
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x2x32x32xf32>, tensor<8x2x1x1xf32> -> tensor<1x8x32x32xf32>
  return %0 : tensor<1x8x32x32xf32>
}

// Images are channels-last around a convolution with a window. The first convolution is a sum if its
// result has aligned channels; others among them remain. One of another image is a sum too.
// CHECK-LABEL: func.func @between(
// CHECK-COUNT-2: tcp.mul
// CHECK-NOT: tcp.mul
// CHECK-COUNT-4: tcp.conv2d
// CHECK-COUNT-6: tcp.mul
// CHECK-NOT: tcp.mul
// CHECK: return
func.func @between(%x: tensor<1x2x32x32xf16> {tcp.input = "x"}, %u: tensor<8x2x1x1xf16> {tcp.weight = "u"}, %w: tensor<6x8x3x3xf16> {tcp.weight = "w"}, %v: tensor<6x6x1x1xf16> {tcp.weight = "v"}, %t: tensor<8x6x3x3xf16> {tcp.weight = "t"}, %s: tensor<8x8x1x1xf16> {tcp.weight = "s"}, %y: tensor<1x6x32x32xf16> {tcp.input = "y"}) -> (tensor<1x8x32x32xf16>, tensor<1x6x32x32xf16>) {
  %0 = tcp.conv2d %x, %u {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x2x32x32xf16>, tensor<8x2x1x1xf16> -> tensor<1x8x32x32xf16>
  %1 = tcp.tanh %0 : tensor<1x8x32x32xf16> -> tensor<1x8x32x32xf16>
  %2 = tcp.conv2d %1, %w {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x32x32xf16>, tensor<6x8x3x3xf16> -> tensor<1x6x32x32xf16>
  %3 = tcp.conv2d %2, %v {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x6x32x32xf16>, tensor<6x6x1x1xf16> -> tensor<1x6x32x32xf16>
  %4 = tcp.conv2d %3, %t {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x6x32x32xf16>, tensor<8x6x3x3xf16> -> tensor<1x8x32x32xf16>
  %5 = tcp.tanh %4 : tensor<1x8x32x32xf16> -> tensor<1x8x32x32xf16>
  %6 = tcp.conv2d %5, %s {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x8x32x32xf16>, tensor<8x8x1x1xf16> -> tensor<1x8x32x32xf16>
  %7 = tcp.conv2d %y, %v {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x6x32x32xf16>, tensor<6x6x1x1xf16> -> tensor<1x6x32x32xf16>
  return %6, %7 : tensor<1x8x32x32xf16>, tensor<1x6x32x32xf16>
}

// Other convolutions: with a window, a stride, groups, zeros, too few pixels.
// CHECK-LABEL: func.func @windows(
// CHECK-COUNT-5: tcp.conv2d
func.func @windows(%x: tensor<1x4x64x64xf32> {tcp.input = "x"}, %s: tensor<1x4x16x16xf32> {tcp.input = "s"}, %w: tensor<4x4x1x2xf32> {tcp.weight = "w"}, %v: tensor<4x4x1x1xf32> {tcp.weight = "v"}, %g: tensor<4x2x1x1xf32> {tcp.weight = "g"}) -> (tensor<1x4x64x63xf32>, tensor<1x4x32x32xf32>, tensor<1x4x64x64xf32>, tensor<1x4x66x64xf32>, tensor<1x4x16x16xf32>) {
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x4x64x64xf32>, tensor<4x4x1x2xf32> -> tensor<1x4x64x63xf32>
  %1 = tcp.conv2d %x, %v {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<1x4x64x64xf32>, tensor<4x4x1x1xf32> -> tensor<1x4x32x32xf32>
  %2 = tcp.conv2d %x, %g {dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x4x64x64xf32>, tensor<4x2x1x1xf32> -> tensor<1x4x64x64xf32>
  %3 = tcp.conv2d %x, %v {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x4x64x64xf32>, tensor<4x4x1x1xf32> -> tensor<1x4x66x64xf32>
  %4 = tcp.conv2d %s, %v {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x4x16x16xf32>, tensor<4x4x1x1xf32> -> tensor<1x4x16x16xf32>
  return %0, %1, %2, %3, %4 : tensor<1x4x64x63xf32>, tensor<1x4x32x32xf32>, tensor<1x4x64x64xf32>, tensor<1x4x66x64xf32>, tensor<1x4x16x16xf32>
}

// A product without terms is zeros.
// CHECK-LABEL: func.func @no_terms(
// CHECK: tcp.matmul
// CHECK: tcp.conv2d
func.func @no_terms(%x: tensor<2048x0xf32> {tcp.input = "x"}, %w: tensor<0x8xf32> {tcp.weight = "w"}, %y: tensor<1x0x64x64xf32> {tcp.input = "y"}, %v: tensor<8x0x1x1xf32> {tcp.weight = "v"}) -> (tensor<2048x8xf32>, tensor<1x8x64x64xf32>) {
  %0 = tcp.matmul %x, %w : tensor<2048x0xf32>, tensor<0x8xf32> -> tensor<2048x8xf32>
  %1 = tcp.conv2d %y, %v {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x0x64x64xf32>, tensor<8x0x1x1xf32> -> tensor<1x8x64x64xf32>
  return %0, %1 : tensor<2048x8xf32>, tensor<1x8x64x64xf32>
}
