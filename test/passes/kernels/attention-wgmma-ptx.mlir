// RUN: convoy-opt %s -pass-pipeline="builtin.module(func.func(tcp-form-groups),convert-tcp-to-cudnn,cse,cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s

// A step is four products of 16 elements with both factors in shared memory, and seven of 16 columns
// with the powers in registers, which LLVM places first. The result passes through shared memory.
// CHECK: gpu.binary @attention_0_wgmma_64x112
// CHECK-NOT: .local
// CHECK: .maxntid 128
// CHECK: .minnctapersm 3
// CHECK: cp.async.cg.shared.global
// CHECK-COUNT-7: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n112k16.f32.f16.f16
// CHECK: ex2.approx.ftz.f32
// CHECK: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: st.global.v4
// CHECK-NOT: .local
// CHECK: gpu.binary @attention_0_wgmma_128x80
func.func @vit(%q: tensor<2x3x197x64xf16>, %k: tensor<2x3x197x64xf16>, %v: tensor<2x3x197x64xf16>) -> tensor<2x3x197x64xf16> attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %k, %v {scale = 0.125 : f64} : tensor<2x3x197x64xf16>, tensor<2x3x197x64xf16>, tensor<2x3x197x64xf16> -> tensor<2x3x197x64xf16>
  return %o : tensor<2x3x197x64xf16>
}
