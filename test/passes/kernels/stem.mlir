// RUN: convoy-opt %s --convert-tcp-to-cudnn | filecheck %s --check-prefix=GRAPH
// RUN: convoy-opt %s --convert-tcp-to-cudnn --cudnn-attach-kernels | filecheck %s --check-prefix=KERNEL
// RUN: convoy-opt %s -pass-pipeline="builtin.module(convert-tcp-to-cudnn,cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s --check-prefix=PTX

// The graph of a stem describes what its kernel computes: cuDNN has no engine for it, and there is
// no build function.
// GRAPH: cudnn.graph @stem_0(%[[X:.*]]: !cudnn.tensor_desc<2x3x32x64xf32, NCHW>, %[[W:.*]]: !cudnn.tensor_desc<64x3x7x7xf16, NHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>)
// GRAPH-SAME: attributes {cudnn.preference = "only_kernel"}
// GRAPH-NEXT: %[[I:.*]] = cudnn.pointwise identity(%[[X]]) type = f32
// GRAPH-NEXT: %[[C:.*]] = cudnn.convolution(%[[I]], %[[W]]) type = f32 spatial_stride = [2, 2] pre_padding = [3, 3] post_padding = [3, 3]
// GRAPH-NEXT: %[[A:.*]] = cudnn.pointwise add(%[[C]], %[[B]]) type = f32
// GRAPH-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[A]]) type = f32 lower_clip = 0.000000e+00
// GRAPH-NEXT: %[[P:.*]] = cudnn.resample maxpool(%[[R]]) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] padding_mode = neg_inf_pad
// GRAPH-NEXT: cudnn.return %[[P]]
// GRAPH: cudnn.execute @stem_0

// KERNEL: gpu.module @stem_0_1x1
// KERNEL: llvm.call @convoy_stem_f16_f32_64(
// KERNEL: cudnn.kernels = [{block = 64 : i64, chip = "sm_80", grid = 16 : i64, name = "stem_0_1x1", shared_bytes = 44992 : i64, tf32 = false, variant = "1x1"}]

// PTX: gpu.binary @stem_0_1x1
// PTX-SAME: mma.sync.aligned.m16n8k16
// PTX-NOT: .extern .func
func.func @main(%x: tensor<2x3x32x64xf32>, %w: tensor<64x7x7x3xf16>, %b: tensor<1x1x1x64xf16>) -> tensor<2x8x16x64xf16> attributes {tcp.target = "cuda"} {
  %s = tcp.isolated_group %x, %w, %b attributes {anchor = "stem", pattern = "cast+transpose+conv2d+bias+relu+max_pool"} {
  ^bb0(%i: tensor<2x3x32x64xf32>, %f: tensor<64x7x7x3xf16>, %v: tensor<1x1x1x64xf16>):
    %0 = tcp.cast %i : tensor<2x3x32x64xf32> -> tensor<2x3x32x64xf16>
    %1 = tcp.transpose %0 {perm = array<i64: 0, 2, 3, 1>} : tensor<2x3x32x64xf16> -> tensor<2x32x64x3xf16>
    %2 = tcp.conv2d %1, %f {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 3, 3, 3, 3>, stride = array<i64: 2, 2>} : tensor<2x32x64x3xf16>, tensor<64x7x7x3xf16> -> tensor<2x16x32x64xf16>
    %3 = tcp.add %2, %v : tensor<2x16x32x64xf16>, tensor<1x1x1x64xf16> -> tensor<2x16x32x64xf16>
    %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<2x16x32x64xf16> -> tensor<2x16x32x64xf16>
    %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<2x16x32x64xf16> -> tensor<2x8x16x64xf16>
    tcp.yield %5 : tensor<2x8x16x64xf16>
  } : tensor<2x3x32x64xf32>, tensor<64x7x7x3xf16>, tensor<1x1x1x64xf16> -> tensor<2x8x16x64xf16>
  return %s : tensor<2x8x16x64xf16>
}
