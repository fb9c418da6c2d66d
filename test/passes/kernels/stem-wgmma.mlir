// RUN: convoy-opt %s --convert-tcp-to-cudnn --cudnn-attach-kernels | filecheck %s
// RUN: convoy-opt %s --convert-tcp-to-cudnn --cudnn-attach-kernels=chip=sm_100 | filecheck %s --check-prefix=NEWER
// RUN: convoy-opt %s -pass-pipeline="builtin.module(convert-tcp-to-cudnn,cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s --check-prefix=PTX

// The kernel for the tensor cores of sm_90a precedes the one for every GPU.
// CHECK: gpu.module @stem_0_wgmma_5 [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: llvm.call @convoy_stem_wgmma_f16_f32_64(
// CHECK: gpu.module @stem_0_5x4 [#nvvm.target<O = 3, chip = "sm_80">]
// CHECK: cudnn.kernels = [{block = 128 : i64, chip = "sm_90a", grid = 212 : i64, name = "stem_0_wgmma_5", shared_bytes = 42816 : i64, tf32 = false, variant = "wgmma_5"}, {block = 128 : i64, chip = "sm_80"
// PTX: gpu.binary @stem_0_wgmma_5
// PTX-SAME: .target sm_90a
// PTX-SAME: cp.async.bulk.prefetch.L2.global
// PTX-SAME: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// PTX: gpu.binary @stem_0_5x4

// A program whose oldest architecture is newer does not get it.
// NEWER-NOT: wgmma
func.func @main(%x: tensor<53x3x80x128xf32>, %w: tensor<64x7x7x3xf16>, %b: tensor<1x1x1x64xf16>) -> tensor<53x20x32x64xf16> attributes {tcp.target = "cuda"} {
  %s = tcp.isolated_group %x, %w, %b attributes {anchor = "stem", pattern = "cast+transpose+conv2d+bias+relu+max_pool"} {
  ^bb0(%i: tensor<53x3x80x128xf32>, %f: tensor<64x7x7x3xf16>, %v: tensor<1x1x1x64xf16>):
    %0 = tcp.cast %i : tensor<53x3x80x128xf32> -> tensor<53x3x80x128xf16>
    %1 = tcp.transpose %0 {perm = array<i64: 0, 2, 3, 1>} : tensor<53x3x80x128xf16> -> tensor<53x80x128x3xf16>
    %2 = tcp.conv2d %1, %f {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 3, 3, 3, 3>, stride = array<i64: 2, 2>} : tensor<53x80x128x3xf16>, tensor<64x7x7x3xf16> -> tensor<53x40x64x64xf16>
    %3 = tcp.add %2, %v : tensor<53x40x64x64xf16>, tensor<1x1x1x64xf16> -> tensor<53x40x64x64xf16>
    %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<53x40x64x64xf16> -> tensor<53x40x64x64xf16>
    %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<53x40x64x64xf16> -> tensor<53x20x32x64xf16>
    tcp.yield %5 : tensor<53x20x32x64xf16>
  } : tensor<53x3x80x128xf32>, tensor<64x7x7x3xf16>, tensor<1x1x1x64xf16> -> tensor<53x20x32x64xf16>
  return %s : tensor<53x20x32x64xf16>
}

// With seven rows per block almost every multiprocessor has two blocks; with eight there are fewer,
// in the kernel for every GPU.
// CHECK: cudnn.kernels = [{block = 128 : i64, chip = "sm_90a", grid = 256 : i64, name = "stem_1_wgmma_7", shared_bytes = 42816 : i64, tf32 = false, variant = "wgmma_7"}, {block = 128 : i64, chip = "sm_80", grid = 224 : i64, name = "stem_1_8x4"
func.func @batch32(%x: tensor<32x3x224x128xf32>, %w: tensor<64x7x7x3xf16>, %b: tensor<1x1x1x64xf16>) -> tensor<32x56x32x64xf16> attributes {tcp.target = "cuda"} {
  %s = tcp.isolated_group %x, %w, %b attributes {anchor = "stem", pattern = "cast+transpose+conv2d+bias+relu+max_pool"} {
  ^bb0(%i: tensor<32x3x224x128xf32>, %f: tensor<64x7x7x3xf16>, %v: tensor<1x1x1x64xf16>):
    %0 = tcp.cast %i : tensor<32x3x224x128xf32> -> tensor<32x3x224x128xf16>
    %1 = tcp.transpose %0 {perm = array<i64: 0, 2, 3, 1>} : tensor<32x3x224x128xf16> -> tensor<32x224x128x3xf16>
    %2 = tcp.conv2d %1, %f {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 3, 3, 3, 3>, stride = array<i64: 2, 2>} : tensor<32x224x128x3xf16>, tensor<64x7x7x3xf16> -> tensor<32x112x64x64xf16>
    %3 = tcp.add %2, %v : tensor<32x112x64x64xf16>, tensor<1x1x1x64xf16> -> tensor<32x112x64x64xf16>
    %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<32x112x64x64xf16> -> tensor<32x112x64x64xf16>
    %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<32x112x64x64xf16> -> tensor<32x56x32x64xf16>
    tcp.yield %5 : tensor<32x56x32x64xf16>
  } : tensor<32x3x224x128xf32>, tensor<64x7x7x3xf16>, tensor<1x1x1x64xf16> -> tensor<32x56x32x64xf16>
  return %s : tensor<32x56x32x64xf16>
}
