// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels="remarks" --verify-diagnostics | filecheck %s
// RUN: convoy-opt %s --split-input-file -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s --check-prefix=PTX

// A block computes an image for two groups: a pixel has 96 bytes, whole sectors.
// CHECK: gpu.module @small_2x14x14x4
// CHECK: llvm.call @convoy_grouped_f16(
// CHECK: cudnn.graph @small(
// CHECK-SAME: block = 256 : i64, chip = "sm_80", grid = 224 : i64, name = "small_2x14x14x4"
// CHECK-SAME: cudnn.preference = "kernel"

// Sums are in registers.
// PTX: gpu.binary @small_2x14x14x4
// PTX-NOT: .local
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX-NOT: .local
// PTX: cudnn.graph @small(
cudnn.graph @small(%x: !cudnn.tensor_desc<32x336x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<336x24x3x3xf16, NHWC>) -> !cudnn.tensor_desc<32x336x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<32x336x14x14xf16, NHWC>, !cudnn.tensor_desc<336x24x3x3xf16, NHWC> -> !cudnn.tensor_desc<32x336x14x14xf32, NHWC>
  %1 = cudnn.pointwise swish_fwd(%0) type = f32 : !cudnn.tensor_desc<32x336x14x14xf32, NHWC> -> !cudnn.tensor_desc<32x336x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<32x336x14x14xf16, NHWC>
}

// -----

// Eight channels with two filters each are a bundle.
// CHECK: gpu.module @multiplied_
// CHECK: llvm.call @convoy_grouped_bf16(
// CHECK: cudnn.graph @multiplied(
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @multiplied(%x: !cudnn.tensor_desc<1x64x14x14xbf16, NHWC>, %w: !cudnn.tensor_desc<128x1x3x3xbf16, NHWC>) -> !cudnn.tensor_desc<1x128x14x14xbf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xbf16, NHWC>, !cudnn.tensor_desc<128x1x3x3xbf16, NHWC> -> !cudnn.tensor_desc<1x128x14x14xbf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x128x14x14xbf16, NHWC>
}

// -----

// With 64 channels per group cuDNN's plan is the first choice.
// CHECK: cudnn.graph @wide(
// CHECK-SAME: cudnn.kernels = [
// CHECK-SAME: tf32 = true
// CHECK-SAME: cudnn.preference = "plan"
cudnn.graph @wide(%x: !cudnn.tensor_desc<1x128x14x14xf32, NHWC>, %w: !cudnn.tensor_desc<128x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<1x128x14x14xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<1x128x14x14xf32, NHWC>, !cudnn.tensor_desc<128x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<1x128x14x14xf32, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x128x14x14xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: a window of a bundle of groups has more than 1536 bytes}}
cudnn.graph @large(%x: !cudnn.tensor_desc<1x256x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<256x128x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x256x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x256x14x14xf16, NHWC>, !cudnn.tensor_desc<256x128x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x256x14x14xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x256x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: its filters are not a multiple of 8}}
cudnn.graph @uneven(%x: !cudnn.tensor_desc<1x12x14x14xf32, NHWC>, %w: !cudnn.tensor_desc<12x4x3x3xf32, NHWC>) -> !cudnn.tensor_desc<1x12x14x14xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x12x14x14xf32, NHWC>, !cudnn.tensor_desc<12x4x3x3xf32, NHWC> -> !cudnn.tensor_desc<1x12x14x14xf32, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x12x14x14xf32, NHWC>
}
