// RUN: convoy-opt %s -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s

// A step is four products of 16 terms. Sums are in registers; the result passes through shared
// memory, and is stored 16 bytes at a time.
// CHECK: gpu.binary @mlp_wgmma_128x128
// CHECK-NOT: .local
// CHECK: .maxntid 256
// CHECK: .minnctapersm 2
// CHECK: cp.async.cg.shared.global
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK: ex2.approx.f32
// CHECK: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: st.global.v4
// CHECK-NOT: .local
cudnn.graph @mlp(%a: !cudnn.tensor_desc<1x4096x768xbf16>, %b: !cudnn.tensor_desc<1x768x3072xbf16>, %v: !cudnn.tensor_desc<1x1x3072xbf16>) -> !cudnn.tensor_desc<1x4096x3072xbf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x4096x768xbf16>, !cudnn.tensor_desc<1x768x3072xbf16> -> !cudnn.tensor_desc<1x4096x3072xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x4096x3072xf32>, !cudnn.tensor_desc<1x1x3072xbf16> -> !cudnn.tensor_desc<1x4096x3072xf32>
  %2 = cudnn.pointwise gelu_fwd(%1) type = f32 : !cudnn.tensor_desc<1x4096x3072xf32> -> !cudnn.tensor_desc<1x4096x3072xbf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x4096x3072xbf16>
}
