// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=remarks --verify-diagnostics | filecheck %s
// RUN: convoy-opt %s --split-input-file -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s --check-prefix=PTX

// The windows and the filters are tensor maps: a box has 64 channels of one tap. A tap of 96
// channels is two steps, so the depth is 9 * 128. The integers are rows, depth, columns, groups,
// blocks and steps in shared memory; after the epilogue spatial dims, channels, and sizes of the
// result, taps, strides, padding and dilation in depth, height and width.
// CHECK: llvm.func @strided_tma_[[TILE:[0-9]+x[0-9]+x[0-9]+]](
// CHECK: llvm.mlir.constant(dense<[6272, 1152, 192, 1, {{[0-9]+}}, {{[0-9]+}}, 1, 0, 0, {{.*}}, 2, 96, 1, 28, 28, 1, 3, 3, 1, 2, 2, 0, 1, 1, 1, 1, 1]> : tensor<
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

// -----

// Three spatial dims, with strides, padding and dilation that differ; a large convolution has the two
// best tiles, and cuDNN's plan comes first.
// CHECK: llvm.mlir.constant(dense<[2560, 3456, 256, 1, {{[0-9]+}}, {{[0-9]+}}, 0, 0, 0, {{.*}}, 3, 128, 5, 16, 16, 3, 3, 3, 2, 1, 1, 1, 2, 0, 1, 2, 1]> : tensor<
// CHECK: cudnn.graph @volume(
// CHECK-SAME: tensor_maps = [{box = [{{[0-9]+}}, 64], high = [1, 2, 2], low = [1, 2, 0], reach = [2, 4, 2], shape = [2, 10, 16, 16, 128], strides = [2, 1, 1], tensor = 0 : i64}, {box = [{{[0-9]+}}, 1, 64], shape = [256, 27, 128], tensor = 1 : i64}]
// CHECK-SAME: tensor_maps
// CHECK-SAME: cudnn.preference = "plan"
// PTX: gpu.binary @volume_tma_
// PTX-NOT: .local
// PTX-NOT: div.
// PTX: cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
// PTX-NOT: .local
// PTX-NOT: div.
// PTX: cudnn.graph @volume(
cudnn.graph @volume(%x: !cudnn.tensor_desc<2x128x10x16x16xbf16, NDHWC>, %w: !cudnn.tensor_desc<256x128x3x3x3xbf16, NDHWC>) -> !cudnn.tensor_desc<2x256x5x16x16xbf16, NDHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [2, 1, 1] pre_padding = [1, 2, 0] post_padding = [1, 2, 2] dilation = [1, 2, 1] : !cudnn.tensor_desc<2x128x10x16x16xbf16, NDHWC>, !cudnn.tensor_desc<256x128x3x3x3xbf16, NDHWC> -> !cudnn.tensor_desc<2x256x5x16x16xbf16, NDHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x256x5x16x16xbf16, NDHWC>
}

// -----

// One tap in the depth: the depth is more images. Height and width of one tap are one dim.
// CHECK: cudnn.graph @flat(
// CHECK-SAME: high = [1, 1], low = [1, 1], reach = [2, 2], shape = [16, 14, 14, 64], strides = [2, 2], tensor = 0 : i64}, {box = [{{[0-9]+}}, 1, 64], shape = [64, 9, 64], tensor = 1 : i64}
cudnn.graph @flat(%x: !cudnn.tensor_desc<2x64x8x14x14xf16, NDHWC>, %w: !cudnn.tensor_desc<64x64x1x3x3xf16, NDHWC>) -> !cudnn.tensor_desc<2x64x8x7x7xf16, NDHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 2, 2] pre_padding = [0, 1, 1] post_padding = [0, 1, 1] dilation = [1, 1, 1] : !cudnn.tensor_desc<2x64x8x14x14xf16, NDHWC>, !cudnn.tensor_desc<64x64x1x3x3xf16, NDHWC> -> !cudnn.tensor_desc<2x64x8x7x7xf16, NDHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x64x8x7x7xf16, NDHWC>
}

// -----

// CHECK: llvm.mlir.constant(dense<[{{.*}}, 2, 64, 1, 4, 196, 1, 3, 1, 1, 2, 1, 0, 1, 0, 1, 1, 1]> : tensor<
// CHECK: cudnn.graph @temporal(
// CHECK-SAME: high = [1, 0], low = [1, 0], reach = [2, 0], shape = [2, 8, 196, 64], strides = [2, 1], tensor = 0 : i64}, {box = [{{[0-9]+}}, 1, 64], shape = [64, 3, 64], tensor = 1 : i64}
cudnn.graph @temporal(%x: !cudnn.tensor_desc<2x64x8x14x14xf16, NDHWC>, %w: !cudnn.tensor_desc<64x64x3x1x1xf16, NDHWC>) -> !cudnn.tensor_desc<2x64x4x14x14xf16, NDHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [2, 1, 1] pre_padding = [1, 0, 0] post_padding = [1, 0, 0] dilation = [1, 1, 1] : !cudnn.tensor_desc<2x64x8x14x14xf16, NDHWC>, !cudnn.tensor_desc<64x64x3x1x1xf16, NDHWC> -> !cudnn.tensor_desc<2x64x4x14x14xf16, NDHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x64x4x14x14xf16, NDHWC>
}

// -----

// Corners of maps over three spatial dims have 5 bits.
// expected-remark @+1 {{no kernel: it has groups over three spatial dims, or a stride, dilation or padding that is too large for a tensor map}}
cudnn.graph @padded(%x: !cudnn.tensor_desc<2x64x8x8x8xf16, NDHWC>, %w: !cudnn.tensor_desc<64x64x2x2x2xf16, NDHWC>) -> !cudnn.tensor_desc<2x64x41x9x9xf16, NDHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1, 1] pre_padding = [17, 1, 1] post_padding = [17, 1, 1] dilation = [1, 1, 1] : !cudnn.tensor_desc<2x64x8x8x8xf16, NDHWC>, !cudnn.tensor_desc<64x64x2x2x2xf16, NDHWC> -> !cudnn.tensor_desc<2x64x41x9x9xf16, NDHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x64x41x9x9xf16, NDHWC>
}

// -----

// expected-remark @+1 {{no kernel: it has groups over three spatial dims, or a stride, dilation or padding that is too large for a tensor map}}
cudnn.graph @grouped_volume(%x: !cudnn.tensor_desc<2x64x8x8x8xf16, NDHWC>, %w: !cudnn.tensor_desc<64x32x3x3x3xf16, NDHWC>) -> !cudnn.tensor_desc<2x64x8x8x8xf16, NDHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1, 1] pre_padding = [1, 1, 1] post_padding = [1, 1, 1] dilation = [1, 1, 1] : !cudnn.tensor_desc<2x64x8x8x8xf16, NDHWC>, !cudnn.tensor_desc<64x32x3x3x3xf16, NDHWC> -> !cudnn.tensor_desc<2x64x8x8x8xf16, NDHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x64x8x8x8xf16, NDHWC>
}

// -----

// expected-remark @+1 {{no kernel: the kernel for windows is for 16-bit floats}}
cudnn.graph @wide_volume(%x: !cudnn.tensor_desc<2x64x8x8x8xf32, NDHWC>, %w: !cudnn.tensor_desc<64x64x3x3x3xf32, NDHWC>) -> !cudnn.tensor_desc<2x64x8x8x8xf32, NDHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1, 1] pre_padding = [1, 1, 1] post_padding = [1, 1, 1] dilation = [1, 1, 1] : !cudnn.tensor_desc<2x64x8x8x8xf32, NDHWC>, !cudnn.tensor_desc<64x64x3x3x3xf32, NDHWC> -> !cudnn.tensor_desc<2x64x8x8x8xf32, NDHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x64x8x8x8xf32, NDHWC>
}

// -----

// expected-remark @+1 {{no kernel: its result has less than 64 pixels}}
cudnn.graph @few_volume(%x: !cudnn.tensor_desc<1x64x3x4x4xf16, NDHWC>, %w: !cudnn.tensor_desc<64x64x3x3x3xf16, NDHWC>) -> !cudnn.tensor_desc<1x64x3x4x4xf16, NDHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1, 1] pre_padding = [1, 1, 1] post_padding = [1, 1, 1] dilation = [1, 1, 1] : !cudnn.tensor_desc<1x64x3x4x4xf16, NDHWC>, !cudnn.tensor_desc<64x64x3x3x3xf16, NDHWC> -> !cudnn.tensor_desc<1x64x3x4x4xf16, NDHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x64x3x4x4xf16, NDHWC>
}

// -----

// Groups are products of their own: columns of a group, and groups. The last dim of the image's map
// is that of groups, and all images are the depth. Other kernels come first.
// CHECK: llvm.call @convoy_conv_f16_
// CHECK: llvm.mlir.constant(dense<[1568, 1152, 112, 8, {{[0-9]+}}, {{[0-9]+}}, 0, 0, 0, {{.*}}, 3, 112, 8, 14, 14, 1, 3, 3, 1, 1, 1, 0, 1, 1, 1, 1, 1]> : tensor<
// CHECK: llvm.call @convoy_conv_tma_f16_
// CHECK: cudnn.graph @grouped(
// CHECK-SAME: high = [1, 1], low = [1, 1], reach = [2, 2], shape = [8, 14, 14, 8, 112], strides = [1, 1], tensor = 0 : i64}, {box = [{{[0-9]+}}, 1, 64], shape = [896, 9, 112], tensor = 1 : i64}
// CHECK-SAME: cudnn.preference = "kernel"
// PTX: gpu.binary @grouped_tma_
// PTX-NOT: .local
// PTX-NOT: div.
// PTX: cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
// PTX-NOT: .local
// PTX-NOT: div.
// PTX: cudnn.graph @grouped(
cudnn.graph @grouped(%x: !cudnn.tensor_desc<8x896x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<896x112x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x896x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x896x14x14xf16, NHWC>, !cudnn.tensor_desc<896x112x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x896x14x14xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<8x896x14x14xf16, NHWC>
}

// -----

// Groups with few channels, and with channels that are no whole pieces of 16 bytes.
// CHECK: cudnn.graph @grouped_few(
// CHECK-NOT: tensor_maps
cudnn.graph @grouped_few(%x: !cudnn.tensor_desc<8x96x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<96x24x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x96x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x96x14x14xf16, NHWC>, !cudnn.tensor_desc<96x24x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x96x14x14xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<8x96x14x14xf16, NHWC>
}

// -----

// CHECK: cudnn.graph @grouped_odd(
// CHECK-NOT: tensor_maps
cudnn.graph @grouped_odd(%x: !cudnn.tensor_desc<8x72x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<80x36x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x80x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<8x72x14x14xf16, NHWC>, !cudnn.tensor_desc<80x36x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x80x14x14xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<8x80x14x14xf16, NHWC>
}
