// RUN: convoy-opt %s --split-input-file --tcp-form-groups --convert-tcp-to-cudnn --cse --cudnn-attach-kernels=remarks --verify-diagnostics | filecheck %s

// Windows: one step of columns, which the kernel is preferred for. The mask has one row of windows.
// CHECK: gpu.module @attention_mask_0_64x32 [#nvvm.target<O = 3, chip = "sm_80">]
// CHECK: llvm.func @attention_mask_0_64x32(%[[Q:.*]]: !llvm.ptr {llvm.nonnull}, %[[K:.*]]: !llvm.ptr {llvm.nonnull}, %[[V:.*]]: !llvm.ptr {llvm.nonnull}, %[[M:.*]]: !llvm.ptr {llvm.nonnull}, %[[Y:.*]]: !llvm.ptr {llvm.nonnull}, %[[S:.*]]: !llvm.ptr {llvm.nonnull}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>}
// CHECK: llvm.call @convoy_attention_f16_32(%[[Q]], %[[K]], %[[V]], %[[M]], %[[Y]], %[[S]],
// CHECK-NOT: gpu.module
// CHECK: cudnn.graph @attention_mask_0(
// CHECK-SAME: cudnn.kernels = [{block = 128 : i64, chip = "sm_80", grid = 192 : i64, name = "attention_mask_0_64x32", shared_bytes = 10240 : i64, tf32 = false, variant = "64x32"}]
// CHECK-SAME: cudnn.preference = "kernel"
func.func @windows(%q: tensor<64x3x49x32xf16>, %k: tensor<64x3x49x32xf16>, %v: tensor<64x3x49x32xf16>, %m: tensor<1x3x49x49xf16>) -> tensor<64x3x49x32xf16> attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %k, %v mask %m {scale = 0.125 : f64} : tensor<64x3x49x32xf16>, tensor<64x3x49x32xf16>, tensor<64x3x49x32xf16>, tensor<1x3x49x49xf16> -> tensor<64x3x49x32xf16>
  return %o : tensor<64x3x49x32xf16>
}

// -----

// Shared heads of key and value, a causal mask, and a null pointer for the mask. Kernels for the
// tensor cores of sm_90a take the place of that with few warps.
// CHECK: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.call @convoy_attention_wgmma_bf16_96_64(%{{.*}}, %{{.*}}, %{{.*}}, %[[NONE]], %{{.*}}, %{{.*}},
// CHECK: llvm.call @convoy_attention_wgmma_bf16_96_96(
// CHECK: llvm.call @convoy_attention_bf16_96(
// CHECK-NOT: gpu.module
// CHECK: cudnn.graph @attention_causal_0(
// CHECK-SAME: {block = 128 : i64, chip = "sm_90a", grid = 128 : i64, name = "attention_causal_0_wgmma_64x64", shared_bytes = 82944 : i64, tf32 = false, variant = "wgmma_64x64"}
// CHECK-SAME: {block = 384 : i64, chip = "sm_90a", grid = 48 : i64, name = "attention_causal_0_wgmma_192x96", shared_bytes = 148480 : i64
// CHECK-SAME: {block = 256 : i64, chip = "sm_80", grid = 64 : i64, name = "attention_causal_0_128x96", shared_bytes = 53248 : i64
// CHECK-SAME: cudnn.preference = "plan"
func.func @causal(%q: tensor<2x8x512x96xbf16>, %k: tensor<2x2x512x96xbf16>) -> tensor<2x8x512x96xbf16> attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %k, %k {causal, scale = 0.125 : f64} : tensor<2x8x512x96xbf16>, tensor<2x2x512x96xbf16>, tensor<2x2x512x96xbf16> -> tensor<2x8x512x96xbf16>
  return %o : tensor<2x8x512x96xbf16>
}

// -----

// 197 columns are two steps of 112. A mask of one row is in shared memory; its members at the end of
// the arguments are 2 batches and form 1.
// CHECK: llvm.mlir.constant(dense<[{{.*}}, 2, 1]> : tensor<29xi32>)
// CHECK: cudnn.graph @attention_mask_0(
// CHECK-SAME: grid = 24 : i64, name = "attention_mask_0_wgmma_64x112", shared_bytes = 67456 : i64
// CHECK-SAME: grid = 12 : i64, name = "attention_mask_0_wgmma_128x80", shared_bytes = 59328 : i64
// CHECK-SAME: name = "attention_mask_0_128x64"
func.func @one_row(%q: tensor<2x3x197x64xf16>, %m: tensor<2x1x1x197xf16>) -> tensor<2x3x197x64xf16> attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %q, %q mask %m {scale = 0.125 : f64} : tensor<2x3x197x64xf16>, tensor<2x3x197x64xf16>, tensor<2x3x197x64xf16>, tensor<2x1x1x197xf16> -> tensor<2x3x197x64xf16>
  return %o : tensor<2x3x197x64xf16>
}

// -----

// A mask of many rows is read for each score, and leaves registers for fewer columns.
// CHECK: llvm.mlir.constant(dense<[{{.*}}, 2, 2]> : tensor<29xi32>)
// CHECK: cudnn.graph @attention_mask_0(
// CHECK-SAME: name = "attention_mask_0_wgmma_64x96"
// CHECK-SAME: name = "attention_mask_0_wgmma_128x64"
func.func @many_rows(%q: tensor<2x3x181x64xf16>, %m: tensor<1x3x181x181xf16>) -> tensor<2x3x181x64xf16> attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %q, %q mask %m {scale = 0.125 : f64} : tensor<2x3x181x64xf16>, tensor<2x3x181x64xf16>, tensor<2x3x181x64xf16>, tensor<1x3x181x181xf16> -> tensor<2x3x181x64xf16>
  return %o : tensor<2x3x181x64xf16>
}

// -----

// Rows that do not fill a second group, and fewer rows than those of one group.
// CHECK: cudnn.graph @attention_0(
// CHECK-SAME: name = "attention_0_wgmma_64x80"
// CHECK-SAME: chip = "sm_80", grid = 6 : i64, name = "attention_0_64x64", shared_bytes = 36864 : i64, tf32 = false, variant = "64x64"}]
// CHECK: cudnn.graph @attention_1(
// CHECK-SAME: cudnn.kernels = [{block = 128 : i64, chip = "sm_80", grid = 6 : i64, name = "attention_1_64x64", shared_bytes = 36864 : i64, tf32 = false, variant = "64x64"}]
func.func @few_rows(%q: tensor<2x3x64x64xf16>, %r: tensor<2x3x63x64xf16>, %k: tensor<2x3x80x64xf16>) -> (tensor<2x3x64x64xf16>, tensor<2x3x63x64xf16>) attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %k, %k {scale = 0.125 : f64} : tensor<2x3x64x64xf16>, tensor<2x3x80x64xf16>, tensor<2x3x80x64xf16> -> tensor<2x3x64x64xf16>
  %p = tcp.attention %r, %k, %k {scale = 0.125 : f64} : tensor<2x3x63x64xf16>, tensor<2x3x80x64xf16>, tensor<2x3x80x64xf16> -> tensor<2x3x63x64xf16>
  return %o, %p : tensor<2x3x64x64xf16>, tensor<2x3x63x64xf16>
}

// -----

// A softcap of 50 and a window of 100 columns; 0.125, 50, causal, 100 and the warps are at the end of
// what all kernels for attention have.
// CHECK: llvm.mlir.constant(dense<[{{.*}}, 1040187392, 1112014848, 1, 100, 4, 2, 0]> : tensor<29xi32>)
// CHECK: llvm.mlir.constant(dense<[{{.*}}, 1040187392, 1112014848, 1, 100, 8]> : tensor<27xi32>)
// CHECK: cudnn.graph @attention_softcap_causal_window_0(
// CHECK-SAME: name = "attention_softcap_causal_window_0_wgmma_64x
func.func @softcap(%q: tensor<2x3x512x64xf16>) -> tensor<2x3x512x64xf16> attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %q, %q {causal, scale = 0.125 : f64, softcap = 50.0 : f64, window = 100 : i64} : tensor<2x3x512x64xf16>, tensor<2x3x512x64xf16>, tensor<2x3x512x64xf16> -> tensor<2x3x512x64xf16>
  return %o : tensor<2x3x512x64xf16>
}

// -----

func.func @wide(%q: tensor<2x8x64x160xf16>) -> tensor<2x8x64x160xf16> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{no kernel: a row of query or value has more than 128 elements}}
  %o = tcp.attention %q, %q, %q {scale = 0.125 : f64} : tensor<2x8x64x160xf16>, tensor<2x8x64x160xf16>, tensor<2x8x64x160xf16> -> tensor<2x8x64x160xf16>
  return %o : tensor<2x8x64x160xf16>
}

// -----

func.func @floats(%q: tensor<2x8x64x64xf32>) -> tensor<2x8x64x64xf32> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{no kernel: the kernel for attention is for 16-bit floats of one type, and packed logarithms in f32}}
  %o = tcp.attention %q, %q, %q {scale = 0.125 : f64} : tensor<2x8x64x64xf32>, tensor<2x8x64x64xf32>, tensor<2x8x64x64xf32> -> tensor<2x8x64x64xf32>
  return %o : tensor<2x8x64x64xf32>
}

// -----

// A softmax of columns.
// expected-remark @+1 {{no kernel: the matrices are not two arguments of the same type in row-major memory, aligned to 16 bytes}}
cudnn.graph @columns(%q: !cudnn.tensor_desc<2x4x64x64xf16, NCHW>, %k: !cudnn.tensor_desc<2x4x64x64xf16, stride = [16384, 4096, 1, 64]>, %v: !cudnn.tensor_desc<2x4x64x64xf16, NCHW>) -> (!cudnn.tensor_desc<2x4x64x64xf16, NCHW>, !cudnn.tensor_desc<2x4x1x64xf32, NCHW>) {
  %0 = cudnn.matmul(%q, %k) type = f32 : !cudnn.tensor_desc<2x4x64x64xf16, NCHW>, !cudnn.tensor_desc<2x4x64x64xf16, stride = [16384, 4096, 1, 64]> -> !cudnn.tensor_desc<2x4x64x64xf32, NCHW>
  %1 = cudnn.constant 1.250000e-01 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32, NCHW>
  %2 = cudnn.pointwise mul(%0, %1) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW>, !cudnn.tensor_desc<1x1x1x1xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x64xf32, NCHW>
  %3 = cudnn.reduction max(%2) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW> -> !cudnn.tensor_desc<2x4x1x64xf32, NCHW>
  %4 = cudnn.pointwise sub(%2, %3) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW>, !cudnn.tensor_desc<2x4x1x64xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x64xf32, NCHW>
  %5 = cudnn.pointwise exp(%4) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x64xf32, NCHW>
  %6 = cudnn.reduction add(%5) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW> -> !cudnn.tensor_desc<2x4x1x64xf32, NCHW>
  %7 = cudnn.pointwise log(%6) type = f32 : !cudnn.tensor_desc<2x4x1x64xf32, NCHW> -> !cudnn.tensor_desc<2x4x1x64xf32, NCHW>
  %8 = cudnn.pointwise add(%3, %7) type = f32 : !cudnn.tensor_desc<2x4x1x64xf32, NCHW>, !cudnn.tensor_desc<2x4x1x64xf32, NCHW> -> !cudnn.tensor_desc<2x4x1x64xf32, NCHW>
  %9 = cudnn.pointwise div(%5, %6) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW>, !cudnn.tensor_desc<2x4x1x64xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x64xf16, NCHW>
  %10 = cudnn.matmul(%9, %v) type = f32 : !cudnn.tensor_desc<2x4x64x64xf16, NCHW>, !cudnn.tensor_desc<2x4x64x64xf16, NCHW> -> !cudnn.tensor_desc<2x4x64x64xf16, NCHW>
  cudnn.return %10, %8 : !cudnn.tensor_desc<2x4x64x64xf16, NCHW>, !cudnn.tensor_desc<2x4x1x64xf32, NCHW>
}

// -----

// One batch of keys and values for all.
// expected-remark @+1 {{no kernel: the matrices are not two arguments of the same type in row-major memory, aligned to 16 bytes}}
cudnn.graph @shared(%q: !cudnn.tensor_desc<2x4x64x64xf16, NCHW>, %k: !cudnn.tensor_desc<1x4x64x64xf16, stride = [16384, 4096, 1, 64]>, %v: !cudnn.tensor_desc<1x4x64x64xf16, NCHW>) -> (!cudnn.tensor_desc<2x4x64x64xf16, NCHW>, !cudnn.tensor_desc<2x4x64x1xf32, NCHW>) {
  %0 = cudnn.matmul(%q, %k) type = f32 : !cudnn.tensor_desc<2x4x64x64xf16, NCHW>, !cudnn.tensor_desc<1x4x64x64xf16, stride = [16384, 4096, 1, 64]> -> !cudnn.tensor_desc<2x4x64x64xf32, NCHW>
  %1 = cudnn.constant 1.250000e-01 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32, NCHW>
  %2 = cudnn.pointwise mul(%0, %1) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW>, !cudnn.tensor_desc<1x1x1x1xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x64xf32, NCHW>
  %3 = cudnn.reduction max(%2) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x1xf32, NCHW>
  %4 = cudnn.pointwise sub(%2, %3) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW>, !cudnn.tensor_desc<2x4x64x1xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x64xf32, NCHW>
  %5 = cudnn.pointwise exp(%4) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x64xf32, NCHW>
  %6 = cudnn.reduction add(%5) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x1xf32, NCHW>
  %7 = cudnn.pointwise log(%6) type = f32 : !cudnn.tensor_desc<2x4x64x1xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x1xf32, NCHW>
  %8 = cudnn.pointwise add(%3, %7) type = f32 : !cudnn.tensor_desc<2x4x64x1xf32, NCHW>, !cudnn.tensor_desc<2x4x64x1xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x1xf32, NCHW>
  %9 = cudnn.pointwise div(%5, %6) type = f32 : !cudnn.tensor_desc<2x4x64x64xf32, NCHW>, !cudnn.tensor_desc<2x4x64x1xf32, NCHW> -> !cudnn.tensor_desc<2x4x64x64xf16, NCHW>
  %10 = cudnn.matmul(%9, %v) type = f32 : !cudnn.tensor_desc<2x4x64x64xf16, NCHW>, !cudnn.tensor_desc<1x4x64x64xf16, NCHW> -> !cudnn.tensor_desc<2x4x64x64xf16, NCHW>
  cudnn.return %10, %8 : !cudnn.tensor_desc<2x4x64x64xf16, NCHW>, !cudnn.tensor_desc<2x4x64x1xf32, NCHW>
}
