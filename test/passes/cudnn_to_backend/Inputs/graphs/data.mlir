// Concatenation, reshapes and random numbers.

cudnn.graph @concat(%a: !cudnn.tensor_desc<8x32x16x16xf16, NHWC>, %b: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>)
    -> (!cudnn.tensor_desc<8x96x16x16xf16, NHWC>) {
  %y = cudnn.concat(%a, %b) axis = 1 : !cudnn.tensor_desc<8x32x16x16xf16, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
      -> !cudnn.tensor_desc<8x96x16x16xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<8x96x16x16xf16, NHWC>
}

cudnn.graph @concat_in_place(%a: !cudnn.tensor_desc<8x32x16x16xf16, NHWC>, %b: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>)
    -> (!cudnn.tensor_desc<8x96x16x16xf16, NHWC>) {
  %y = cudnn.concat(%a, %b) axis = 1 inplace_index = 1 : !cudnn.tensor_desc<8x32x16x16xf16, NHWC>,
      !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x96x16x16xf16, NHWC>
  cudnn.return %y : !cudnn.tensor_desc<8x96x16x16xf16, NHWC>
}

cudnn.graph @concat_rank_two(%a: !cudnn.tensor_desc<8x32xf16>, %b: !cudnn.tensor_desc<8x64xf16>) -> (!cudnn.tensor_desc<8x96xf16>) {
  %y = cudnn.concat(%a, %b) axis = 1 : !cudnn.tensor_desc<8x32xf16>, !cudnn.tensor_desc<8x64xf16> -> !cudnn.tensor_desc<8x96xf16>
  cudnn.return %y : !cudnn.tensor_desc<8x96xf16>
}

cudnn.graph @reshape(%x: !cudnn.tensor_desc<8x16x128x64xf16>) -> (!cudnn.tensor_desc<128x128x64xf16>) {
  %y = cudnn.reshape(%x) : !cudnn.tensor_desc<8x16x128x64xf16> -> !cudnn.tensor_desc<128x128x64xf16>
  cudnn.return %y : !cudnn.tensor_desc<128x128x64xf16>
}

cudnn.graph @rng_bernoulli() -> (!cudnn.tensor_desc<8x16x128x128xf32>) {
  %y = cudnn.rng bernoulli seed_value = 42 probability = 0.9 -> y(!cudnn.tensor_desc<8x16x128x128xf32>)
  cudnn.return %y : !cudnn.tensor_desc<8x16x128x128xf32>
}

cudnn.graph @rng_uniform(%seed: !cudnn.tensor_desc<1x1x1x1xi64>, %offset: !cudnn.tensor_desc<1x1x1x1xi64>)
    -> (!cudnn.tensor_desc<8x16x128x128xf32>) {
  %y = cudnn.rng uniform minimum = -1.0 maximum = 1.0 seed(%seed : !cudnn.tensor_desc<1x1x1x1xi64>)
      offset(%offset : !cudnn.tensor_desc<1x1x1x1xi64>) -> y(!cudnn.tensor_desc<8x16x128x128xf32>)
  cudnn.return %y : !cudnn.tensor_desc<8x16x128x128xf32>
}

cudnn.graph @rng_normal(%offset: !cudnn.tensor_desc<1x1x1x1xi64>) -> (!cudnn.tensor_desc<8x16x128x128xf32>) {
  %y = cudnn.rng normal seed_value = 7 mean = 0.5 standard_deviation = 2.0 offset(%offset : !cudnn.tensor_desc<1x1x1x1xi64>) ->
      y(!cudnn.tensor_desc<8x16x128x128xf32>)
  cudnn.return %y : !cudnn.tensor_desc<8x16x128x128xf32>
}

cudnn.graph @signals(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %ready: !cudnn.tensor_desc<1x1x1x1xi32>,
    %done: !cudnn.tensor_desc<1x1x1x1xi32>) -> (!cudnn.tensor_desc<8x64x16x16xf16, NHWC>) {
  %0 = cudnn.signal wait value = 1 flag(%ready : !cudnn.tensor_desc<1x1x1x1xi32>) x(%x : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>)
      -> y(!cudnn.tensor_desc<8x64x16x16xf16, NHWC>)
  %1 = cudnn.pointwise exp(%0) type = f32 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  %2 = cudnn.signal set value = 2 flag(%done : !cudnn.tensor_desc<1x1x1x1xi32>) x(%1 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>)
      -> y(!cudnn.tensor_desc<8x64x16x16xf16, NHWC>)
  cudnn.return %2 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}
