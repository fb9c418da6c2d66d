// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels="remarks" --verify-diagnostics | filecheck %s
// RUN: convoy-opt %s --split-input-file -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s --check-prefix=PTX

// The first layer of R3D-18. Blocks compute half of the filters, or all of them.
// CHECK: gpu.module @r3d_narrow_4x8x8x32x4x2
// CHECK: llvm.mlir.constant(dense<[8, 4, 64, 16, 112, 112, 16, 56, 56, 3, 7, 7, 1, 2, 2, 1, 3, 3, 1, 1, 1, 4, 8, 8, 32, 4, 4, 2, 131, {{.*}}]> : tensor
// CHECK: llvm.call @convoy_conv_narrow_f16(
// CHECK: gpu.module @r3d_narrow_{{.*}}x64x2x1
// CHECK: cudnn.graph @r3d(
// CHECK-SAME: block = 128 : i64, chip = "sm_80", grid = 262 : i64, name = "r3d_narrow_4x8x8x32x4x2", shared_bytes = 84304
// CHECK-SAME: cudnn.preference = "kernel"

// Sums are in registers, and filters are read 16 bytes at a time.
// PTX: gpu.binary @r3d_narrow_
// PTX-NOT: .local
// PTX: ld.shared.v4.b32
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX-NOT: .local
// PTX: cudnn.graph @r3d(
cudnn.graph @r3d(%x: !cudnn.tensor_desc<8x4x16x112x112xf16, NDHWC>, %w: !cudnn.tensor_desc<64x4x3x7x7xf16, NDHWC>) -> !cudnn.tensor_desc<8x64x16x56x56xf16, NDHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 2, 2] pre_padding = [1, 3, 3] post_padding = [1, 3, 3] dilation = [1, 1, 1] : !cudnn.tensor_desc<8x4x16x112x112xf16, NDHWC>, !cudnn.tensor_desc<64x4x3x7x7xf16, NDHWC> -> !cudnn.tensor_desc<8x64x16x56x56xf32, NDHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<8x64x16x56x56xf32, NDHWC> -> !cudnn.tensor_desc<8x64x16x56x56xf16, NDHWC>
  cudnn.return %1 : !cudnn.tensor_desc<8x64x16x56x56xf16, NDHWC>
}

// -----

// Three channels, and filters that fill no block: a copy has 8 bytes.
// CHECK: llvm.call @convoy_conv_narrow_bf16(
// CHECK: cudnn.graph @three(
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @three(%x: !cudnn.tensor_desc<2x3x33x31xbf16, NHWC>, %w: !cudnn.tensor_desc<40x3x3x3xbf16, NHWC>) -> !cudnn.tensor_desc<2x40x33x31xbf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<2x3x33x31xbf16, NHWC>, !cudnn.tensor_desc<40x3x3x3xbf16, NHWC> -> !cudnn.tensor_desc<2x40x33x31xbf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x40x33x31xbf16, NHWC>
}

// -----

// Whole pieces of 16 bytes: the kernels for those come first.
// CHECK: llvm.call @convoy_conv_f16_32x32(
// CHECK: llvm.call @convoy_conv_narrow_f16(
// CHECK: cudnn.graph @eight(
// CHECK-SAME: cudnn.kernels = [{block = 128 : i64, {{.*}}name = "eight_32x32x
cudnn.graph @eight(%x: !cudnn.tensor_desc<1x8x32x32xf16, NHWC>, %w: !cudnn.tensor_desc<32x8x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x32x32x32xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x8x32x32xf16, NHWC>, !cudnn.tensor_desc<32x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x32x32x32xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x32x32x32xf16, NHWC>
}

// -----

// The patches of a vision transformer.
// expected-remark @+1 {{no kernel: the filters and windows of few channels do not fit into shared memory, or into an unrolled loop}}
cudnn.graph @patches(%x: !cudnn.tensor_desc<1x4x224x224xf16, NHWC>, %w: !cudnn.tensor_desc<768x4x32x32xf16, NHWC>) -> !cudnn.tensor_desc<1x768x7x7xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [32, 32] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<1x4x224x224xf16, NHWC>, !cudnn.tensor_desc<768x4x32x32xf16, NHWC> -> !cudnn.tensor_desc<1x768x7x7xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x768x7x7xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: channels are not a multiple of 8}}
cudnn.graph @filters(%x: !cudnn.tensor_desc<1x4x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<20x4x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x20x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x4x14x14xf16, NHWC>, !cudnn.tensor_desc<20x4x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x20x14x14xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x20x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: channels are not a multiple of 4}}
cudnn.graph @wide_elements(%x: !cudnn.tensor_desc<1x3x14x14xf32, NHWC>, %w: !cudnn.tensor_desc<32x3x3x3xf32, NHWC>) -> !cudnn.tensor_desc<1x32x14x14xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x3x14x14xf32, NHWC>, !cudnn.tensor_desc<32x3x3x3xf32, NHWC> -> !cudnn.tensor_desc<1x32x14x14xf32, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x32x14x14xf32, NHWC>
}

// -----

// The first layer of MobileNet v3, with a hard swish.
// CHECK: llvm.call @convoy_conv_narrow_f16(
// CHECK: cudnn.graph @hard_swish(
// PTX: cudnn.graph @hard_swish(
cudnn.graph @hard_swish(%x: !cudnn.tensor_desc<8x4x32x32xf16, NHWC>, %w: !cudnn.tensor_desc<16x4x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x16x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x4x32x32xf16, NHWC>, !cudnn.tensor_desc<16x4x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x16x16x16xf32, NHWC>
  %1 = cudnn.constant 3.0 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32, NCHW>
  %2 = cudnn.pointwise add(%0, %1) type = f32 : !cudnn.tensor_desc<8x16x16x16xf32, NHWC>, !cudnn.tensor_desc<1x1x1x1xf32, NCHW> -> !cudnn.tensor_desc<8x16x16x16xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<8x16x16x16xf32, NHWC> -> !cudnn.tensor_desc<8x16x16x16xf32, NHWC>
  %4 = cudnn.pointwise mul(%0, %3) type = f32 : !cudnn.tensor_desc<8x16x16x16xf32, NHWC>, !cudnn.tensor_desc<8x16x16x16xf32, NHWC> -> !cudnn.tensor_desc<8x16x16x16xf32, NHWC>
  %5 = cudnn.constant 6.0 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32, NCHW>
  %6 = cudnn.pointwise div(%4, %5) type = f32 : !cudnn.tensor_desc<8x16x16x16xf32, NHWC>, !cudnn.tensor_desc<1x1x1x1xf32, NCHW> -> !cudnn.tensor_desc<8x16x16x16xf16, NHWC>
  cudnn.return %6 : !cudnn.tensor_desc<8x16x16x16xf16, NHWC>
}

// -----

// Another constant is no hard swish.
// expected-remark @+1 {{no kernel: its first operation is not followed by a chain of pointwise operations}}
cudnn.graph @other_constant(%x: !cudnn.tensor_desc<8x4x32x32xf16, NHWC>, %w: !cudnn.tensor_desc<16x4x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x16x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x4x32x32xf16, NHWC>, !cudnn.tensor_desc<16x4x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x16x16x16xf32, NHWC>
  %1 = cudnn.constant 3.0 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32, NCHW>
  %2 = cudnn.pointwise add(%0, %1) type = f32 : !cudnn.tensor_desc<8x16x16x16xf32, NHWC>, !cudnn.tensor_desc<1x1x1x1xf32, NCHW> -> !cudnn.tensor_desc<8x16x16x16xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<8x16x16x16xf32, NHWC> -> !cudnn.tensor_desc<8x16x16x16xf32, NHWC>
  %4 = cudnn.pointwise mul(%0, %3) type = f32 : !cudnn.tensor_desc<8x16x16x16xf32, NHWC>, !cudnn.tensor_desc<8x16x16x16xf32, NHWC> -> !cudnn.tensor_desc<8x16x16x16xf32, NHWC>
  %5 = cudnn.constant 5.0 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32, NCHW>
  %6 = cudnn.pointwise div(%4, %5) type = f32 : !cudnn.tensor_desc<8x16x16x16xf32, NHWC>, !cudnn.tensor_desc<1x1x1x1xf32, NCHW> -> !cudnn.tensor_desc<8x16x16x16xf16, NHWC>
  cudnn.return %6 : !cudnn.tensor_desc<8x16x16x16xf16, NHWC>
}
