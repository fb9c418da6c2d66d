// RUN: convoy-opt %s -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s

// The geometry is constant: unrolled products, 9 taps of 4 steps of 16 channels, and sums in
// registers.
// CHECK: gpu.binary @conv_wgmma_4x56x2
// CHECK: .target sm_90a
// CHECK-NOT: .local
// CHECK-COUNT-36: wgmma.mma_async.sync.aligned.m64n232k16.f32.f16.f16
// CHECK-NOT: wgmma.mma_async
// CHECK-NOT: cp.async.bulk.prefetch
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: gpu.binary @conv_wgmma_3x28x3
// CHECK: m64n88k16
cudnn.graph @conv(%x: !cudnn.tensor_desc<256x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<256x64x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<256x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x64x56x56xf16, NHWC>
}

// With 32-bit elements a step is 8 channels. They are rounded to TF32 when they are stored for the
// tensor cores, and tiles are prefetched into the L2 cache.
// CHECK: gpu.binary @conv_f32_wgmma_3x28x2
// CHECK-NOT: .local
// CHECK: cp.async.bulk.prefetch.L2.global
// CHECK: wgmma.mma_async.sync.aligned.m64n88k8.f32.tf32.tf32
// CHECK: cvt.rna.tf32.f32
cudnn.graph @conv_f32(%x: !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf32, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf32, NHWC>) -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<64x64x3x3xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<256x64x56x56xf32, NHWC>
}
