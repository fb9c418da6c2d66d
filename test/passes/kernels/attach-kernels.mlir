// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=remarks --verify-diagnostics | filecheck %s

// Sums in any order, then one relu: each kernel is a separate module, with the graph's geometry as
// constants.
// CHECK: gpu.module @full_32x32x2x1 [#nvvm.target<O = 3, chip = "sm_80">] {
// CHECK-NEXT: llvm.func @convoy_conv_f16_32x32(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr {llvm.byval = !llvm.array<
// CHECK: llvm.func @full_32x32x2x1(%[[X:.*]]: !llvm.ptr {llvm.nonnull}, %[[W:.*]]: !llvm.ptr {llvm.nonnull}, %[[B:.*]]: !llvm.ptr {llvm.nonnull}, %[[R:.*]]: !llvm.ptr {llvm.nonnull}, %[[Y:.*]]: !llvm.ptr {llvm.nonnull}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256>}
// CHECK: llvm.mlir.constant(dense<[{{.*}}56{{.*}}> : tensor<
// CHECK: llvm.call @convoy_conv_f16_32x32(%[[X]], %[[W]], %[[B]], %{{.*}}, %[[R]], %[[Y]],
// CHECK: gpu.module @full_32x64x2x1
// CHECK: cudnn.graph @full(
// CHECK-SAME: cudnn.kernels = [{block = 256 : i64, chip = "sm_80", grid = 196 : i64, name = "full_32x32x2x1", shared_bytes = 65536 : i64, tf32 = false, variant = "32x32x2x1"}
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @full(%x: !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %r: !cudnn.tensor_desc<1x64x56x56xf16, NHWC>) -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %r) type = f32 : !cudnn.tensor_desc<1x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x56x56xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !cudnn.tensor_desc<1x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
  cudnn.return %3 : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
}

// -----

// Few tiles: a cluster shares the sum, which needs a newer architecture for its barriers; or four
// groups of warps do.
// CHECK: gpu.module @few_32x32x1x4 [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx80">]
// CHECK: llvm.func @few_32x32x1x4({{.*}}nvvm.cluster_dim = array<i32: 4, 1, 1>
// CHECK: gpu.module @few_32x32x4x1 [#nvvm.target<O = 3, chip = "sm_80">]
// CHECK: cudnn.graph @few(
// CHECK-SAME: chip = "sm_90", grid = 56 : i64, name = "few_32x32x1x4"
cudnn.graph @few(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// Large, with full steps and tiles: a kernel of conv_tma.cu is the first choice.
// CHECK: cudnn.graph @middle(
// CHECK-SAME: variant = "tma_
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @middle(%x: !cudnn.tensor_desc<2x64x112x112xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<2x64x112x112xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<2x64x112x112xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<2x64x112x112xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<2x64x112x112xf32, NHWC> -> !cudnn.tensor_desc<2x64x112x112xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<2x64x112x112xf16, NHWC>
}

// -----

// Half of each step is zeros: the kernels are offered, and cuDNN's first plan runs until they are
// measured.
// CHECK: cudnn.graph @few_channels(
// CHECK-SAME: cudnn.preference = "plan"
cudnn.graph @few_channels(%x: !cudnn.tensor_desc<2x32x112x112xf16, NHWC>, %w: !cudnn.tensor_desc<64x32x3x3xf16, NHWC>) -> !cudnn.tensor_desc<2x64x112x112xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<2x32x112x112xf16, NHWC>, !cudnn.tensor_desc<64x32x3x3xf16, NHWC> -> !cudnn.tensor_desc<2x64x112x112xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<2x64x112x112xf32, NHWC> -> !cudnn.tensor_desc<2x64x112x112xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<2x64x112x112xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the convolution is large enough for cuDNN's kernels, and no kernel for sm_90a applies: its channels are not a power of two from 8 to 64}}
cudnn.graph @large(%x: !cudnn.tensor_desc<64x128x112x112xf32, NHWC>, %w: !cudnn.tensor_desc<128x128x3x3xf32, NHWC>) -> !cudnn.tensor_desc<64x128x112x112xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<64x128x112x112xf32, NHWC>, !cudnn.tensor_desc<128x128x3x3xf32, NHWC> -> !cudnn.tensor_desc<64x128x112x112xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<64x128x112x112xf32, NHWC> -> !cudnn.tensor_desc<64x128x112x112xf32, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<64x128x112x112xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: it does not begin with a convolution over two or three spatial dims}}
cudnn.graph @one_dim(%x: !cudnn.tensor_desc<1x64x14xf16, NWC>, %w: !cudnn.tensor_desc<64x64x3xf16, NWC>) -> !cudnn.tensor_desc<1x64x14xf16, NWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1] pre_padding = [1] post_padding = [1] dilation = [1] : !cudnn.tensor_desc<1x64x14xf16, NWC>, !cudnn.tensor_desc<64x64x3xf16, NWC> -> !cudnn.tensor_desc<1x64x14xf16, NWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x64x14xf16, NWC>
}

// -----

// expected-remark @+1 {{no kernel: it does not begin with a convolution, matrix product or pooling}}
cudnn.graph @no_conv(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %1 = cudnn.pointwise add(%x, %w) type = f32 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<1x64x14x14xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the convolution flips its window, is scaled, or does not accumulate in f32}}
cudnn.graph @turned(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) kind = convolution type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: elements are not f16, bf16 or f32}}
cudnn.graph @in_f8(%x: !cudnn.tensor_desc<1x64x14x14xf8E4M3FN, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf8E4M3FN, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf8E4M3FN, NHWC>, !cudnn.tensor_desc<64x64x3x3xf8E4M3FN, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: input and filter are not two arguments of the same type in packed channels-last memory}}
cudnn.graph @planes(%x: !cudnn.tensor_desc<1x64x14x14xf16, NCHW>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NCHW>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: channels are not a multiple of 8}}
cudnn.graph @channels(%x: !cudnn.tensor_desc<1x20x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x20x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x20x14x14xf16, NHWC>, !cudnn.tensor_desc<64x20x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: operands are not one bias, one scale and one residual of the result's shape, in the input's element type}}
cudnn.graph @broadcast(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x1x14x14xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC>, !cudnn.tensor_desc<1x1x14x14xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: its first operation is not followed by a chain of pointwise operations}}
cudnn.graph @twice(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %0) type = f32 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC>, !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: operands are not one bias, one scale and one residual of the result's shape, in the input's element type}}
cudnn.graph @two_vectors(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %c: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %2 = cudnn.pointwise add(%1, %c) type = f32 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// A leaky relu: the slope of 0.1 is the last of the integers.
// CHECK: gpu.module @sloped_32x32
// CHECK: llvm.mlir.constant(dense<[{{.*}}, 1036831949]> : tensor<
cudnn.graph @sloped(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip_slope = 0.1 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: its first operation is not followed by a chain of pointwise operations}}
cudnn.graph @no_chain(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise add(%b, %b) type = f32 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<1x64x14x14xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: a pointwise operation scales its operands or does not compute in f32}}
cudnn.graph @scaled(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %b) type = f32 alpha2 = 2.0 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: an intermediate value is rounded}}
cudnn.graph @rounded(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// CHECK: gpu.module @sigmoid_32x32
cudnn.graph @sigmoid(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise sigmoid_fwd(%0) type = f32 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: its only result is not that of the last operation, in packed channels-last memory}}
cudnn.graph @wide_result(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
}

// -----

// expected-error @+1 {{expects a form with a kernel, because it is marked 'only_kernel', but it is not a chain of identity, convolution, sum, relu and max pooling}}
cudnn.graph @marked(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %y: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> attributes {cudnn.preference = "only_kernel"} {
  %0 = cudnn.pointwise add(%x, %y) type = f32 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<1x64x14x14xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}

// -----

// expected-error @+1 {{expects a form with a kernel, because it is marked 'only_kernel', but elements are not f16, bf16 or f32}}
cudnn.graph @marked_conv(%x: !cudnn.tensor_desc<1x64x14x14xf64, NHWC>, %w: !cudnn.tensor_desc<64x1x3x3xf64, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf64, NHWC> attributes {cudnn.preference = "only_kernel"} {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf64, NHWC>, !cudnn.tensor_desc<64x1x3x3xf64, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf64, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x64x14x14xf64, NHWC>
}

// -----

// A depthwise convolution that cuDNN has no engine for.
// CHECK: cudnn.graph @depthwise(
// CHECK-SAME: cudnn.kernels = [{
// CHECK-SAME: cudnn.preference = "only_kernel"
cudnn.graph @depthwise(%x: !cudnn.tensor_desc<1x64x14x14xbf16, NHWC>, %w: !cudnn.tensor_desc<64x1x3x3xbf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xbf16, NHWC> attributes {cudnn.preference = "only_kernel"} {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xbf16, NHWC>, !cudnn.tensor_desc<64x1x3x3xbf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise swish_fwd(%0) type = f32 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xbf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xbf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: a relu with a slope has other bounds than 0, or follows an activation}}
cudnn.graph @sloped_twice(%x: !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = -1.0 lower_clip_slope = 0.1 : !cudnn.tensor_desc<1x64x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x64x14x14xf16, NHWC>
}
