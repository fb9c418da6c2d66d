// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=remarks | filecheck %s
// RUN: convoy-opt %s --split-input-file -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s --check-prefix=PTX

// The windows and the filters are tensor maps: a box has 64 channels of one tap. A tap of 96
// channels is two steps, so the depth is 9 * 128. The integers are rows, depth, columns, blocks and
// steps in shared memory; after the epilogue channels, height and width of the result, taps,
// strides, padding and dilation.
// CHECK: llvm.func @strided_tma_[[TILE:[0-9]+x[0-9]+x[0-9]+]](
// CHECK: llvm.mlir.constant(dense<[6272, 1152, 192, {{[0-9]+}}, {{[0-9]+}}, 1, 0, 0, {{.*}}, 96, 28, 28, 3, 3, 2, 2, 1, 1, 1, 1]> : tensor<
// CHECK: llvm.call @convoy_conv_tma_f16_
// CHECK: cudnn.graph @strided(
// CHECK-SAME: {block = 288 : i64, chip = "sm_90a", {{.*}}tensor_maps = [{box = [{{[0-9]+}}, 64], high = [1, 1], low = [1, 1], reach = [2, 2], shape = [8, 56, 56, 96], strides = [2, 2], tensor = 0 : i64}, {box = [{{[0-9]+}}, 1, 64], shape = [192, 9, 96], tensor = 1 : i64}]
// PTX: gpu.binary @strided_tma_
// PTX-NOT: .local
// PTX-NOT: div.
// PTX: cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
// PTX: cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes
// PTX: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.f16.f16
// PTX-NOT: .local
// PTX-NOT: div.
cudnn.graph @strided(%x: !cudnn.tensor_desc<8x96x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<192x96x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x192x28x28xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x96x56x56xf16, NHWC>, !cudnn.tensor_desc<192x96x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x192x28x28xf32, NHWC>
  %1 = cudnn.pointwise swish_fwd(%0) type = f32 : !cudnn.tensor_desc<8x192x28x28xf32, NHWC> -> !cudnn.tensor_desc<8x192x28x28xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<8x192x28x28xf16, NHWC>
}

// -----

// Padding and dilation that differ between dims and sides.
// CHECK: cudnn.graph @uneven(
// CHECK-SAME: high = [2, 0], low = [1, 3], reach = [4, 3], shape = [2, 15, 17, 64], strides = [1, 1], tensor = 0 : i64
cudnn.graph @uneven(%x: !cudnn.tensor_desc<2x64x15x17xbf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x2xbf16, NHWC>) -> !cudnn.tensor_desc<2x64x14x17xbf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 3] post_padding = [2, 0] dilation = [2, 3] : !cudnn.tensor_desc<2x64x15x17xbf16, NHWC>, !cudnn.tensor_desc<64x64x3x2xbf16, NHWC> -> !cudnn.tensor_desc<2x64x14x17xbf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x64x14x17xbf16, NHWC>
}

// -----

// A stride that tensor maps do not have.
// CHECK: cudnn.graph @far(
// CHECK-NOT: tensor_maps
cudnn.graph @far(%x: !cudnn.tensor_desc<2x64x90x90xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<2x64x10x10xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [9, 9] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<2x64x90x90xf16, NHWC>, !cudnn.tensor_desc<64x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<2x64x10x10xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x64x10x10xf16, NHWC>
}

// -----

// Few pixels.
// CHECK: cudnn.graph @few(
// CHECK-NOT: tensor_maps
cudnn.graph @few(%x: !cudnn.tensor_desc<1x64x7x7xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<1x64x7x7xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !cudnn.tensor_desc<1x64x7x7xf16, NHWC>, !cudnn.tensor_desc<64x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x7x7xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x64x7x7xf16, NHWC>
}
