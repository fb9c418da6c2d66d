// RUN: convoy-opt %s --tcp-form-stems | filecheck %s
// RUN: convoy-opt %s --tcp-form-stems="allow-tf32=false remarks" -o /dev/null 2>&1 | filecheck %s --check-prefix=FORBIDDEN
// RUN: convoy-opt %s --convoy-pipeline="from=tcp to=group target=cuda allow-tf32=false" | filecheck %s --check-prefix=PIPELINE

// The kernel of a stem in f32 rounds to TF32.
// CHECK-LABEL: func.func @main(
// CHECK: anchor = "stem"
// FORBIDDEN: remark: not a stem: its kernel rounds f32 to TF32, which allow-tf32=false forbids
// PIPELINE-NOT: anchor = "stem"
func.func @main(%x: tensor<1x4x32x32xf32>, %w: tensor<32x3x3x4xf32>, %b: tensor<1x1x1x32xf32>) -> tensor<1x8x8x32xf32> {
  %1 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x4x32x32xf32> -> tensor<1x32x32x4xf32>
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x32x32x4xf32>, tensor<32x3x3x4xf32> -> tensor<1x16x16x32xf32>
  %3 = tcp.add %2, %b : tensor<1x16x16x32xf32>, tensor<1x1x1x32xf32> -> tensor<1x16x16x32xf32>
  %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<1x16x16x32xf32> -> tensor<1x16x16x32xf32>
  %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x16x16x32xf32> -> tensor<1x8x8x32xf32>
  return %5 : tensor<1x8x8x32xf32>
}

