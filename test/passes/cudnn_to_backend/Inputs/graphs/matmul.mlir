// Matrix products. Tests build every graph of this folder and make each of its calls fail.

!t4_32_64_f16 = !cudnn.tensor_desc<4x32x64xf16>
!t4_64_48_f16 = !cudnn.tensor_desc<4x64x48xf16>
!t4_32_48_f16 = !cudnn.tensor_desc<4x32x48xf16>
!t2_3_8_16_f16 = !cudnn.tensor_desc<2x3x8x16xf16>
!t2_3_16_8_f16 = !cudnn.tensor_desc<2x3x16x8xf16>
!t2_3_8_8_f16 = !cudnn.tensor_desc<2x3x8x8xf16>
!t1_1_48_f16 = !cudnn.tensor_desc<1x1x48xf16>
!t4_32_48_f32 = !cudnn.tensor_desc<4x32x48xf32>
!a = !cudnn.tensor_desc<8x32x64xf16>
!b = !cudnn.tensor_desc<8x64x48xf16>
!c = !cudnn.tensor_desc<8x32x48xf16>
!count = !cudnn.tensor_desc<8x1x1xi32>

cudnn.graph @matmul(%a: !t4_32_64_f16, %b: !t4_64_48_f16) -> (!t4_32_48_f16) {
  %c = cudnn.matmul(%a, %b) type = f32 : !t4_32_64_f16, !t4_64_48_f16 -> !t4_32_48_f16
  cudnn.return %c : !t4_32_48_f16
}

cudnn.graph @matmul_batches(%a: !t2_3_8_16_f16, %b: !t2_3_16_8_f16) -> (!t2_3_8_8_f16) {
  %c = cudnn.matmul(%a, %b) type = f32 : !t2_3_8_16_f16, !t2_3_16_8_f16 -> !t2_3_8_8_f16
  cudnn.return %c : !t2_3_8_8_f16
}

cudnn.graph @matmul_bias_gelu(%a: !t4_32_64_f16, %b: !t4_64_48_f16, %bias: !t1_1_48_f16) -> (!t4_32_48_f16) {
  %0 = cudnn.matmul(%a, %b) type = f32 : !t4_32_64_f16, !t4_64_48_f16 -> !t4_32_48_f32
  %1 = cudnn.pointwise add(%0, %bias) type = f32 : !t4_32_48_f32, !t1_1_48_f16 -> !t4_32_48_f32
  %c = cudnn.pointwise gelu_approx_tanh_fwd(%1) type = f32 : !t4_32_48_f32 -> !t4_32_48_f16
  cudnn.return %c : !t4_32_48_f16
}

cudnn.graph @matmul_overrides(%a: !a, %b: !b, %m: !count, %n: !count, %k: !count) -> !c {
  %c = cudnn.matmul(%a, %b) type = f32 m_override(%m : !count) n_override(%n : !count) k_override(%k : !count) padding_value = 1.0
      : !a, !b -> !c
  cudnn.return %c : !c
}

cudnn.graph @matmul_dynamic_shape(%a: !t4_32_64_f16, %b: !t4_64_48_f16) -> (!t4_32_48_f16) attributes {dynamic_shape} {
  %c = cudnn.matmul(%a, %b) type = f32 : !t4_32_64_f16, !t4_64_48_f16 -> !t4_32_48_f16
  cudnn.return %c : !t4_32_48_f16
}
