// The whole phase: a convolution with bias and batch norm, a pooling, a residual block and a
// classifier.
// RUN: convoy-opt %s --convoy-pipeline="to=normalize target=cuda dtype=f16" | filecheck %s --check-prefixes=CHECK,CUDA
// RUN: convoy-opt %s --convoy-pipeline="to=normalize target=cpu" | filecheck %s --check-prefixes=CHECK,CPU

// CUDA: module attributes {tcp.target = "cuda"}
// CPU: module attributes {tcp.target = "cpu"}

// CHECK-LABEL: func.func @main
// CUDA-SAME: tensor<8x3x3x4xf16> {tcp.prepared = "conv1.weight"}, %{{.*}}: tensor<1x1x1x8xf16> {tcp.prepared = "conv1.bias"}
// CUDA-SAME: attributes {tcp.target = "cuda"}
// CPU-SAME: tensor<8x3x3x3xf32> {tcp.prepared = "conv1.weight"}
// CPU-SAME: attributes {tcp.target = "cpu"}
// CUDA-NEXT: tcp.cast
// CHECK-NEXT: tcp.transpose
// CUDA-NEXT: tcp.pad
// CHECK-NEXT: tcp.conv2d {{.*}}channels_last
// CHECK-NEXT: tcp.add
// CHECK-NEXT: tcp.clamp
// CHECK-NEXT: tcp.max_pool {{.*}}channels_last
// CHECK-NEXT: tcp.conv2d {{.*}}channels_last
// CHECK-NEXT: tcp.add
// CHECK-NEXT: tcp.add
// CHECK-NEXT: tcp.clamp
// CHECK-NEXT: tcp.reduce_mean {{.*}}dims = array<i64: 1, 2>
// CHECK-NEXT: tcp.reshape {{.*}} -> tensor<2x8x
// CHECK-NEXT: tcp.matmul
// CHECK-NEXT: tcp.add
// CUDA-NEXT: tcp.cast
// CHECK-NEXT: return

// CHECK: func.func @prepare_weights(
// CHECK-SAME: {tcp.weight = "conv1.weight"}
// CHECK-SAME: {tcp.weight = "fc.bias"}) -> (
// CHECK-SAME: {tcp.prepared = "fc.bias"}) attributes {tcp.target = "cpu"}
module {
  func.func @main(%x: tensor<2x3x16x16xf32> {tcp.input = "x"}, %w: tensor<8x3x3x3xf32> {tcp.weight = "conv1.weight"},
                  %b: tensor<8xf32> {tcp.weight = "conv1.bias"}, %var: tensor<8xf32> {tcp.weight = "bn1.running_var"},
                  %mean: tensor<8xf32> {tcp.weight = "bn1.running_mean"},
                  %w2: tensor<8x8x3x3xf32> {tcp.weight = "conv2.weight"},
                  %fc: tensor<10x8xf32> {tcp.weight = "fc.weight"}, %fcb: tensor<1x10xf32> {tcp.weight = "fc.bias"}) -> (tensor<2x10xf32> {tcp.output = "0"}) {
    %eps = arith.constant dense<1.0e-5> : tensor<1xf32>
    %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<2x3x16x16xf32>, tensor<8x3x3x3xf32> -> tensor<2x8x16x16xf32>
    %br = tcp.reshape %b : tensor<8xf32> -> tensor<1x8x1x1xf32>
    %1 = tcp.add %0, %br : tensor<2x8x16x16xf32>, tensor<1x8x1x1xf32> -> tensor<2x8x16x16xf32>
    %v0 = tcp.add %var, %eps : tensor<8xf32>, tensor<1xf32> -> tensor<8xf32>
    %v1 = tcp.rsqrt %v0 : tensor<8xf32> -> tensor<8xf32>
    %v2 = tcp.mul %mean, %v1 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
    %v3 = tcp.neg %v2 : tensor<8xf32> -> tensor<8xf32>
    %s = tcp.reshape %v1 : tensor<8xf32> -> tensor<1x8x1x1xf32>
    %t = tcp.reshape %v3 : tensor<8xf32> -> tensor<1x8x1x1xf32>
    %2 = tcp.mul %1, %s : tensor<2x8x16x16xf32>, tensor<1x8x1x1xf32> -> tensor<2x8x16x16xf32>
    %3 = tcp.add %2, %t : tensor<2x8x16x16xf32>, tensor<1x8x1x1xf32> -> tensor<2x8x16x16xf32>
    %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<2x8x16x16xf32> -> tensor<2x8x16x16xf32>
    %5 = tcp.max_pool %4 {dilation = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<2x8x16x16xf32> -> tensor<2x8x8x8xf32>
    %6 = tcp.conv2d %5, %w2 {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<2x8x8x8xf32>, tensor<8x8x3x3xf32> -> tensor<2x8x8x8xf32>
    %7 = tcp.mul %6, %s : tensor<2x8x8x8xf32>, tensor<1x8x1x1xf32> -> tensor<2x8x8x8xf32>
    %8 = tcp.add %7, %t : tensor<2x8x8x8xf32>, tensor<1x8x1x1xf32> -> tensor<2x8x8x8xf32>
    %9 = tcp.add %8, %5 : tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32> -> tensor<2x8x8x8xf32>
    %10 = tcp.clamp %9 {min_float = 0.0 : f32} : tensor<2x8x8x8xf32> -> tensor<2x8x8x8xf32>
    %11 = tcp.reduce_mean %10 {dims = array<i64: 2, 3>} : tensor<2x8x8x8xf32> -> tensor<2x8x1x1xf32>
    %12 = tcp.reshape %11 : tensor<2x8x1x1xf32> -> tensor<2x8xf32>
    %13 = tcp.transpose %fc {perm = array<i64: 1, 0>} : tensor<10x8xf32> -> tensor<8x10xf32>
    %14 = tcp.matmul %12, %13 : tensor<2x8xf32>, tensor<8x10xf32> -> tensor<2x10xf32>
    %15 = tcp.add %14, %fcb : tensor<2x10xf32>, tensor<1x10xf32> -> tensor<2x10xf32>
    return %15 : tensor<2x10xf32>
  }
}
