// RUN: convoy-opt %s --verify-roundtrip | filecheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | filecheck %s

!a = !cudnn.tensor_desc<8x32x16x16xf16, NHWC>
!b = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!y = !cudnn.tensor_desc<8x96x16x16xf16, NHWC>
!s = !cudnn.tensor_desc<1x1x1x1xi64>
!f = !cudnn.tensor_desc<8x16x128x128xf32>

// CHECK-LABEL: cudnn.graph @moved
cudnn.graph @moved(%a: !a, %b: !b) -> (!y, !y, !cudnn.tensor_desc<8x24576xf16>) {
  // CHECK: cudnn.concat(%{{.*}}, %{{.*}}) axis = 1 : !cudnn.tensor_desc<8x32x16x16xf16, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x96x16x16xf16, NHWC>
  %0 = cudnn.concat(%a, %b) axis = 1 : !a, !b -> !y
  // CHECK: cudnn.concat(%{{.*}}, %{{.*}}) axis = 1 inplace_index = 0 :
  %1 = cudnn.concat(%a, %b) axis = 1 inplace_index = 0 : !a, !b -> !y
  // CHECK: cudnn.reshape(%{{.*}}) : !cudnn.tensor_desc<8x96x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x24576xf16>
  %2 = cudnn.reshape(%1) : !y -> !cudnn.tensor_desc<8x24576xf16>
  cudnn.return %0, %1, %2 : !y, !y, !cudnn.tensor_desc<8x24576xf16>
}

// CHECK-LABEL: cudnn.graph @random
cudnn.graph @random(%seed: !s, %offset: !s) -> (!f, !f, !f) {
  // CHECK: cudnn.rng bernoulli seed_value = 42 probability = 9.000000e-01 -> y(!cudnn.tensor_desc<8x16x128x128xf32, NCHW>)
  %0 = cudnn.rng bernoulli seed_value = 42 probability = 0.9 -> y(!f)
  // CHECK: cudnn.rng uniform minimum = -1.000000e+00 maximum = 1.000000e+00 seed(%{{.*}} : !cudnn.tensor_desc<1x1x1x1xi64, NCHW>) offset(%{{.*}} : {{.*}}) -> y({{.*}})
  %1 = cudnn.rng uniform minimum = -1.0 maximum = 1.0 seed(%seed : !s) offset(%offset : !s) -> y(!f)
  // CHECK: cudnn.rng normal seed_value = 1 mean = 0.000000e+00 standard_deviation = 2.000000e+00 offset({{.*}}) -> y({{.*}})
  %2 = cudnn.rng normal seed_value = 1 mean = 0.0 standard_deviation = 2.0 offset(%offset : !s) -> y(!f)
  cudnn.return %0, %1, %2 : !f, !f, !f
}

// CHECK-LABEL: cudnn.graph @scaled
cudnn.graph @scaled(%x: !f) -> !f {
  // CHECK: %[[C:.*]] = cudnn.constant 1.250000e-01 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32, NCHW>
  %c = cudnn.constant 0.125 : f32 -> !cudnn.tensor_desc<1x1x1x1xf32>
  // CHECK: cudnn.pointwise mul(%{{.*}}, %[[C]])
  %0 = cudnn.pointwise mul(%x, %c) type = f32 : !f, !cudnn.tensor_desc<1x1x1x1xf32> -> !f
  cudnn.return %0 : !f
}
