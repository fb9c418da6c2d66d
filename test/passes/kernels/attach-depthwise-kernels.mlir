// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels="allow-tf32=false remarks" --verify-diagnostics | filecheck %s
// RUN: convoy-opt %s --split-input-file -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s --check-prefix=PTX

// Seven pixels per thread keep a large GPU busy; four are offered too. Products are computed in
// full, so f32 needs no TF32.
// CHECK: gpu.module @large_7x8x4x7
// CHECK: llvm.call @convoy_depthwise_f32_4x7(
// CHECK: gpu.module @large_4x8x7x4
// CHECK: cudnn.graph @large(
// CHECK-SAME: cudnn.kernels = [{block = 224 : i64, chip = "sm_80", grid = 768 : i64, name = "large_7x8x4x7", shared_bytes = 2304 : i64, tf32 = false, variant = "7x8x4x7"}
// CHECK-SAME: cudnn.preference = "kernel"

// Filters are copied to shared memory in pieces of 16 bytes, and arrive during the loads of the
// first row of the window: nine columns for seven pixels. Nothing is in local memory.
// PTX: gpu.binary @large_7x8x4x7
// PTX-NOT: .local
// PTX: .minnctapersm 2
// PTX: cp.async.cg.shared.global
// PTX-COUNT-9: ld.global.v4
// PTX: barrier.sync
// PTX: cp.async.wait_group 0
// PTX-NOT: .local
// PTX: gpu.binary @large_4x8x7x4
cudnn.graph @large(%x: !cudnn.tensor_desc<32x192x28x28xf32, NHWC>, %w: !cudnn.tensor_desc<192x1x3x3xf32, NHWC>) -> !cudnn.tensor_desc<32x192x28x28xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<32x192x28x28xf32, NHWC>, !cudnn.tensor_desc<192x1x3x3xf32, NHWC> -> !cudnn.tensor_desc<32x192x28x28xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<32x192x28x28xf32, NHWC> -> !cudnn.tensor_desc<32x192x28x28xf32, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<32x192x28x28xf32, NHWC>
}

// -----

// Few pixels: one per thread, in more blocks.
// CHECK: gpu.module @small_1x8x14x1
// CHECK: gpu.module @small_2x8x7x1
// CHECK: cudnn.graph @small(
cudnn.graph @small(%x: !cudnn.tensor_desc<1x576x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<576x1x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x576x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x576x14x14xf16, NHWC>, !cudnn.tensor_desc<576x1x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x576x14x14xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<1x576x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x576x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x576x14x14xf16, NHWC>
}

// -----

// More taps and a larger stride fit fewer pixels into the registers.
// CHECK: gpu.module @strided_4x8x7x4
// CHECK: gpu.module @strided_2x8x14x2
// CHECK: cudnn.graph @strided(
// PTX: gpu.binary @strided_4x8x7x4
// PTX-NOT: .local
// PTX: cudnn.graph @strided(
cudnn.graph @strided(%x: !cudnn.tensor_desc<32x96x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<96x1x7x7xf16, NHWC>) -> !cudnn.tensor_desc<32x96x28x28xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [2, 2] pre_padding = [3, 3] post_padding = [3, 3] dilation = [1, 1] : !cudnn.tensor_desc<32x96x56x56xf16, NHWC>, !cudnn.tensor_desc<96x1x7x7xf16, NHWC> -> !cudnn.tensor_desc<32x96x28x28xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<32x96x28x28xf32, NHWC> -> !cudnn.tensor_desc<32x96x28x28xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<32x96x28x28xf16, NHWC>
}

// -----

// With one strip per row, the columns that are padding are known: of 13 for seven pixels, seven are
// loaded.
// CHECK: gpu.module @narrow_7x8x1x7
// CHECK: cudnn.graph @narrow(
// PTX: gpu.binary @narrow_7x8x1x7
// PTX-NOT: .local
// PTX: cp.async.cg.shared.global
// PTX-COUNT-7: ld.global.v2
// PTX-NOT: ld.global.v2
// PTX: barrier.sync
// PTX-NOT: .local
// PTX: gpu.binary @narrow_4x8x2x7
cudnn.graph @narrow(%x: !cudnn.tensor_desc<32x768x7x7xf16, NHWC>, %w: !cudnn.tensor_desc<768x1x7x7xf16, NHWC>) -> !cudnn.tensor_desc<32x768x7x7xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [3, 3] post_padding = [3, 3] dilation = [1, 1] : !cudnn.tensor_desc<32x768x7x7xf16, NHWC>, !cudnn.tensor_desc<768x1x7x7xf16, NHWC> -> !cudnn.tensor_desc<32x768x7x7xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<32x768x7x7xf32, NHWC> -> !cudnn.tensor_desc<32x768x7x7xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<32x768x7x7xf16, NHWC>
}

// -----

// Rows of more than 11 taps are read by parts: 12 taps in three of four, which are the last of the
// arguments before the threads. One pixel needs four columns of a part.
// CHECK: dense<[1, 1, 14, 14, 64, 1, 14, 5, 1, 3, 12, 1, 1, 1, 0, 1, 1, 1, 1, 1, 4,
// CHECK: llvm.call @convoy_depthwise_f16_4x1(
// CHECK: gpu.module @wide_2x
// CHECK: cudnn.graph @wide(
// PTX: gpu.binary @wide_1x
// PTX-NOT: .local
// PTX-COUNT-4: ld.global.v2
// PTX-NOT: ld.global.v2
// PTX: barrier.sync
// PTX-NOT: .local
// PTX: gpu.binary @wide_2x
cudnn.graph @wide(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x1x3x12xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x5xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x1x3x12xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x5xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<1x64x14x5xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x5xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x5xf16, NHWC>
}

// -----

// A window over one dim, and seven pixels of a thread: 15 parts of five taps.
// CHECK: gpu.module @audio_7x
// CHECK: dense<[4, 1, 1, 200, 512, 1, 1, 200, 1, 1, 75, 1, 1, 1, 0, 0, 37, 1, 1, 1, 5,
// CHECK: gpu.module @audio_4x
// CHECK: cudnn.graph @audio(
cudnn.graph @audio(%x: !cudnn.tensor_desc<4x512x1x200xf16, NHWC>, %w: !cudnn.tensor_desc<512x1x1x75xf16, NHWC>) -> !cudnn.tensor_desc<4x512x1x200xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 37] post_padding = [0, 37] dilation = [1, 1] : !cudnn.tensor_desc<4x512x1x200xf16, NHWC>, !cudnn.tensor_desc<512x1x1x75xf16, NHWC> -> !cudnn.tensor_desc<4x512x1x200xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<4x512x1x200xf16, NHWC>
}

// -----

// Three spatial dims: planes of the window, with a stride of one.
// CHECK: dense<[4, 8, 56, 56, 96, 8, 7, 7, 3, 3, 3, 1, 8, 8, 1, 1, 1, 1, 1, 1, 3,
// CHECK: cudnn.graph @video(
cudnn.graph @video(%x: !cudnn.tensor_desc<4x96x8x56x56xf16, NDHWC>, %w: !cudnn.tensor_desc<96x1x3x3x3xf16, NDHWC>) -> !cudnn.tensor_desc<4x96x8x7x7xf16, NDHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 8, 8] pre_padding = [1, 1, 1] post_padding = [1, 1, 1] dilation = [1, 1, 1] : !cudnn.tensor_desc<4x96x8x56x56xf16, NDHWC>, !cudnn.tensor_desc<96x1x3x3x3xf16, NDHWC> -> !cudnn.tensor_desc<4x96x8x7x7xf16, NDHWC>
  cudnn.return %0 : !cudnn.tensor_desc<4x96x8x7x7xf16, NDHWC>
}

// -----

// expected-remark @+1 {{no kernel: its filters do not fit into shared memory}}
cudnn.graph @whole(%x: !cudnn.tensor_desc<1x64x96x96xf32, NHWC>, %w: !cudnn.tensor_desc<64x1x96x96xf32, NHWC>) -> !cudnn.tensor_desc<1x64x1x1xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<1x64x96x96xf32, NHWC>, !cudnn.tensor_desc<64x1x96x96xf32, NHWC> -> !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

// -----

// 20 channels are five pieces of four.
// CHECK: gpu.module @odd_1x5x14x1
// CHECK: llvm.call @convoy_depthwise_f16_4x1(
// CHECK: cudnn.graph @odd(
cudnn.graph @odd(%x: !cudnn.tensor_desc<1x20x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<20x1x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x20x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x20x14x14xf16, NHWC>, !cudnn.tensor_desc<20x1x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x20x14x14xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<1x20x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x20x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x20x14x14xf16, NHWC>
}

// -----

// Channels of a thread divide all channels.
// CHECK: llvm.call @convoy_depthwise_f16_2x1(
// CHECK: cudnn.graph @two(
cudnn.graph @two(%x: !cudnn.tensor_desc<1x58x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<58x1x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x58x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x58x14x14xf16, NHWC>, !cudnn.tensor_desc<58x1x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x58x14x14xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x58x14x14xf16, NHWC>
}

// -----

// CHECK: llvm.call @convoy_depthwise_bf16_1x1(
// CHECK: cudnn.graph @one(
cudnn.graph @one(%x: !cudnn.tensor_desc<1x27x14x14xbf16, NHWC>, %w: !cudnn.tensor_desc<27x1x3x3xbf16, NHWC>) -> !cudnn.tensor_desc<1x27x14x14xbf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x27x14x14xbf16, NHWC>, !cudnn.tensor_desc<27x1x3x3xbf16, NHWC> -> !cudnn.tensor_desc<1x27x14x14xbf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x27x14x14xbf16, NHWC>
}

// -----

// CHECK: gpu.module @sigmoid_
cudnn.graph @sigmoid(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x1x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x1x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise sigmoid_fwd(%0) type = f32 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// CHECK: gpu.module @swish_1x8x14x1
// CHECK: cudnn.graph @swish(
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @swish(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x1x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x1x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise swish_fwd(%0) type = f32 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// CHECK: gpu.module @gelu_1x8x14x1
// CHECK: cudnn.graph @gelu(
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @gelu(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x1x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x1x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %2 = cudnn.pointwise gelu_fwd(%1) type = f32 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}
