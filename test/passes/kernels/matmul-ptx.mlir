// RUN: convoy-opt %s -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s

// Every thread has eight rows of the matrix in flight, 16 bytes of each, and keeps everything in
// registers: no local memory for any number of rows.
// CHECK: gpu.binary @one_2x16x1
// CHECK-NOT: .local
// CHECK: .maxntid 512
// CHECK-COUNT-8: ld.global.v4.b32
// CHECK: shfl.sync.bfly
// CHECK: ld.shared.v4.b32
// CHECK-NOT: .local
cudnn.graph @one(%a: !cudnn.tensor_desc<1x1x2048xf16>, %b: !cudnn.tensor_desc<1x2048x1000xf16>, %v: !cudnn.tensor_desc<1x1x1000xf16>) -> !cudnn.tensor_desc<1x1x1000xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x2048xf16>, !cudnn.tensor_desc<1x2048x1000xf16> -> !cudnn.tensor_desc<1x1x1000xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x1x1000xf32>, !cudnn.tensor_desc<1x1x1000xf16> -> !cudnn.tensor_desc<1x1x1000xf32>
  cudnn.return %1 : !cudnn.tensor_desc<1x1x1000xf32>
}

cudnn.graph @eight_bf16(%a: !cudnn.tensor_desc<1x8x4096xbf16>, %b: !cudnn.tensor_desc<1x4096x1000xbf16>, %v: !cudnn.tensor_desc<1x1x1000xbf16>, %r: !cudnn.tensor_desc<1x8x1000xbf16>) -> !cudnn.tensor_desc<1x8x1000xbf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x8x4096xbf16>, !cudnn.tensor_desc<1x4096x1000xbf16> -> !cudnn.tensor_desc<1x8x1000xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x8x1000xf32>, !cudnn.tensor_desc<1x1x1000xbf16> -> !cudnn.tensor_desc<1x8x1000xf32>
  %2 = cudnn.pointwise add(%1, %r) type = f32 : !cudnn.tensor_desc<1x8x1000xf32>, !cudnn.tensor_desc<1x8x1000xbf16> -> !cudnn.tensor_desc<1x8x1000xf32>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<1x8x1000xf32> -> !cudnn.tensor_desc<1x8x1000xbf16>
  cudnn.return %3 : !cudnn.tensor_desc<1x8x1000xbf16>
}

cudnn.graph @eight_f32(%a: !cudnn.tensor_desc<1x8x4096xf32>, %b: !cudnn.tensor_desc<1x4096x1000xf32>, %v: !cudnn.tensor_desc<1x1x1000xf32>, %r: !cudnn.tensor_desc<1x8x1000xf32>) -> !cudnn.tensor_desc<1x8x1000xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x8x4096xf32>, !cudnn.tensor_desc<1x4096x1000xf32> -> !cudnn.tensor_desc<1x8x1000xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x8x1000xf32>, !cudnn.tensor_desc<1x1x1000xf32> -> !cudnn.tensor_desc<1x8x1000xf32>
  %2 = cudnn.pointwise add(%1, %r) type = f32 : !cudnn.tensor_desc<1x8x1000xf32>, !cudnn.tensor_desc<1x8x1000xf32> -> !cudnn.tensor_desc<1x8x1000xf32>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<1x8x1000xf32> -> !cudnn.tensor_desc<1x8x1000xf32>
  cudnn.return %3 : !cudnn.tensor_desc<1x8x1000xf32>
}

cudnn.graph @long_f32(%a: !cudnn.tensor_desc<1x1x8192xf32>, %b: !cudnn.tensor_desc<1x8192x4096xf32>, %v: !cudnn.tensor_desc<1x1x4096xf32>, %r: !cudnn.tensor_desc<1x1x4096xf32>) -> !cudnn.tensor_desc<1x1x4096xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x1x8192xf32>, !cudnn.tensor_desc<1x8192x4096xf32> -> !cudnn.tensor_desc<1x1x4096xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x1x4096xf32>, !cudnn.tensor_desc<1x1x4096xf32> -> !cudnn.tensor_desc<1x1x4096xf32>
  %2 = cudnn.pointwise add(%1, %r) type = f32 : !cudnn.tensor_desc<1x1x4096xf32>, !cudnn.tensor_desc<1x1x4096xf32> -> !cudnn.tensor_desc<1x1x4096xf32>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<1x1x4096xf32> -> !cudnn.tensor_desc<1x1x4096xf32>
  cudnn.return %3 : !cudnn.tensor_desc<1x1x4096xf32>
}

cudnn.graph @four(%a: !cudnn.tensor_desc<1x4x2048xf16>, %b: !cudnn.tensor_desc<1x2048x1000xf16>, %v: !cudnn.tensor_desc<1x1x1000xf16>, %r: !cudnn.tensor_desc<1x4x1000xf16>) -> !cudnn.tensor_desc<1x4x1000xf16> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<1x4x2048xf16>, !cudnn.tensor_desc<1x2048x1000xf16> -> !cudnn.tensor_desc<1x4x1000xf32>
  %1 = cudnn.pointwise add(%0, %v) type = f32 : !cudnn.tensor_desc<1x4x1000xf32>, !cudnn.tensor_desc<1x1x1000xf16> -> !cudnn.tensor_desc<1x4x1000xf32>
  %2 = cudnn.pointwise add(%1, %r) type = f32 : !cudnn.tensor_desc<1x4x1000xf32>, !cudnn.tensor_desc<1x4x1000xf16> -> !cudnn.tensor_desc<1x4x1000xf32>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 lower_clip = 0.0 upper_clip = 6.0 : !cudnn.tensor_desc<1x4x1000xf32> -> !cudnn.tensor_desc<1x4x1000xf16>
  cudnn.return %3 : !cudnn.tensor_desc<1x4x1000xf16>
}
