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

// With a stride LLVM does not fold the addresses of filters in shared memory.
// PTX: gpu.binary @strided_1x1x2x1
// PTX: st.shared
// PTX: cudnn.graph @strided(
cudnn.graph @strided(%x: !cudnn.tensor_desc<1x96x8x8xf16, NHWC>, %w: !cudnn.tensor_desc<192x1x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x192x4x4xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x96x8x8xf16, NHWC>, !cudnn.tensor_desc<192x1x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x192x4x4xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x192x4x4xf16, NHWC>
}

// -----

// With many channels per group, the groups are products of their own: conv.cu comes first.
// CHECK: llvm.call @convoy_conv_f32_32x32(
// CHECK: llvm.call @convoy_grouped_f32(
// CHECK: cudnn.graph @wide(
// CHECK-SAME: cudnn.kernels = [{block = 128 : i64, {{.*}}name = "wide_32x32x1x1"
// CHECK-SAME: tf32 = true
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @wide(%x: !cudnn.tensor_desc<1x128x14x14xf32, NHWC>, %w: !cudnn.tensor_desc<128x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<1x128x14x14xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<1x128x14x14xf32, NHWC>, !cudnn.tensor_desc<128x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<1x128x14x14xf32, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x128x14x14xf32, NHWC>
}

// -----

// Windows that do not fit into the kernel for few channels. The integers are channels and filters
// of all groups, and of one.
// CHECK: llvm.mlir.constant(dense<[1, 14, 14, 256, 14, 14, 256, 128, 128, 3, 3,{{.*}}> : tensor<
// CHECK: llvm.call @convoy_conv_f16_32x32(
// CHECK-NOT: convoy_grouped
// CHECK: cudnn.graph @large(
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @large(%x: !cudnn.tensor_desc<1x256x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<256x128x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x256x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x256x14x14xf16, NHWC>, !cudnn.tensor_desc<256x128x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x256x14x14xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x256x14x14xf16, NHWC>
}

// -----

// Four channels in f32 are 16 bytes.
// CHECK: llvm.call @convoy_conv_f32_32x32(
// CHECK: cudnn.graph @uneven(
cudnn.graph @uneven(%x: !cudnn.tensor_desc<1x12x14x14xf32, NHWC>, %w: !cudnn.tensor_desc<12x4x3x3xf32, NHWC>) -> !cudnn.tensor_desc<1x12x14x14xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x12x14x14xf32, NHWC>, !cudnn.tensor_desc<12x4x3x3xf32, NHWC> -> !cudnn.tensor_desc<1x12x14x14xf32, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x12x14x14xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: a window of a bundle of groups has more than 1536 bytes}}
cudnn.graph @large_uneven(%x: !cudnn.tensor_desc<1x264x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<264x132x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x264x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x264x14x14xf16, NHWC>, !cudnn.tensor_desc<264x132x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x264x14x14xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x264x14x14xf16, NHWC>
}
