// RUN: convoy-opt %s -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" > %t
// RUN: filecheck %s < %t
// RUN: filecheck %s --check-prefix=BARRIERS < %t

// The sums of groups of warps are added 16 bytes at a time.
// CHECK: gpu.binary @conv_32x32x2x1
// CHECK: mma.sync.aligned.m16n8k16
// CHECK-NOT: ld.shared.b32
// CHECK: ld.shared.v4.b32
// CHECK-NOT: .local

// Nine steps: the group with four of them passes its barrier once more, before the barrier of all
// threads.
// BARRIERS: barrier.sync {{[^;]*}}, 128;
// BARRIERS-NOT: barrier.sync \090;
// BARRIERS: barrier.sync {{[^;]*}}, 128;
// BARRIERS: barrier.sync \090;
cudnn.graph @conv(%x: !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %v: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
}
