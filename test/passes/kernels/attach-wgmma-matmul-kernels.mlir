// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=remarks --verify-diagnostics | filecheck %s

// Products of many rows: the tiles with the least cost. Both factors are read through tensor maps.
// cuDNN's plan is preferred until they are measured.
// CHECK: gpu.module @mlp_wgmma_64x256x1 [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: gpu.module @mlp_wgmma_64x192x1
// CHECK: llvm.func @mlp_wgmma_64x192x1(%[[A:.*]]: !llvm.ptr {llvm.nonnull}, %[[B:.*]]: !llvm.ptr {llvm.nonnull}, %[[V:.*]]: !llvm.ptr {llvm.nonnull}, %[[Y:.*]]: !llvm.ptr {llvm.nonnull}, %[[L:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %[[R:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 288>, nvvm.minctasm = 1 : i32}
// CHECK: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.call @convoy_matmul_wgmma_f16_1x1x192(%[[V]], %{{.*}}, %{{.*}}, %[[Y]], %[[L]], %[[R]],
// CHECK: gpu.module @mlp_wgmma_64x128x1
// CHECK-NOT: gpu.module
// CHECK: cudnn.graph @mlp(
// CHECK-SAME: {block = 288 : i64, chip = "sm_90a", grid = 132 : i64, name = "mlp_wgmma_64x192x1", shared_bytes = {{[0-9]+}} : i64, tensor_maps = [{box = [64, 64], shape = [6304, 768], tensor = 0 : i64}, {box = [64, 64], shape = [768, 3072], tensor = 1 : i64}], tf32 = false, variant = "wgmma_64x192x1"}
// CHECK-SAME: cudnn.preference = "plan"
cudnn.graph @mlp(%a: !cudnn.tensor_desc<1x6304x768xf16>, %b: !cudnn.tensor_desc<1x768x3072xf16>, %v: !cudnn.tensor_desc<1x1x3072xf16>) -> !cudnn.tensor_desc<1x6304x3072xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x6304x768xf16>, !cudnn.tensor_desc<1x768x3072xf16> -> !cudnn.tensor_desc<1x6304x3072xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x6304x3072xf32>, !cudnn.tensor_desc<1x1x3072xf16> -> !cudnn.tensor_desc<1x6304x3072xf32>
  %2 = cudnn.pointwise gelu_fwd(%1) type = f32 : !cudnn.tensor_desc<1x6304x3072xf32> -> !cudnn.tensor_desc<1x6304x3072xf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x6304x3072xf16>
}

// -----

// A scale before the residual; narrow tiles for few columns.
// CHECK: llvm.call @convoy_matmul_wgmma_bf16_{{[12]x[12]}}x96(%[[V:.*]], %[[S:.*]], %[[R:.*]], %{{.*}},
// CHECK: cudnn.graph @scaled(
// CHECK-SAME: x96x
cudnn.graph @scaled(%a: !cudnn.tensor_desc<1x100352x384xbf16>, %b: !cudnn.tensor_desc<1x384x96xbf16>, %v: !cudnn.tensor_desc<1x1x96xbf16>, %s: !cudnn.tensor_desc<1x1x96xbf16>, %r: !cudnn.tensor_desc<1x100352x96xbf16>) -> !cudnn.tensor_desc<1x100352x96xbf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x100352x384xbf16>, !cudnn.tensor_desc<1x384x96xbf16> -> !cudnn.tensor_desc<1x100352x96xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x100352x96xf32>, !cudnn.tensor_desc<1x1x96xbf16> -> !cudnn.tensor_desc<1x100352x96xf32>
  %2 = cudnn.pointwise mul(%1, %s) type = f32 : !cudnn.tensor_desc<1x100352x96xf32>, !cudnn.tensor_desc<1x1x96xbf16> -> !cudnn.tensor_desc<1x100352x96xf32>
  %3 = cudnn.pointwise add(%2, %r) type = f32 : !cudnn.tensor_desc<1x100352x96xf32>, !cudnn.tensor_desc<1x100352x96xbf16> -> !cudnn.tensor_desc<1x100352x96xbf16>
  cudnn.return %3 : !cudnn.tensor_desc<1x100352x96xbf16>
}

// -----

// The result of another product gates this one: the residual is a factor, and the numbers are those
// of EpilogueArguments: activation, early, gates and bounds.
// CHECK: gpu.module @gated_wgmma
// CHECK-DAG: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK: llvm.call @convoy_matmul_wgmma_f16_{{[12]x[12]x[0-9]+}}(%[[V:.*]], %{{.*}}, %[[G:.*]], %{{.*}},
// CHECK: cudnn.graph @gated(
cudnn.graph @gated(%a: !cudnn.tensor_desc<1x1024x256xf16>, %b: !cudnn.tensor_desc<1x256x688xf16>, %v: !cudnn.tensor_desc<1x1x688xf16>, %g: !cudnn.tensor_desc<1x1024x688xf16>) -> !cudnn.tensor_desc<1x1024x688xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1024x256xf16>, !cudnn.tensor_desc<1x256x688xf16> -> !cudnn.tensor_desc<1x1024x688xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x1024x688xf32>, !cudnn.tensor_desc<1x1x688xf16> -> !cudnn.tensor_desc<1x1024x688xf32>
  %2 = cudnn.pointwise mul(%1, %g) type = f32 : !cudnn.tensor_desc<1x1024x688xf32>, !cudnn.tensor_desc<1x1024x688xf16> -> !cudnn.tensor_desc<1x1024x688xf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x1024x688xf16>
}

// -----

// A bias after the gate would have to be multiplied too.
// expected-remark @+1 {{no kernel: a bias, a scale, a residual and an activation are not in a kernel's order}}
cudnn.graph @gated_first(%a: !cudnn.tensor_desc<1x64x64xf16>, %b: !cudnn.tensor_desc<1x64x64xf16>, %v: !cudnn.tensor_desc<1x1x64xf16>, %g: !cudnn.tensor_desc<1x64x64xf16>) -> !cudnn.tensor_desc<1x64x64xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x64x64xf16>, !cudnn.tensor_desc<1x64x64xf16> -> !cudnn.tensor_desc<1x64x64xf32>
  %1 = cudnn.pointwise mul(%0, %g) type = f32 : !cudnn.tensor_desc<1x64x64xf32>, !cudnn.tensor_desc<1x64x64xf16> -> !cudnn.tensor_desc<1x64x64xf32>
  %2 = cudnn.pointwise add(%1, %v) type = f32 : !cudnn.tensor_desc<1x64x64xf32>, !cudnn.tensor_desc<1x1x64xf16> -> !cudnn.tensor_desc<1x64x64xf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x64x64xf16>
}

// -----

// A long sum: two groups share a tile, whose factors they read less often.
// CHECK: llvm.call @convoy_matmul_wgmma_f16_2x1x192(
// CHECK: cudnn.graph @long(
// CHECK-SAME: "wgmma_128x192x2"
cudnn.graph @long(%a: !cudnn.tensor_desc<1x3072x3072xf16>, %b: !cudnn.tensor_desc<1x3072x768xf16>) -> !cudnn.tensor_desc<1x3072x768xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x3072x3072xf16>, !cudnn.tensor_desc<1x3072x768xf16> -> !cudnn.tensor_desc<1x3072x768xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x3072x768xf16>
}

// -----

// expected-remark @+1 {{no kernel: a bias, a scale, a residual and an activation are not in a kernel's order}}
cudnn.graph @order(%a: !cudnn.tensor_desc<1x64x64xf16>, %b: !cudnn.tensor_desc<1x64x64xf16>, %s: !cudnn.tensor_desc<1x1x64xf16>, %r: !cudnn.tensor_desc<1x64x64xf16>) -> !cudnn.tensor_desc<1x64x64xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x64x64xf16>, !cudnn.tensor_desc<1x64x64xf16> -> !cudnn.tensor_desc<1x64x64xf32>
  %1 = cudnn.pointwise add(%0, %r) type = f32 : !cudnn.tensor_desc<1x64x64xf32>, !cudnn.tensor_desc<1x64x64xf16> -> !cudnn.tensor_desc<1x64x64xf32>
  %2 = cudnn.pointwise mul(%1, %s) type = f32 : !cudnn.tensor_desc<1x64x64xf32>, !cudnn.tensor_desc<1x1x64xf16> -> !cudnn.tensor_desc<1x64x64xf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x64x64xf16>
}

// -----

// The activation follows the scale and precedes the residual.
// expected-remark @+1 {{no kernel: a bias, a scale, a residual and an activation are not in a kernel's order}}
cudnn.graph @between(%a: !cudnn.tensor_desc<1x64x64xf16>, %b: !cudnn.tensor_desc<1x64x64xf16>, %s: !cudnn.tensor_desc<1x1x64xf16>, %r: !cudnn.tensor_desc<1x64x64xf16>) -> !cudnn.tensor_desc<1x64x64xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x64x64xf16>, !cudnn.tensor_desc<1x64x64xf16> -> !cudnn.tensor_desc<1x64x64xf32>
  %1 = cudnn.pointwise mul(%0, %s) type = f32 : !cudnn.tensor_desc<1x64x64xf32>, !cudnn.tensor_desc<1x1x64xf16> -> !cudnn.tensor_desc<1x64x64xf32>
  %2 = cudnn.pointwise gelu_fwd(%1) type = f32 : !cudnn.tensor_desc<1x64x64xf32> -> !cudnn.tensor_desc<1x64x64xf32>
  %3 = cudnn.pointwise add(%2, %r) type = f32 : !cudnn.tensor_desc<1x64x64xf32>, !cudnn.tensor_desc<1x64x64xf16> -> !cudnn.tensor_desc<1x64x64xf16>
  cudnn.return %3 : !cudnn.tensor_desc<1x64x64xf16>
}

// -----

// Two activations, and one after relu.
// expected-remark @+1 {{no kernel: it computes gelu_fwd, which is not a sum before one relu, swish, gelu, sigmoid or tanh}}
cudnn.graph @twice(%a: !cudnn.tensor_desc<1x64x64xf16>, %b: !cudnn.tensor_desc<1x64x64xf16>) -> !cudnn.tensor_desc<1x64x64xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x64x64xf16>, !cudnn.tensor_desc<1x64x64xf16> -> !cudnn.tensor_desc<1x64x64xf32>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !cudnn.tensor_desc<1x64x64xf32> -> !cudnn.tensor_desc<1x64x64xf32>
  %2 = cudnn.pointwise gelu_fwd(%1) type = f32 : !cudnn.tensor_desc<1x64x64xf32> -> !cudnn.tensor_desc<1x64x64xf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x64x64xf16>
}
