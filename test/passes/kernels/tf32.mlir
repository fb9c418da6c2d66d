// RUN: convoy-opt %s --convert-tcp-to-cudnn --cudnn-attach-kernels | filecheck %s
// RUN: convoy-opt %s -pass-pipeline="builtin.module(convert-tcp-to-cudnn,cudnn-attach-kernels,gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels),kernels-to-ptx)" | filecheck %s --check-prefix=PTX
// RUN: convoy-opt %s --convert-tcp-to-cudnn --cudnn-attach-kernels="allow-tf32=false remarks" -o /dev/null 2>&1 | filecheck %s --check-prefix=FORBIDDEN

// Kernels for f32 round to TF32 and are marked so. Four channels are 16 bytes; a step adds half as
// many products as with 16-bit types.
// CHECK: gpu.module @in_f32_32x32x1x8
// CHECK: llvm.call @convoy_conv_f32_32x32(
// CHECK: cudnn.graph @in_f32(
// CHECK-SAME: name = "in_f32_32x32x1x8", shared_bytes = 32768 : i64, tf32 = true
// FORBIDDEN: remark: {{.*}}kernels round f32 to TF32, which allow-tf32=false forbids
// PTX: gpu.binary @in_f32_32x32x1x8
// PTX-SAME: cvt.rna.tf32.f32
// PTX-SAME: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
cudnn.graph @in_f32(%x: !cudnn.tensor_desc<1x36x14x14xf32, NHWC>, %w: !cudnn.tensor_desc<36x36x3x3xf32, NHWC>) -> !cudnn.tensor_desc<1x36x14x14xf32, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !cudnn.tensor_desc<1x36x14x14xf32, NHWC>, !cudnn.tensor_desc<36x36x3x3xf32, NHWC> -> !cudnn.tensor_desc<1x36x14x14xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 lower_clip = 0.0 : !cudnn.tensor_desc<1x36x14x14xf32, NHWC> -> !cudnn.tensor_desc<1x36x14x14xf32, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x36x14x14xf32, NHWC>
}


// Half as many filters per block, because elements are twice as wide.
// CHECK: gpu.module @stem_0_1x1
// CHECK: llvm.call @convoy_stem_f32_f32_32(
// CHECK: cudnn.kernels = [{block = 64 : i64, chip = "sm_80", grid = 32 : i64, name = "stem_0_1x1", shared_bytes = 50816 : i64, tf32 = true, variant = "1x1"}]
// PTX: gpu.binary @stem_0_1x1
// PTX-SAME: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @main(%x: tensor<2x3x32x64xf32>, %w: tensor<64x7x7x3xf32>, %b: tensor<1x1x1x64xf32>) -> tensor<2x8x16x64xf32> attributes {tcp.target = "cuda"} {
  %s = tcp.isolated_group %x, %w, %b attributes {anchor = "stem", pattern = "transpose+conv2d+bias+relu+max_pool"} {
  ^bb0(%i: tensor<2x3x32x64xf32>, %f: tensor<64x7x7x3xf32>, %v: tensor<1x1x1x64xf32>):
    %1 = tcp.transpose %i {perm = array<i64: 0, 2, 3, 1>} : tensor<2x3x32x64xf32> -> tensor<2x32x64x3xf32>
    %2 = tcp.conv2d %1, %f {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 3, 3, 3, 3>, stride = array<i64: 2, 2>} : tensor<2x32x64x3xf32>, tensor<64x7x7x3xf32> -> tensor<2x16x32x64xf32>
    %3 = tcp.add %2, %v : tensor<2x16x32x64xf32>, tensor<1x1x1x64xf32> -> tensor<2x16x32x64xf32>
    %4 = tcp.clamp %3 {min_float = 0.0 : f32} : tensor<2x16x32x64xf32> -> tensor<2x16x32x64xf32>
    %5 = tcp.max_pool %4 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<2x16x32x64xf32> -> tensor<2x8x16x64xf32>
    tcp.yield %5 : tensor<2x8x16x64xf32>
  } : tensor<2x3x32x64xf32>, tensor<64x7x7x3xf32>, tensor<1x1x1x64xf32> -> tensor<2x8x16x64xf32>
  return %s : tensor<2x8x16x64xf32>
}
