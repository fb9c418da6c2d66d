// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=remarks --verify-diagnostics | filecheck %s
// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=chip=sm_100 | filecheck %s --check-prefix=NEWER
// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels="chip=sm_100 remarks" -o /dev/null 2>&1 | filecheck %s --check-prefix=OLD
// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels="allow-tf32=false remarks" -o /dev/null 2>&1 | filecheck %s --check-prefix=FORBIDDEN

// Many pixels: two groups of warps with the widest products, on four rows of 56 columns with a
// border; or three groups with narrower products. The integers are: images; height, width and
// channels of the input; channels of the result; taps; padding; rows and columns of a tile; bytes
// per 16 bytes of its pixels; groups; blocks with the same filters; and whether tiles are
// prefetched into the L2 cache.
// CHECK: gpu.module @batch256_wgmma_4x56x2 [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: llvm.func @batch256_wgmma_4x56x2(
// CHECK: llvm.mlir.constant(dense<[{{.*}}256, 56, 56, 64, 56, 56, 64, 3, 3, 1, 1, 4, 56, 5648, 2, 132, 0, 0{{.*}}> : tensor<
// CHECK: llvm.call @convoy_conv_wgmma_f16_232_24(
// CHECK: gpu.module @batch256_wgmma_3x28x3 [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: llvm.func @batch256_wgmma_3x28x3(
// CHECK: llvm.mlir.constant(dense<[{{.*}}2448, 3, 132, 0, 0{{.*}}> : tensor<
// CHECK: llvm.call @convoy_conv_wgmma_f16_88_16(
// CHECK: cudnn.graph @batch256(
// CHECK-SAME: cudnn.kernels = [{block = 256 : i64, chip = "sm_90a", grid = 132 : i64, name = "batch256_wgmma_4x56x2", shared_bytes = 165248 : i64, tf32 = false, variant = "wgmma_4x56x2"}, {block = 384 : i64, chip = "sm_90a", grid = 132 : i64, name = "batch256_wgmma_3x28x3", shared_bytes = 133632 : i64, tf32 = false, variant = "wgmma_3x28x3"}, {{{.*}}name = "batch256_tma_
// CHECK-SAME: cudnn.preference = "kernel"
// A program whose oldest architecture is newer does not get them.
// NEWER-NOT: wgmma
// OLD: remark: no kernel: its kernels are for sm_90a only, but the program is for sm_100 and newer
cudnn.graph @batch256(%x: !cudnn.tensor_desc<256x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<256x64x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<256x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x64x56x56xf16, NHWC>
}

// -----

// Fewer pixels: smaller tiles, so that all multiprocessors have about the same number of them.
// CHECK: gpu.module @batch32_wgmma_2x56x3 [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: llvm.func @batch32_wgmma_2x56x3(
// CHECK: llvm.mlir.constant(dense<[{{.*}}3728, 3, 132, 0, 0{{.*}}> : tensor<
// CHECK: llvm.call @convoy_conv_wgmma_f16_120_16(
// CHECK: cudnn.graph @batch32(
// CHECK-SAME: cudnn.kernels = [{block = 384 : i64, chip = "sm_90a", grid = 132 : i64, name = "batch32_wgmma_2x56x3", shared_bytes = 164432 : i64, tf32 = false, variant = "wgmma_2x56x3"}, {block = 256 : i64, chip = "sm_90a", grid = 132 : i64, name = "batch32_wgmma_2x56x2", shared_bytes = 134608 : i64, tf32 = false, variant = "wgmma_2x56x2"}, {{{.*}}name = "batch32_tma_
cudnn.graph @batch32(%x: !cudnn.tensor_desc<32x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<32x64x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<32x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<32x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<32x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<32x64x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<32x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<32x64x56x56xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<32x64x56x56xf16, NHWC>
}

// -----

// CHECK: llvm.call @convoy_conv_wgmma_bf16_232_24(
// CHECK: cudnn.graph @in_bf16(
cudnn.graph @in_bf16(%x: !cudnn.tensor_desc<256x64x56x56xbf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xbf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xbf16, NHWC>) -> !cudnn.tensor_desc<256x64x56x56xbf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<256x64x56x56xbf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xbf16, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xbf16, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xbf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x64x56x56xbf16, NHWC>
}

// -----

// Elements are twice as wide. Filters take 150 of 227 kB, and tiles almost all of the rest. This
// leaves so little for the L1 cache that tiles are prefetched into the L2 cache.
// CHECK: gpu.module @in_f32_wgmma_3x28x2 [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: llvm.func @in_f32_wgmma_3x28x2(
// CHECK: llvm.mlir.constant(dense<[{{.*}}2448, 2, 132, 1, 0{{.*}}> : tensor<
// CHECK: llvm.call @convoy_conv_wgmma_f32_88_20(
// CHECK: gpu.module @in_f32_wgmma_4x14x3 [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: llvm.func @in_f32_wgmma_4x14x3(
// CHECK: llvm.mlir.constant(dense<[{{.*}}1552, 3, 132, 1, 0{{.*}}> : tensor<
// CHECK: llvm.call @convoy_conv_wgmma_f32_64_16(
// CHECK: cudnn.graph @in_f32(
// CHECK-SAME: cudnn.kernels = [{block = 256 : i64, chip = "sm_90a", grid = 132 : i64, name = "in_f32_wgmma_3x28x2", shared_bytes = 228096 : i64, tf32 = true, variant = "wgmma_3x28x2"}, {block = 384 : i64, chip = "sm_90a", grid = 132 : i64, name = "in_f32_wgmma_4x14x3", shared_bytes = 224272 : i64, tf32 = true, variant = "wgmma_4x14x3"}]
// FORBIDDEN: remark: no kernel: kernels round f32 to TF32, which allow-tf32=false forbids
cudnn.graph @in_f32(%x: !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf32, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<64x64x3x3xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
}

// -----

// Sums may be in any order, and absent operands are null. A residual takes registers, so products
// are narrower.
// CHECK: llvm.func @residual_wgmma_3x28x3(%[[X:.*]]: !llvm.ptr {llvm.nonnull}, %[[W:.*]]: !llvm.ptr {llvm.nonnull}, %[[R:.*]]: !llvm.ptr {llvm.nonnull}, %[[Y:.*]]: !llvm.ptr {llvm.nonnull}) attributes
// CHECK: %[[NULL:.*]] = llvm.mlir.zero
// CHECK: llvm.mlir.constant(dense<[{{.*}}1086324736{{.*}}> : tensor<
// CHECK: llvm.call @convoy_conv_wgmma_f16_88_16(%[[X]], %[[W]], %[[NULL]], %{{.*}}, %[[R]], %[[Y]],
cudnn.graph @residual(%x: !cudnn.tensor_desc<256x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %r: !cudnn.tensor_desc<256x64x56x56xf16, NHWC>) -> !cudnn.tensor_desc<256x64x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<256x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %r) type = f32 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<256x64x56x56xf16, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%1) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x64x56x56xf16, NHWC>
}

// -----

// A block has 64 of five times 64 filters, and 26 blocks have the same filters: 27 would be more
// than there are multiprocessors.
// CHECK: gpu.module @filters320_wgmma
// CHECK: llvm.mlir.constant(dense<[{{.*}}26{{.*}}> : tensor<
// CHECK: cudnn.graph @filters320(
// CHECK-SAME: grid = 130 : i64, name = "filters320_wgmma
cudnn.graph @filters320(%x: !cudnn.tensor_desc<64x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<320x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x320x1x1xf16, NHWC>) -> !cudnn.tensor_desc<64x320x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<64x64x56x56xf16, NHWC>, !cudnn.tensor_desc<320x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<64x320x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<64x320x56x56xf32, NHWC>, !cudnn.tensor_desc<1x320x1x1xf16, NHWC> -> !cudnn.tensor_desc<64x320x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<64x320x56x56xf32, NHWC> -> !cudnn.tensor_desc<64x320x56x56xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<64x320x56x56xf16, NHWC>
}

// -----

// A wide image is split into equal parts: 17 of 59 columns.
// CHECK: gpu.module @wide_wgmma_2x59x3
cudnn.graph @wide(%x: !cudnn.tensor_desc<8x64x1000x1000xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<8x64x1000x1000xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x64x1000x1000xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x1000x1000xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<8x64x1000x1000xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x1000x1000xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<8x64x1000x1000xf32, NHWC> -> !cudnn.tensor_desc<8x64x1000x1000xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<8x64x1000x1000xf16, NHWC>
}

// -----

// A product has 64 columns, more than the 56 pixels of a tile. The last product ends within the
// block's memory, 576 bytes and twice 112 after the last plane, also when its two chunks are
// accessed as one.
// CHECK: cudnn.graph @taps5(
// CHECK-SAME: name = "taps5_wgmma_3x4x3", shared_bytes = 230688 : i64
cudnn.graph @taps5(%x: !cudnn.tensor_desc<3x32x61x53xf32, NHWC>, %w: !cudnn.tensor_desc<64x32x5x5xf32, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<3x64x57x49xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<3x32x61x53xf32, NHWC>, !cudnn.tensor_desc<64x32x5x5xf32, NHWC> -> !cudnn.tensor_desc<3x64x57x49xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<3x64x57x49xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<3x64x57x49xf32, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<3x64x57x49xf32, NHWC>
}

// -----

// Neither small nor large: the same kernels, after those of conv_tma.cu.
// CHECK: cudnn.graph @middle(
// CHECK-SAME: chip = "sm_90a", {{.*}}name = "middle_tma_
// CHECK-SAME: chip = "sm_90a", {{.*}}name = "middle_wgmma_2x32x3"
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @middle(%x: !cudnn.tensor_desc<8x64x32x32xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<8x64x32x32xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x64x32x32xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x32x32xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<8x64x32x32xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x32x32xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<8x64x32x32xf32, NHWC> -> !cudnn.tensor_desc<8x64x32x32xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<8x64x32x32xf16, NHWC>
}

// -----

// Small: only those for every GPU.
// CHECK-NOT: gpu.module @small_wgmma
// CHECK: cudnn.graph @small(
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @small(%x: !cudnn.tensor_desc<7x64x32x32xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<7x64x32x32xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<7x64x32x32xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<7x64x32x32xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<7x64x32x32xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<7x64x32x32xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<7x64x32x32xf32, NHWC> -> !cudnn.tensor_desc<7x64x32x32xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<7x64x32x32xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the convolution is large enough for cuDNN's kernels, and no kernel for sm_90a applies: its stride or dilation is not 1}}
cudnn.graph @strided(%x: !cudnn.tensor_desc<1024x64x56x56xf32, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf32, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<1024x64x28x28xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1024x64x56x56xf32, NHWC>, !cudnn.tensor_desc<64x64x3x3xf32, NHWC> -> !cudnn.tensor_desc<1024x64x28x28xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<1024x64x28x28xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<1024x64x28x28xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1024x64x28x28xf32, NHWC> -> !cudnn.tensor_desc<1024x64x28x28xf32, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<1024x64x28x28xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the convolution is large enough for cuDNN's kernels, and no kernel for sm_90a applies: its stride or dilation is not 1}}
cudnn.graph @dilated(%x: !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf32, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<256x64x54x54xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [2, 2] : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<64x64x3x3xf32, NHWC> -> !cudnn.tensor_desc<256x64x54x54xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x64x54x54xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<256x64x54x54xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x64x54x54xf32, NHWC> -> !cudnn.tensor_desc<256x64x54x54xf32, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x64x54x54xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the convolution is large enough for cuDNN's kernels, and no kernel for sm_90a applies: its channels are not a power of two from 8 to 64}}
cudnn.graph @channels128(%x: !cudnn.tensor_desc<256x128x28x28xf32, NHWC>, %w: !cudnn.tensor_desc<128x128x3x3xf32, NHWC>, %b: !cudnn.tensor_desc<1x128x1x1xf32, NHWC>) -> !cudnn.tensor_desc<256x128x28x28xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<256x128x28x28xf32, NHWC>, !cudnn.tensor_desc<128x128x3x3xf32, NHWC> -> !cudnn.tensor_desc<256x128x28x28xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x128x28x28xf32, NHWC>, !cudnn.tensor_desc<1x128x1x1xf32, NHWC> -> !cudnn.tensor_desc<256x128x28x28xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x128x28x28xf32, NHWC> -> !cudnn.tensor_desc<256x128x28x28xf32, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x128x28x28xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the convolution is large enough for cuDNN's kernels, and no kernel for sm_90a applies: its channels are not a power of two from 8 to 64}}
cudnn.graph @channels48(%x: !cudnn.tensor_desc<256x48x56x56xf32, NHWC>, %w: !cudnn.tensor_desc<64x48x3x3xf32, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<256x48x56x56xf32, NHWC>, !cudnn.tensor_desc<64x48x3x3xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the convolution is large enough for cuDNN's kernels, and no kernel for sm_90a applies: its channels are not a power of two from 8 to 64}}
cudnn.graph @channels4_f32(%x: !cudnn.tensor_desc<512x4x112x112xf32, NHWC>, %w: !cudnn.tensor_desc<64x4x3x3xf32, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<512x64x112x112xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<512x4x112x112xf32, NHWC>, !cudnn.tensor_desc<64x4x3x3xf32, NHWC> -> !cudnn.tensor_desc<512x64x112x112xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<512x64x112x112xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<512x64x112x112xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<512x64x112x112xf32, NHWC> -> !cudnn.tensor_desc<512x64x112x112xf32, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<512x64x112x112xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the convolution is large enough for cuDNN's kernels, and no kernel for sm_90a applies: its filters are not a multiple of 64}}
cudnn.graph @filters96(%x: !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, %w: !cudnn.tensor_desc<96x64x3x3xf32, NHWC>, %b: !cudnn.tensor_desc<1x96x1x1xf32, NHWC>) -> !cudnn.tensor_desc<256x96x56x56xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<96x64x3x3xf32, NHWC> -> !cudnn.tensor_desc<256x96x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x96x56x56xf32, NHWC>, !cudnn.tensor_desc<1x96x1x1xf32, NHWC> -> !cudnn.tensor_desc<256x96x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x96x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x96x56x56xf32, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x96x56x56xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the convolution is large enough for cuDNN's kernels, and no kernel for sm_90a applies: 64 filters and a part of the image do not fit into shared memory}}
cudnn.graph @taps7(%x: !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, %w: !cudnn.tensor_desc<64x64x7x7xf32, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [3, 3] post_padding = [3, 3] dilation = [1, 1] : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<64x64x7x7xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
}
