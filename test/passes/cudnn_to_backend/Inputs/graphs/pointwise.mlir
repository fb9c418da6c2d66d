// Pointwise operations: one graph for each combination of operands and attributes. Tests build
// every graph of this folder and make each of its calls fail.

!t6_10_f16 = !cudnn.tensor_desc<6x10xf16>
!t1_10_f16 = !cudnn.tensor_desc<1x10xf16>
!t8_64_16_16_f32_nhwc = !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
!t8_64_16_16_i1_nhwc = !cudnn.tensor_desc<8x64x16x16xi1, NHWC>
!t8_64_16_16_i32_nhwc = !cudnn.tensor_desc<8x64x16x16xi32, NHWC>

cudnn.graph @rank_two(%a: !t6_10_f16, %b: !t1_10_f16) -> (!t6_10_f16) {
  %c = cudnn.pointwise mul(%a, %b) type = f32 : !t6_10_f16, !t1_10_f16 -> !t6_10_f16
  cudnn.return %c : !t6_10_f16
}

cudnn.graph @add_square(%a: !t8_64_16_16_f32_nhwc, %b: !t8_64_16_16_f32_nhwc) -> (!t8_64_16_16_f32_nhwc) {
  %y = cudnn.pointwise add_square(%a, %b) type = f32 alpha1 = 2.0 alpha2 = 0.5
      : !t8_64_16_16_f32_nhwc, !t8_64_16_16_f32_nhwc -> !t8_64_16_16_f32_nhwc
  cudnn.return %y : !t8_64_16_16_f32_nhwc
}

cudnn.graph @tan(%x: !t8_64_16_16_f32_nhwc) -> (!t8_64_16_16_f32_nhwc) {
  %y = cudnn.pointwise tan(%x) type = f32 : !t8_64_16_16_f32_nhwc -> !t8_64_16_16_f32_nhwc
  cudnn.return %y : !t8_64_16_16_f32_nhwc
}

cudnn.graph @elu_fwd(%x: !t8_64_16_16_f32_nhwc) -> (!t8_64_16_16_f32_nhwc) {
  %y = cudnn.pointwise elu_fwd(%x) type = f32 elu_alpha = 0.5 : !t8_64_16_16_f32_nhwc -> !t8_64_16_16_f32_nhwc
  cudnn.return %y : !t8_64_16_16_f32_nhwc
}

cudnn.graph @swish_bwd(%a: !t8_64_16_16_f32_nhwc, %b: !t8_64_16_16_f32_nhwc) -> (!t8_64_16_16_f32_nhwc) {
  %y = cudnn.pointwise swish_bwd(%a, %b) type = f32 swish_beta = 2.0
      : !t8_64_16_16_f32_nhwc, !t8_64_16_16_f32_nhwc -> !t8_64_16_16_f32_nhwc
  cudnn.return %y : !t8_64_16_16_f32_nhwc
}

cudnn.graph @relu_bwd(%a: !t8_64_16_16_f32_nhwc, %b: !t8_64_16_16_f32_nhwc) -> (!t8_64_16_16_f32_nhwc) {
  %y = cudnn.pointwise relu_bwd(%a, %b) type = f32 lower_clip_slope = 0.1
      : !t8_64_16_16_f32_nhwc, !t8_64_16_16_f32_nhwc -> !t8_64_16_16_f32_nhwc
  cudnn.return %y : !t8_64_16_16_f32_nhwc
}

cudnn.graph @softplus_fwd(%x: !t8_64_16_16_f32_nhwc) -> (!t8_64_16_16_f32_nhwc) {
  %y = cudnn.pointwise softplus_fwd(%x) type = f32 softplus_beta = 2.0 : !t8_64_16_16_f32_nhwc -> !t8_64_16_16_f32_nhwc
  cudnn.return %y : !t8_64_16_16_f32_nhwc
}

cudnn.graph @cmp_ge(%a: !t8_64_16_16_f32_nhwc, %b: !t8_64_16_16_f32_nhwc) -> (!t8_64_16_16_i1_nhwc) {
  %y = cudnn.pointwise cmp_ge(%a, %b) type = f32 : !t8_64_16_16_f32_nhwc, !t8_64_16_16_f32_nhwc -> !t8_64_16_16_i1_nhwc
  cudnn.return %y : !t8_64_16_16_i1_nhwc
}

cudnn.graph @logical_not(%a: !t8_64_16_16_i1_nhwc) -> (!t8_64_16_16_i1_nhwc) {
  %y = cudnn.pointwise logical_not(%a) type = i1 : !t8_64_16_16_i1_nhwc -> !t8_64_16_16_i1_nhwc
  cudnn.return %y : !t8_64_16_16_i1_nhwc
}

cudnn.graph @binary_select(%a: !t8_64_16_16_f32_nhwc, %b: !t8_64_16_16_f32_nhwc, %c: !t8_64_16_16_i1_nhwc) -> (!t8_64_16_16_f32_nhwc) {
  %y = cudnn.pointwise binary_select(%a, %b, %c) type = f32
      : !t8_64_16_16_f32_nhwc, !t8_64_16_16_f32_nhwc, !t8_64_16_16_i1_nhwc -> !t8_64_16_16_f32_nhwc
  cudnn.return %y : !t8_64_16_16_f32_nhwc
}

cudnn.graph @gen_index(%a: !t8_64_16_16_f32_nhwc) -> (!t8_64_16_16_i32_nhwc) {
  %y = cudnn.pointwise gen_index(%a) type = i32 axis = 1 : !t8_64_16_16_f32_nhwc -> !t8_64_16_16_i32_nhwc
  cudnn.return %y : !t8_64_16_16_i32_nhwc
}
