// The ops of the announcement of the first cuDNN dialect ("Compiler-cuDNN integration from first principles"), as they are there.
// The relu becomes the prologue of the convolution, although the transpose of the function's argument comes first.
// RUN: convoy-opt %s --convoy-pipeline="from=tcp to=group target=cuda" | filecheck %s
// RUN: convoy-opt %s --convoy-pipeline="from=tcp to=llvm target=cuda" | filecheck %s --check-prefix=CUDA
// RUN: convoy-opt %s --convoy-pipeline="from=tcp to=llvm" | filecheck %s --check-prefix=CPU
// TF32 is refused, and with it the prologue in f32.
// RUN: convoy-opt %s --convoy-pipeline="from=tcp to=group target=cuda allow-tf32=false" | filecheck %s --check-prefix=NOTF32

// CHECK: tcp.transpose
// CHECK: tcp.transpose
// CHECK-NEXT: tcp.isolated_group {{.*}} attributes {anchor = "conv2d", pattern = "relu+conv2d"} {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tcp.clamp
// CHECK-NEXT: tcp.conv2d
// CHECK-NEXT: tcp.yield
// CHECK-NEXT: }
// CHECK-NEXT: tcp.transpose
// CUDA: llvm.func @relu_conv2d_0_build(
// CUDA: llvm.func @convoy_main(
// CPU: llvm.func @convoy_main(
// NOTF32: tcp.clamp {{.*}} tcp.outside = "prologue_relu with conv2d: in f32 all engines of cuDNN use TF32, which allow-tf32=false forbids"
// NOTF32: pattern = "conv2d"
func.func @main(%138: tensor<1x64x56x56xf32>, %110: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
%139 = tcp.clamp %138 {min_float = 0.000000e+00 : f32}
        : tensor<1x64x56x56xf32> -> tensor<1x64x56x56xf32>
%140 = tcp.conv2d %139, %110
        {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
        : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
return %140 : tensor<1x64x56x56xf32>
}
