// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels="remarks" --verify-diagnostics | filecheck %s
// RUN: convoy-opt %s --split-input-file -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s --check-prefix=PTX

// The last layer of a decoder: tiles of 16x32 pixels, and all nine taps of a pixel together, or three
// at a time.
// CHECK: gpu.module @decoder_few_filters_{{[0-9x]+}}x3
// CHECK: llvm.mlir.constant(dense<[2, 256, 256, 128, 256, 256, 3, 3, 3, 1, 1, 1, 1, 1, 1, {{.*}}]> : tensor
// CHECK: llvm.call @convoy_conv_few_filters_f16(
// CHECK: gpu.module @decoder_few_filters_{{[0-9x]+}}x3
// CHECK: gpu.module @decoder_few_filters_{{[0-9x]+}}x1
// CHECK: cudnn.graph @decoder(
// CHECK-SAME: cudnn.preference = "kernel"

// Sums are in registers, and pieces of 16 bytes are read without shared memory.
// PTX: gpu.binary @decoder_few_filters_
// PTX-NOT: .local
// PTX: ld.global{{.*}}.v4.b32
// PTX: ld.shared.v4.b32
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX-NOT: .local
// PTX: cudnn.graph @decoder(
cudnn.graph @decoder(%x: !cudnn.tensor_desc<2x128x256x256xf16, NHWC>, %w: !cudnn.tensor_desc<3x128x3x3xf16, NHWC>) -> !cudnn.tensor_desc<2x3x256x256xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<2x128x256x256xf16, NHWC>, !cudnn.tensor_desc<3x128x3x3xf16, NHWC> -> !cudnn.tensor_desc<2x3x256x256xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x3x256x256xf16, NHWC>
}

// -----

// Whole pieces of filters: other kernels are candidates as well.
// CHECK: llvm.call @convoy_conv_few_filters_bf16(
// CHECK: llvm.call @convoy_conv_bf16_32x32(
// CHECK: cudnn.graph @eight(
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @eight(%x: !cudnn.tensor_desc<1x64x32x32xbf16, NHWC>, %w: !cudnn.tensor_desc<8x64x1x1xbf16, NHWC>) -> !cudnn.tensor_desc<1x8x32x32xbf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<1x64x32x32xbf16, NHWC>, !cudnn.tensor_desc<8x64x1x1xbf16, NHWC> -> !cudnn.tensor_desc<1x8x32x32xbf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x32x32xbf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the filters and products of few filters do not fit into shared memory or registers}}
cudnn.graph @long(%x: !cudnn.tensor_desc<1x512x64x64xf16, NHWC>, %w: !cudnn.tensor_desc<12x512x1x33xf16, NHWC>) -> !cudnn.tensor_desc<1x12x64x32xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<1x512x64x64xf16, NHWC>, !cudnn.tensor_desc<12x512x1x33xf16, NHWC> -> !cudnn.tensor_desc<1x12x64x32xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x12x64x32xf16, NHWC>
}

// -----

// Few pixels.
// expected-remark @+1 {{no kernel: channels are not a multiple of 8}}
cudnn.graph @small(%x: !cudnn.tensor_desc<8x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<3x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x3x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x64x14x14xf16, NHWC>, !cudnn.tensor_desc<3x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x3x14x14xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<8x3x14x14xf16, NHWC>
}
