// Tensor attributes in addition to shape, type and strides: vectors, reordering, by value, ragged,
// a uid and groups. Tests build every graph of this folder and make each of its calls fail.

!image = !cudnn.tensor_desc<8x2x16x16xi8, NCHW, vector_count = 32, vectorized_dimension = 1>
!filter = !cudnn.tensor_desc<64x2x3x3xi8, NCHW, vector_count = 32, vectorized_dimension = 1, reordering = int8x32>
!x = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!one = !cudnn.tensor_desc<1x1x1x1xf32>
!a = !cudnn.tensor_desc<4x32x64xf16>
!b = !cudnn.tensor_desc<4x64x48xf16>
!c = !cudnn.tensor_desc<4x32x48xf16>
!offsets = !cudnn.tensor_desc<5x1x1xi32>
!gx = !cudnn.tensor_desc<2x3x4x5x6x7xf32, alignment = 4>
!gw = !cudnn.tensor_desc<3x8x4x2x3x4xf32, alignment = 4>
!gy = !cudnn.tensor_desc<2x3x8x4x4x4xf32, alignment = 4>

cudnn.graph @int8x32(%x: !image, %w: !filter) -> !image {
  %y = cudnn.convolution(%x, %w) type = i32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !image, !filter -> !image
  cudnn.return %y : !image
}

cudnn.graph @by_value(%x: !x, %s: !one {cudnn.by_value}) -> !x {
  %y = cudnn.pointwise mul(%x, %s) type = f32 : !x, !one -> !x
  cudnn.return %y : !x
}

cudnn.graph @ragged(%a: !a {cudnn.ragged_offset = 2 : i64}, %b: !b, %o: !offsets) -> !c {
  %c = cudnn.matmul(%a, %b) type = f32 : !a, !b -> !c
  cudnn.return %c : !c
}

cudnn.graph @group_dim(%x: !gx {cudnn.uid = 120 : i64}, %w: !gw {cudnn.uid = 119 : i64}) -> (!gy {cudnn.uid = 121 : i64}) {
  %y = cudnn.convolution(%x, %w) kind = convolution type = f32 beta = 0.5 spatial_stride = [1, 1, 1] pre_padding = [0, 0, 0]
      post_padding = [0, 0, 0] dilation = [1, 1, 1] : !gx, !gw -> !gy
  cudnn.return %y : !gy
}
