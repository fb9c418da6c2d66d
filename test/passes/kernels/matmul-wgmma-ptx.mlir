// RUN: convoy-opt %s -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s

// A step is four products of 16 terms for each 64 rows. One thread copies the factors. Sums are in
// registers; the result passes through shared memory, and is stored 16 bytes at a time. A call, e.g.
// for a division of 16-bit numbers, would serialize the products.
// CHECK: gpu.binary @mlp_wgmma_128x128x1
// CHECK-NOT: .local
// CHECK-NOT: div.
// CHECK: .maxntid 288
// CHECK: .minnctapersm 1
// CHECK: mbarrier.init.shared::cta.b64
// CHECK-COUNT-3: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
// CHECK: mbarrier.try_wait.parity.shared::cta.b64
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK: ex2.approx.ftz.f32
// CHECK: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: st.global.v4
// CHECK-NOT: .local
// CHECK-NOT: div.
cudnn.graph @mlp(%a: !cudnn.tensor_desc<1x4096x768xbf16>, %b: !cudnn.tensor_desc<1x768x3072xbf16>, %v: !cudnn.tensor_desc<1x1x3072xbf16>) -> !cudnn.tensor_desc<1x4096x3072xbf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x4096x768xbf16>, !cudnn.tensor_desc<1x768x3072xbf16> -> !cudnn.tensor_desc<1x4096x3072xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x4096x3072xf32>, !cudnn.tensor_desc<1x1x3072xbf16> -> !cudnn.tensor_desc<1x4096x3072xf32>
  %2 = cudnn.pointwise gelu_fwd(%1) type = f32 : !cudnn.tensor_desc<1x4096x3072xf32> -> !cudnn.tensor_desc<1x4096x3072xbf16>
  cudnn.return %2 : !cudnn.tensor_desc<1x4096x3072xbf16>
}
