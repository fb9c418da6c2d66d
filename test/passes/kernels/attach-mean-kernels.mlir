// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=remarks --verify-diagnostics | filecheck %s

// Lanes, warps and blocks that share the sums of a strip; the strips of one image fill a GPU.
// CHECK: gpu.module @global_2x4x1 [#nvvm.target<O = 3, chip = "sm_80">] {
// CHECK: llvm.func @global_2x4x1(%[[X:.*]]: !llvm.ptr {llvm.nonnull}, %[[Y:.*]]: !llvm.ptr {llvm.nonnull}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>}
// CHECK: llvm.call @convoy_mean_f16(%[[X]], %[[Y]],
// CHECK: gpu.module @global_4x7x1
// CHECK: cudnn.graph @global(
// CHECK-SAME: cudnn.kernels = [{block = 128 : i64, chip = "sm_80", grid = 128 : i64, name = "global_2x4x1", shared_bytes = 256 : i64, tf32 = false, variant = "2x4x1"}
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @global(%x: !cudnn.tensor_desc<1x2048x7x7xf16, NHWC>) -> !cudnn.tensor_desc<1x2048x1x1xf16, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [7, 7] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x2048x7x7xf16, NHWC> -> !cudnn.tensor_desc<1x2048x1x1xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x2048x1x1xf16, NHWC>
}

// -----

// Many pixels with few channels: the blocks of a cluster share them.
// CHECK: cudnn.graph @few(
// CHECK-SAME: name = "few_2x32x1"
// CHECK-SAME: chip = "sm_90", grid = 32 : i64, name = "few_2x32x8"
// CHECK-SAME: cudnn.preference = "plan"
cudnn.graph @few(%x: !cudnn.tensor_desc<1x32x112x112xf32, NHWC>) -> !cudnn.tensor_desc<1x32x1x1xf32, NHWC> {
  %y = cudnn.resample avgpool_exclude_padding(%x) type = f32 window = [112, 112] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x32x112x112xf32, NHWC> -> !cudnn.tensor_desc<1x32x1x1xf32, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x32x1x1xf32, NHWC>
}

// -----

// A batch is limited by memory bandwidth in any kernel.
// CHECK: cudnn.graph @batch(
// CHECK-SAME: grid = 8192 : i64, name = "batch_2x4x1"
// CHECK-SAME: cudnn.preference = "plan"
cudnn.graph @batch(%x: !cudnn.tensor_desc<64x2048x7x7xf16, NHWC>) -> !cudnn.tensor_desc<64x2048x1x1xf16, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [7, 7] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<64x2048x7x7xf16, NHWC> -> !cudnn.tensor_desc<64x2048x1x1xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<64x2048x1x1xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: it does not begin with an average pooling that accumulates in f32 and propagates NaN}}
cudnn.graph @largest(%x: !cudnn.tensor_desc<1x64x7x7xf16, NHWC>) -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC> {
  %y = cudnn.resample maxpool(%x) type = f32 window = [7, 7] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x64x7x7xf16, NHWC> -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: it does not begin with an average pooling that accumulates in f32 and propagates NaN}}
cudnn.graph @halves(%x: !cudnn.tensor_desc<1x64x7x7xf16, NHWC>) -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f16 window = [7, 7] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x64x7x7xf16, NHWC> -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: it does not begin with an average pooling that accumulates in f32 and propagates NaN}}
cudnn.graph @scaled(%x: !cudnn.tensor_desc<1x64x7x7xf16, NHWC>) -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [7, 7] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad alpha = 2.0 : !cudnn.tensor_desc<1x64x7x7xf16, NHWC> -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the window is not the whole image}}
cudnn.graph @part(%x: !cudnn.tensor_desc<1x64x7x7xf16, NHWC>) -> !cudnn.tensor_desc<1x64x6x6xf16, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [2, 2] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x64x7x7xf16, NHWC> -> !cudnn.tensor_desc<1x64x6x6xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x64x6x6xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the window is not the whole image}}
cudnn.graph @padded(%x: !cudnn.tensor_desc<1x64x7x7xf16, NHWC>) -> !cudnn.tensor_desc<1x64x3x3xf16, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [7, 7] stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] padding_mode = zero_pad : !cudnn.tensor_desc<1x64x7x7xf16, NHWC> -> !cudnn.tensor_desc<1x64x3x3xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x64x3x3xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: the pooling is not the only operation}}
cudnn.graph @followed(%x: !cudnn.tensor_desc<1x64x7x7xf16, NHWC>) -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [7, 7] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x64x7x7xf16, NHWC> -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
  %z = cudnn.pointwise sigmoid_fwd(%y) type = f32 : !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
  cudnn.return %z : !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: elements are not f16, bf16 or f32}}
cudnn.graph @bytes(%x: !cudnn.tensor_desc<1x64x7x7xi8, NHWC>) -> !cudnn.tensor_desc<1x64x1x1xf32, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [7, 7] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x64x7x7xi8, NHWC> -> !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x64x1x1xf32, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: argument and result are not of the same type in packed channels-last memory, aligned to 16 bytes}}
cudnn.graph @planes(%x: !cudnn.tensor_desc<1x64x7x7xf16, NCHW>) -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [7, 7] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x64x7x7xf16, NCHW> -> !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
}

// -----

// expected-remark @+1 {{no kernel: channels are not a multiple of 16 bytes}}
cudnn.graph @channels(%x: !cudnn.tensor_desc<1x60x7x7xf16, NHWC>) -> !cudnn.tensor_desc<1x60x1x1xf16, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [7, 7] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x60x7x7xf16, NHWC> -> !cudnn.tensor_desc<1x60x1x1xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x60x1x1xf16, NHWC>
}
