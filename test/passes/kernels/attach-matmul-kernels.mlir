// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=remarks --verify-diagnostics | filecheck %s

// A strip of columns two lanes wide is a sector of memory. Variants with sums shared by blocks
// follow those of single blocks.
// CHECK: gpu.module @full_2x16x1 [#nvvm.target<O = 3, chip = "sm_80">] {
// CHECK-NEXT: llvm.func @convoy_matmul_f16_f32(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr {llvm.byval = !llvm.array<
// CHECK: llvm.func @full_2x16x1(%[[A:.*]]: !llvm.ptr {llvm.nonnull}, %[[B:.*]]: !llvm.ptr {llvm.nonnull}, %[[V:.*]]: !llvm.ptr {llvm.nonnull}, %[[Y:.*]]: !llvm.ptr {llvm.nonnull}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 512>}
// CHECK: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.call @convoy_matmul_f16_f32(%[[A]], %[[B]], %[[V]], %[[NONE]], %{{.*}}, %[[Y]],
// CHECK: gpu.module @full_1x8x1
// CHECK: gpu.module @full_2x8x2 [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx80">]
// CHECK: gpu.module @full_4x8x4
// CHECK: gpu.module @full_8x8x8
// CHECK: cudnn.graph @full(
// CHECK-SAME: cudnn.kernels = [{block = 512 : i64, chip = "sm_80", grid = 63 : i64, name = "full_2x16x1", shared_bytes = 1024 : i64, tf32 = false, variant = "2x16x1"}
// CHECK-SAME: {block = 256 : i64, chip = "sm_80", grid = 125 : i64, name = "full_1x8x1", shared_bytes = 256 : i64, tf32 = false, variant = "1x8x1"}
// CHECK-SAME: {block = 256 : i64, chip = "sm_90", grid = 128 : i64, name = "full_8x8x8", shared_bytes = 2304 : i64, tf32 = false, variant = "8x8x8"}]
// CHECK-SAME: cudnn.preference = "kernel"
cudnn.graph @full(%a: !cudnn.tensor_desc<1x1x2048xf16>, %b: !cudnn.tensor_desc<1x2048x1000xf16>, %v: !cudnn.tensor_desc<1x1x1000xf16>) -> !cudnn.tensor_desc<1x1x1000xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x2048xf16>, !cudnn.tensor_desc<1x2048x1000xf16> -> !cudnn.tensor_desc<1x1x1000xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x1x1000xf32>, !cudnn.tensor_desc<1x1x1000xf16> -> !cudnn.tensor_desc<1x1x1000xf32>
  %2 = cudnn.pointwise identity(%1) type = f32 : !cudnn.tensor_desc<1x1x1000xf32> -> !cudnn.tensor_desc<1x1x1000xf32>
  cudnn.return %2 : !cudnn.tensor_desc<1x1x1000xf32>
}

// -----

// Many strips need no cluster. The sums of eight rows need more registers per thread.
// CHECK: gpu.module @rows_8x8x1
// CHECK: llvm.call @convoy_matmul_f32_f32(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}},
// CHECK: gpu.module @rows_4x8x1
// CHECK: gpu.module @rows_2x4x1
// CHECK-NOT: gpu.module
// CHECK: cudnn.graph @rows(
// CHECK-SAME: cudnn.kernels = [{block = 256 : i64, chip = "sm_80", grid = 128 : i64, name = "rows_8x8x1", shared_bytes = 8192 : i64, tf32 = false, variant = "8x8x1"}
cudnn.graph @rows(%a: !cudnn.tensor_desc<1x8x512xf32>, %b: !cudnn.tensor_desc<1x512x4096xf32>, %r: !cudnn.tensor_desc<1x8x4096xf32>) -> !cudnn.tensor_desc<1x8x4096xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x8x512xf32>, !cudnn.tensor_desc<1x512x4096xf32> -> !cudnn.tensor_desc<1x8x4096xf32>
  %1 = cudnn.pointwise add(%0, %r) type = f32 : !cudnn.tensor_desc<1x8x4096xf32>, !cudnn.tensor_desc<1x8x4096xf32> -> !cudnn.tensor_desc<1x8x4096xf32>
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x8x4096xf32> -> !cudnn.tensor_desc<1x8x4096xf32>
  cudnn.return %2 : !cudnn.tensor_desc<1x8x4096xf32>
}

// -----

// Few long strips: the blocks of a cluster share them, if the architecture has clusters.
// CHECK: cudnn.graph @long(
// CHECK-SAME: cudnn.kernels = [{block = 1024 : i64, chip = "sm_90", grid = 128 : i64, name = "long_2x32x4",
// CHECK-SAME: {block = 1024 : i64, chip = "sm_80", grid = 32 : i64, name = "long_2x32x1",
cudnn.graph @long(%a: !cudnn.tensor_desc<1x1x25088xf32>, %b: !cudnn.tensor_desc<1x25088x256xf32>) -> !cudnn.tensor_desc<1x1x256xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x25088xf32>, !cudnn.tensor_desc<1x25088x256xf32> -> !cudnn.tensor_desc<1x1x256xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<1x1x256xf32> -> !cudnn.tensor_desc<1x1x256xf32>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x256xf32>
}

// -----

// expected-remark @+1 {{no kernel: it does not begin with a matrix product without overrides}}
cudnn.graph @ragged(%a: !cudnn.tensor_desc<1x1x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>, %m: !cudnn.tensor_desc<1x1x1xi32>) -> !cudnn.tensor_desc<1x1x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 m_override(%m : !cudnn.tensor_desc<1x1x1xi32>) : !cudnn.tensor_desc<1x1x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x1x128xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<1x1x128xf32> -> !cudnn.tensor_desc<1x1x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x128xf16>
}

// -----

// expected-remark @+1 {{no kernel: the product does not accumulate in f32}}
cudnn.graph @halves(%a: !cudnn.tensor_desc<1x1x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>) -> !cudnn.tensor_desc<1x1x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f16 : !cudnn.tensor_desc<1x1x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x1x128xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<1x1x128xf32> -> !cudnn.tensor_desc<1x1x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x128xf16>
}

// -----

// expected-remark @+1 {{no kernel: elements are not f16, bf16 or f32}}
cudnn.graph @bytes(%a: !cudnn.tensor_desc<1x1x64xf8E4M3FN>, %b: !cudnn.tensor_desc<1x64x128xf8E4M3FN>) -> !cudnn.tensor_desc<1x1x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x64xf8E4M3FN>, !cudnn.tensor_desc<1x64x128xf8E4M3FN> -> !cudnn.tensor_desc<1x1x128xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<1x1x128xf32> -> !cudnn.tensor_desc<1x1x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x128xf16>
}

// -----

// expected-remark @+1 {{no kernel: the matrices are not two arguments of the same type in row-major memory, aligned to 16 bytes}}
cudnn.graph @transposed(%a: !cudnn.tensor_desc<1x1x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16, stride = [8192, 1, 64]>) -> !cudnn.tensor_desc<1x1x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x64xf16>, !cudnn.tensor_desc<1x64x128xf16, stride = [8192, 1, 64]> -> !cudnn.tensor_desc<1x1x128xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<1x1x128xf32> -> !cudnn.tensor_desc<1x1x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x128xf16>
}

// -----

// expected-remark @+1 {{no kernel: the matrices are not two arguments of the same type in row-major memory, aligned to 16 bytes}}
cudnn.graph @unaligned(%a: !cudnn.tensor_desc<1x1x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16, stride = [], alignment = 8>) -> !cudnn.tensor_desc<1x1x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x64xf16>, !cudnn.tensor_desc<1x64x128xf16, stride = [], alignment = 8> -> !cudnn.tensor_desc<1x1x128xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<1x1x128xf32> -> !cudnn.tensor_desc<1x1x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x128xf16>
}

// -----

// expected-remark @+1 {{no kernel: there is a batch of matrices}}
cudnn.graph @batch(%a: !cudnn.tensor_desc<2x1x64xf16>, %b: !cudnn.tensor_desc<2x64x128xf16>) -> !cudnn.tensor_desc<2x1x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<2x1x64xf16>, !cudnn.tensor_desc<2x64x128xf16> -> !cudnn.tensor_desc<2x1x128xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<2x1x128xf32> -> !cudnn.tensor_desc<2x1x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<2x1x128xf16>
}

// -----

// expected-remark @+1 {{no kernel: the kernel for many rows is for 16-bit floats}}
cudnn.graph @tall(%a: !cudnn.tensor_desc<1x9x64xf32>, %b: !cudnn.tensor_desc<1x64x128xf32>) -> !cudnn.tensor_desc<1x9x128xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x9x64xf32>, !cudnn.tensor_desc<1x64x128xf32> -> !cudnn.tensor_desc<1x9x128xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<1x9x128xf32> -> !cudnn.tensor_desc<1x9x128xf32>
  cudnn.return %1 : !cudnn.tensor_desc<1x9x128xf32>
}

// -----

// expected-remark @+1 {{no kernel: columns of the left matrix are not a multiple of 8, or rows of the right one are not a multiple of 16 bytes}}
cudnn.graph @depth(%a: !cudnn.tensor_desc<1x1x60xf16>, %b: !cudnn.tensor_desc<1x60x128xf16>) -> !cudnn.tensor_desc<1x1x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x60xf16>, !cudnn.tensor_desc<1x60x128xf16> -> !cudnn.tensor_desc<1x1x128xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<1x1x128xf32> -> !cudnn.tensor_desc<1x1x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x128xf16>
}

// -----

// expected-remark @+1 {{no kernel: columns of the left matrix are not a multiple of 8, or rows of the right one are not a multiple of 16 bytes}}
cudnn.graph @columns(%a: !cudnn.tensor_desc<1x1x64xf16>, %b: !cudnn.tensor_desc<1x64x100xf16>) -> !cudnn.tensor_desc<1x1x100xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x64xf16>, !cudnn.tensor_desc<1x64x100xf16> -> !cudnn.tensor_desc<1x1x100xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<1x1x100xf32> -> !cudnn.tensor_desc<1x1x100xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x100xf16>
}

// -----

// CHECK: gpu.module @tanh_
cudnn.graph @tanh(%a: !cudnn.tensor_desc<1x1x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>) -> !cudnn.tensor_desc<1x1x128xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x1x128xf32>
  %1 = cudnn.pointwise tanh_fwd(%0) type = f32 : !cudnn.tensor_desc<1x1x128xf32> -> !cudnn.tensor_desc<1x1x128xf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x128xf16>
}

// -----

// expected-remark @+1 {{no kernel: its only result is not that of the last operation, in row-major memory, with the input's element type or f32}}
cudnn.graph @other_result(%a: !cudnn.tensor_desc<1x1x64xf16>, %b: !cudnn.tensor_desc<1x64x128xf16>) -> !cudnn.tensor_desc<1x1x128xbf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x64xf16>, !cudnn.tensor_desc<1x64x128xf16> -> !cudnn.tensor_desc<1x1x128xf32>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<1x1x128xf32> -> !cudnn.tensor_desc<1x1x128xbf16>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x128xbf16>
}

// -----

// expected-remark @+1 {{no kernel: the kernels' GELU and tanh are for 16-bit floats}}
cudnn.graph @gelu(%a: !cudnn.tensor_desc<1x1x64xf32>, %b: !cudnn.tensor_desc<1x64x128xf32>) -> !cudnn.tensor_desc<1x1x128xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x64xf32>, !cudnn.tensor_desc<1x64x128xf32> -> !cudnn.tensor_desc<1x1x128xf32>
  %1 = cudnn.pointwise gelu_fwd(%0) type = f32 : !cudnn.tensor_desc<1x1x128xf32> -> !cudnn.tensor_desc<1x1x128xf32>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x128xf32>
}
