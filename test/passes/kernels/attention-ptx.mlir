// RUN: convoy-opt %s -pass-pipeline="builtin.module(func.func(tcp-form-groups),convert-tcp-to-cudnn,cse,cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s

// The scores of a step are in registers: 64 columns, two products each for 32 elements of a row.
// CHECK: gpu.binary @attention_0_64x32
// CHECK-NOT: .local
// CHECK: cp.async.cg.shared.global
// CHECK-COUNT-16: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-NOT: .local
func.func @windows(%q: tensor<64x3x49x32xf16>, %k: tensor<64x3x49x32xf16>, %v: tensor<64x3x49x32xf16>) -> tensor<64x3x49x32xf16> attributes {tcp.target = "cuda"} {
  %o = tcp.attention %q, %k, %v {scale = 0.125 : f64} : tensor<64x3x49x32xf16>, tensor<64x3x49x32xf16>, tensor<64x3x49x32xf16> -> tensor<64x3x49x32xf16>
  return %o : tensor<64x3x49x32xf16>
}
