// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=remarks --verify-diagnostics | filecheck %s
// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=chip=sm_100 | filecheck %s --check-prefix=NEWER

// Tiles of 32 pixels for three groups of warps, of 64 for two. The integers are pixels, channels,
// filters, groups, and blocks with the same filters; a block has 256. Those of attach-conv-tma.mlir
// follow.
// CHECK: gpu.module @residual_wgmma_32x3 [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: llvm.func @residual_wgmma_32x3(
// CHECK: llvm.mlir.constant(dense<[{{.*}}100352, 64, 512, 3, 66, 0{{.*}}> : tensor<
// CHECK: llvm.call @convoy_conv1x1_wgmma_f16_32(
// CHECK: llvm.call @convoy_conv1x1_wgmma_f16_64(
// CHECK: llvm.call @convoy_conv_tma_f16_
// CHECK: cudnn.graph @residual(
// CHECK-SAME: cudnn.kernels = [{block = 384 : i64, chip = "sm_90a", grid = 132 : i64, name = "residual_wgmma_32x3", shared_bytes = 45568 : i64, tf32 = false, variant = "wgmma_32x3"}, {block = 256 : i64, chip = "sm_90a", grid = 132 : i64, name = "residual_wgmma_64x2", shared_bytes = 49536 : i64, tf32 = false, variant = "wgmma_64x2"}, {{{.*}}name = "residual_tma_
// CHECK-SAME: cudnn.preference = "kernel"
// NEWER-NOT: wgmma
cudnn.graph @residual(%x: !cudnn.tensor_desc<32x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<512x64x1x1xf16, NHWC>, %b: !cudnn.tensor_desc<1x512x1x1xf16, NHWC>, %r: !cudnn.tensor_desc<32x512x56x56xf16, NHWC>) -> !cudnn.tensor_desc<32x512x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<32x64x56x56xf16, NHWC>, !cudnn.tensor_desc<512x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<32x512x56x56xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %r) type = f32 : !cudnn.tensor_desc<32x512x56x56xf32, NHWC>, !cudnn.tensor_desc<32x512x56x56xf16, NHWC> -> !cudnn.tensor_desc<32x512x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !cudnn.tensor_desc<32x512x56x56xf32, NHWC>, !cudnn.tensor_desc<1x512x1x1xf16, NHWC> -> !cudnn.tensor_desc<32x512x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<32x512x56x56xf32, NHWC> -> !cudnn.tensor_desc<32x512x56x56xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<32x512x56x56xf16, NHWC>
}

// -----

// 16 bytes of a pixel are four of its filters, so a block has 128.
// CHECK: gpu.module @alone_wgmma_32x3
// CHECK: llvm.call @convoy_conv1x1_wgmma_f32_32(
// CHECK: gpu.module @alone_wgmma_32x4
// CHECK: cudnn.graph @alone(
// CHECK-SAME: block = 384 : i64, chip = "sm_90a", grid = 132 : i64, name = "alone_wgmma_32x3", shared_bytes = 58368 : i64, tf32 = true
cudnn.graph @alone(%x: !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, %w: !cudnn.tensor_desc<256x64x1x1xf32, NHWC>, %b: !cudnn.tensor_desc<1x256x1x1xf32, NHWC>) -> !cudnn.tensor_desc<256x256x56x56xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<256x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<256x256x56x56xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x256x56x56xf32, NHWC>, !cudnn.tensor_desc<1x256x1x1xf32, NHWC> -> !cudnn.tensor_desc<256x256x56x56xf32, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<256x256x56x56xf32, NHWC>
}

// -----

// A tile of 32 pixels of few channels is less than one load by the threads of a group.
// CHECK: gpu.module @narrow_wgmma_64x2
// CHECK: llvm.call @convoy_conv1x1_wgmma_f16_64(
// CHECK: cudnn.graph @narrow(
cudnn.graph @narrow(%x: !cudnn.tensor_desc<256x16x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<256x16x1x1xf16, NHWC>, %b: !cudnn.tensor_desc<1x256x1x1xf16, NHWC>) -> !cudnn.tensor_desc<256x256x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<256x16x56x56xf16, NHWC>, !cudnn.tensor_desc<256x16x1x1xf16, NHWC> -> !cudnn.tensor_desc<256x256x56x56xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x256x56x56xf32, NHWC>, !cudnn.tensor_desc<1x256x1x1xf16, NHWC> -> !cudnn.tensor_desc<256x256x56x56xf32, NHWC>
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x256x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x256x56x56xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<256x256x56x56xf16, NHWC>
}

// -----

// More channels than these kernels have: those of conv_tma.cu alone.
// CHECK: llvm.call @convoy_conv_tma_f16_
// CHECK: cudnn.graph @deep(
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @deep(%x: !cudnn.tensor_desc<256x128x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<256x128x1x1xf16, NHWC>, %b: !cudnn.tensor_desc<1x256x1x1xf16, NHWC>) -> !cudnn.tensor_desc<256x256x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<256x128x56x56xf16, NHWC>, !cudnn.tensor_desc<256x128x1x1xf16, NHWC> -> !cudnn.tensor_desc<256x256x56x56xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x256x56x56xf32, NHWC>, !cudnn.tensor_desc<1x256x1x1xf16, NHWC> -> !cudnn.tensor_desc<256x256x56x56xf32, NHWC>
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x256x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x256x56x56xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<256x256x56x56xf16, NHWC>
}

// -----

// Filters that fill no block are computed by conv_wgmma.cu.
// CHECK: gpu.module @few_filters_wgmma_
// CHECK: llvm.call @convoy_conv_wgmma_f16_
cudnn.graph @few_filters(%x: !cudnn.tensor_desc<256x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x1x1xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<256x64x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<256x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<256x64x56x56xf16, NHWC>
}
