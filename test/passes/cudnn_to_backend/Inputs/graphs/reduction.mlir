// Reductions. Tests build every graph of this folder and make each of its calls fail.

!t8_64_56_56_f16_nhwc = !cudnn.tensor_desc<8x64x56x56xf16, NHWC>
!t8_64_1_1_f32_nhwc = !cudnn.tensor_desc<8x64x1x1xf32, NHWC>
!t8_64_16_16_f32_nhwc = !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
!t1_64_1_1_f32_nhwc = !cudnn.tensor_desc<1x64x1x1xf32, NHWC>

cudnn.graph @reduce(%x: !t8_64_56_56_f16_nhwc) -> (!t8_64_1_1_f32_nhwc) {
  %y = cudnn.reduction add(%x) type = f32 : !t8_64_56_56_f16_nhwc -> !t8_64_1_1_f32_nhwc
  cudnn.return %y : !t8_64_1_1_f32_nhwc
}

cudnn.graph @reduce_amax(%x: !t8_64_16_16_f32_nhwc) -> (!t1_64_1_1_f32_nhwc) {
  %y = cudnn.reduction amax(%x) type = f32 is_deterministic = true : !t8_64_16_16_f32_nhwc -> !t1_64_1_1_f32_nhwc
  cudnn.return %y : !t1_64_1_1_f32_nhwc
}
