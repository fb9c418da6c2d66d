// RUN: convoy-opt %s --cudnn-verify-support --verify-diagnostics -o /dev/null
// RUN: not convoy-opt %s --cudnn-verify-support="support-table=%S/missing.json" -o /dev/null 2>&1 | filecheck %s

// CHECK: error: cannot read the support table '{{.*}}missing.json'

!x = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!w = !cudnn.tensor_desc<64x64x1x1xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!d = !cudnn.tensor_desc<1x64x8x8xf64, NHWC>
!f = !cudnn.tensor_desc<64x64x1x1xf64, NHWC>

cudnn.graph @accepted(%x: !x, %w: !w, %b: !b) -> !x {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !x, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !v
  %2 = cudnn.constant 3.0 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  %3 = cudnn.pointwise mul(%1, %2) type = f32 : !v, !cudnn.tensor_desc<1x1x1x1xf32> -> !x
  cudnn.return %3 : !x
}

// expected-error @+1 {{is refused by the support table: conv2d: cuDNN supports f16, bf16 or f32, not f64}}
cudnn.graph @dtype(%x: !d, %w: !f) -> !d {
  %0 = cudnn.convolution(%x, %w) type = f64 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !d, !f -> !d
  cudnn.return %0 : !d
}

// expected-error @+1 {{is refused by the support table: expects the last operation's result as the only result}}
cudnn.graph @two_results(%x: !x, %w: !w) -> (!x, !x) {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !x, !w -> !x
  %1 = cudnn.pointwise neg(%0) type = f32 : !x -> !x
  cudnn.return %0, %1 : !x, !x
}
