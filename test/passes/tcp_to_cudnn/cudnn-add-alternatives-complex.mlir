// No row of the support table accepts complex numbers, which have no bit width.
// RUN: convoy-opt %s --cudnn-add-alternatives | filecheck %s

// CHECK: cudnn.graph @complex
// CHECK-NOT: cudnn.alternative
!t = !cudnn.tensor_desc<1x64x8x8xcomplex<f32>, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xcomplex<f32>, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xcomplex<f32>, NHWC>
cudnn.graph @complex(%x: !t, %w: !w, %b: !b, %z: !t) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !t
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !t, !t -> !t
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !t, !b -> !t
  cudnn.return %2 : !t
}
