// RUN: convoy-opt %s -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s

// The weights stay in registers and shared memory, and no block waits for all others.
// CHECK: gpu.binary @narrow_8x16
// CHECK: mma.sync.aligned.m16n8k16
// CHECK: st.shared::cluster
// CHECK: barrier.cluster
// CHECK-NOT: .local
// CHECK-NOT: .extern .func
// CHECK: gpu.binary @narrow_step_16
// CHECK-NOT: barrier.cluster
// CHECK: mma.sync.aligned.m16n8k16
// CHECK-NOT: .local
// CHECK: gpu.binary @exact_
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32
// CHECK-NOT: .local
cudnn.graph @narrow(%x: !cudnn.tensor_desc<128x32x2048xf16>, %w: !cudnn.tensor_desc<512x2048xf16>) -> (!cudnn.tensor_desc<128x32x512xf16>, !cudnn.tensor_desc<32x512xf16>) attributes {cudnn.preference = "only_kernel"} {
  %y, %c = cudnn.recurrent lstm given(%x : !cudnn.tensor_desc<128x32x2048xf16>) weights(%w : !cudnn.tensor_desc<512x2048xf16>) -> y(!cudnn.tensor_desc<128x32x512xf16>) last_cell(!cudnn.tensor_desc<32x512xf16>)
  cudnn.return %y, %c : !cudnn.tensor_desc<128x32x512xf16>, !cudnn.tensor_desc<32x512xf16>
}

cudnn.graph @exact(%x: !cudnn.tensor_desc<20x3x192xf32>, %w: !cudnn.tensor_desc<64x192xf32>) -> !cudnn.tensor_desc<20x3x64xf32> attributes {cudnn.preference = "only_kernel"} {
  %y = cudnn.recurrent gru given(%x : !cudnn.tensor_desc<20x3x192xf32>) weights(%w : !cudnn.tensor_desc<64x192xf32>) -> y(!cudnn.tensor_desc<20x3x64xf32>)
  cudnn.return %y : !cudnn.tensor_desc<20x3x64xf32>
}
