// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=remarks --verify-diagnostics | filecheck %s

// Products of many rows: the tiles with the least waves and traffic. cuDNN's plan is preferred until
// they are measured.
// CHECK: gpu.module @mlp_wgmma_256x128 [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: llvm.func @mlp_wgmma_256x128(%[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr, %[[V:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 512>}
// CHECK: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.call @convoy_matmul_wgmma_f16_128(%[[A]], %[[B]], %[[V]], %{{.*}}, %{{.*}}, %[[Y]],
// CHECK: gpu.module @mlp_wgmma_128x192
// CHECK: gpu.module @mlp_wgmma_128x128
// CHECK: llvm.func @mlp_wgmma_128x128{{.*}}nvvm.minctasm = 2
// CHECK-NOT: gpu.module
// CHECK: cudnn.graph @mlp(
// CHECK-SAME: {block = 256 : i64, chip = "sm_90a", grid = 1200 : i64, name = "mlp_wgmma_128x128", shared_bytes = 99328 : i64, tf32 = false, variant = "wgmma_128x128"}
// CHECK-SAME: cudnn.preference = "plan"
cudnn.graph @mlp(%a: !cudnn.tensor_desc<1x6304x768xf16>, %b: !cudnn.tensor_desc<1x768x3072xf16>, %v: !cudnn.tensor_desc<1x1x3072xf16>) -> !cudnn.tensor_desc<1x6304x3072xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x6304x768xf16>, !cudnn.tensor_desc<1x768x3072xf16> -> !cudnn.tensor_desc<1x6304x3072xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x6304x3072xf32>, !cudnn.tensor_desc<1x1x3072xf16> -> !cudnn.tensor_desc<1x6304x3072xf32>
  %2 = cudnn.pointwise gelu_fwd(%1) type = f32 : !cudnn.tensor_desc<1x6304x3072xf32> -> !cudnn.tensor_desc<1x6304x3072xf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x6304x3072xf16>
}

// -----

// A scale before the residual; narrow tiles for few columns.
// CHECK: llvm.call @convoy_matmul_wgmma_bf16_96(%[[A:.*]], %[[B:.*]], %[[V:.*]], %[[S:.*]], %[[R:.*]], %{{.*}},
// CHECK: cudnn.graph @scaled(
// CHECK-SAME: "wgmma_128x96"
cudnn.graph @scaled(%a: !cudnn.tensor_desc<1x100352x384xbf16>, %b: !cudnn.tensor_desc<1x384x96xbf16>, %v: !cudnn.tensor_desc<1x1x96xbf16>, %s: !cudnn.tensor_desc<1x1x96xbf16>, %r: !cudnn.tensor_desc<1x100352x96xbf16>) -> !cudnn.tensor_desc<1x100352x96xbf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x100352x384xbf16>, !cudnn.tensor_desc<1x384x96xbf16> -> !cudnn.tensor_desc<1x100352x96xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x100352x96xf32>, !cudnn.tensor_desc<1x1x96xbf16> -> !cudnn.tensor_desc<1x100352x96xf32>
  %2 = cudnn.pointwise mul(%1, %s) type = f32 : !cudnn.tensor_desc<1x100352x96xf32>, !cudnn.tensor_desc<1x1x96xbf16> -> !cudnn.tensor_desc<1x100352x96xf32>
  %3 = cudnn.pointwise add(%2, %r) type = f32 : !cudnn.tensor_desc<1x100352x96xf32>, !cudnn.tensor_desc<1x100352x96xbf16> -> !cudnn.tensor_desc<1x100352x96xbf16>
  cudnn.return %3 : !cudnn.tensor_desc<1x100352x96xbf16>
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
// expected-remark @+1 {{no kernel: it computes gelu_fwd, which is not a sum before one relu, swish or gelu}}
cudnn.graph @twice(%a: !cudnn.tensor_desc<1x64x64xf16>, %b: !cudnn.tensor_desc<1x64x64xf16>) -> !cudnn.tensor_desc<1x64x64xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x64x64xf16>, !cudnn.tensor_desc<1x64x64xf16> -> !cudnn.tensor_desc<1x64x64xf32>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !cudnn.tensor_desc<1x64x64xf32> -> !cudnn.tensor_desc<1x64x64xf32>
  %2 = cudnn.pointwise gelu_fwd(%1) type = f32 : !cudnn.tensor_desc<1x64x64xf32> -> !cudnn.tensor_desc<1x64x64xf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x64x64xf16>
}
