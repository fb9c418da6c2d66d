// RUN: convoy-opt %s -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s

// 4 steps of 16 channels for four products of 64 filters. The residual is loaded and the result
// stored 16 bytes at a time.
// CHECK: gpu.binary @expand_wgmma_32x3
// CHECK: .target sm_90a
// CHECK-NOT: .local
// CHECK: ld.global.v4
// CHECK-COUNT-16: wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: st.global.v4
// CHECK-NOT: st.global.b32
// CHECK: gpu.binary @expand_wgmma_64x2
cudnn.graph @expand(%x: !cudnn.tensor_desc<32x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<256x64x1x1xf16, NHWC>, %b: !cudnn.tensor_desc<1x256x1x1xf16, NHWC>, %r: !cudnn.tensor_desc<32x256x56x56xf16, NHWC>) -> !cudnn.tensor_desc<32x256x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<32x64x56x56xf16, NHWC>, !cudnn.tensor_desc<256x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<32x256x56x56xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %r) type = f32 : !cudnn.tensor_desc<32x256x56x56xf32, NHWC>, !cudnn.tensor_desc<32x256x56x56xf16, NHWC> -> !cudnn.tensor_desc<32x256x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !cudnn.tensor_desc<32x256x56x56xf32, NHWC>, !cudnn.tensor_desc<1x256x1x1xf16, NHWC> -> !cudnn.tensor_desc<32x256x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<32x256x56x56xf32, NHWC> -> !cudnn.tensor_desc<32x256x56x56xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<32x256x56x56xf16, NHWC>
}

// With 32-bit elements the 16 bytes of a thread belong to two products of 64 filters, and factors
// are rounded to TF32.
// CHECK: gpu.binary @expand_f32_wgmma_32x3
// CHECK: cvt.rna.tf32.f32
// CHECK-COUNT-16: wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32
// CHECK-NOT: wgmma.mma_async
// CHECK: st.global.v4
cudnn.graph @expand_f32(%x: !cudnn.tensor_desc<32x64x56x56xf32, NHWC>, %w: !cudnn.tensor_desc<256x64x1x1xf32, NHWC>, %b: !cudnn.tensor_desc<1x256x1x1xf32, NHWC>, %r: !cudnn.tensor_desc<32x256x56x56xf32, NHWC>) -> !cudnn.tensor_desc<32x256x56x56xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<32x64x56x56xf32, NHWC>, !cudnn.tensor_desc<256x64x1x1xf32, NHWC> -> !cudnn.tensor_desc<32x256x56x56xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %r) type = f32 : !cudnn.tensor_desc<32x256x56x56xf32, NHWC>, !cudnn.tensor_desc<32x256x56x56xf32, NHWC> -> !cudnn.tensor_desc<32x256x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !cudnn.tensor_desc<32x256x56x56xf32, NHWC>, !cudnn.tensor_desc<1x256x1x1xf32, NHWC> -> !cudnn.tensor_desc<32x256x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<32x256x56x56xf32, NHWC> -> !cudnn.tensor_desc<32x256x56x56xf32, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<32x256x56x56xf32, NHWC>
}
