// RUN: convoy-opt %s -pass-pipeline="builtin.module(cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s

// With enough threads for all pixels at once each thread has one load; else four are in flight.
// CHECK: gpu.binary @once_2x4x1
// CHECK-COUNT-1: ld.global
// CHECK-NOT: ld.global
// CHECK: gpu.binary @once_4x7x1
// CHECK: gpu.binary @often_2x32x1
// CHECK-COUNT-4: ld.global.v4.b32
// CHECK-NOT: .local
cudnn.graph @once(%x: !cudnn.tensor_desc<1x2048x7x7xf16, NHWC>) -> !cudnn.tensor_desc<1x2048x1x1xf16, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [7, 7] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x2048x7x7xf16, NHWC> -> !cudnn.tensor_desc<1x2048x1x1xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x2048x1x1xf16, NHWC>
}

cudnn.graph @often(%x: !cudnn.tensor_desc<1x32x112x112xf32, NHWC>) -> !cudnn.tensor_desc<1x32x1x1xf32, NHWC> {
  %y = cudnn.resample avgpool_include_padding(%x) type = f32 window = [112, 112] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x32x112x112xf32, NHWC> -> !cudnn.tensor_desc<1x32x1x1xf32, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<1x32x1x1xf32, NHWC>
}
