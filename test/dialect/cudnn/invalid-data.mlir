// Every error of scalars, random numbers and moved data. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

!y = !cudnn.tensor_desc<1x2xf32>

cudnn.graph @constant_c1_shape() -> !y {
  // expected-error @+1 {{expects a result of one element, but got shape [1, 2]}}
  %y = cudnn.constant 1.0 : f32 -> !y
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<1x1xf16>

cudnn.graph @constant_c1_type() -> !y {
  // expected-error @+1 {{expects a result of the value's type 'f32', but got 'f16'}}
  %y = cudnn.constant 1.0 : f32 -> !y
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<1x1xi8>

cudnn.graph @constant_c1_value() -> !y {
  // expected-error @+1 {{expects a value of f64, f32, f16, bf16, i64 or i32, but got 'i8'}}
  %y = cudnn.constant 1 : i8 -> !y
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<1x4xf16>

cudnn.graph @concat_c1_none() -> !y {
  // expected-error @+1 {{expects at least one input, but got none}}
  %y = "cudnn.concat"() {axis = 0 : i64} : () -> !y
  cudnn.return %y : !y
}

// -----

!t0 = !cudnn.tensor_desc<8x32x16xf16>
!y = !cudnn.tensor_desc<8x96x16x16xf16, NHWC>

cudnn.graph @concat_c1_rank(%a0: !t0) -> !y {
  // expected-error @+1 {{expects tensors of equal rank, but got 3 and 4}}
  %y = cudnn.concat(%a0) axis = 1 : !t0 -> !y
  cudnn.return %y : !y
}

// -----

!t0 = !cudnn.tensor_desc<8x32x16x16xf16, NHWC>
!t1 = !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
!y = !cudnn.tensor_desc<8x96x16x16xf16, NHWC>

cudnn.graph @concat_c1_type(%a0: !t0, %a1: !t1) -> !y {
  // expected-error @+1 {{expects tensors of one element type, but got 'f32' and 'f16'}}
  %y = cudnn.concat(%a0, %a1) axis = 1 : !t0, !t1 -> !y
  cudnn.return %y : !y
}

// -----

!t0 = !cudnn.tensor_desc<8x32x16x16xf16, NHWC>
!t1 = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!y = !cudnn.tensor_desc<8x96x16x16xf16, NHWC>

cudnn.graph @concat_c2(%a0: !t0, %a1: !t1) -> !y {
  // expected-error @+1 {{expects 'axis' in 0 to 3, but got 4}}
  %y = cudnn.concat(%a0, %a1) axis = 4 : !t0, !t1 -> !y
  cudnn.return %y : !y
}

// -----

!t0 = !cudnn.tensor_desc<8x32x16x16xf16, NHWC>
!t1 = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!y = !cudnn.tensor_desc<8x96x16x16xf16, NHWC>

cudnn.graph @concat_c2_negative(%a0: !t0, %a1: !t1) -> !y {
  // expected-error @+1 {{expects 'axis' in 0 to 3, but got -1}}
  %y = cudnn.concat(%a0, %a1) axis = -1 : !t0, !t1 -> !y
  cudnn.return %y : !y
}

// -----

!t0 = !cudnn.tensor_desc<8x32x16x16xf16, NHWC>
!t1 = !cudnn.tensor_desc<8x64x16x8xf16, NHWC>
!y = !cudnn.tensor_desc<8x96x16x16xf16, NHWC>

cudnn.graph @concat_c3_others(%a0: !t0, %a1: !t1) -> !y {
  // expected-error @+1 {{expects inputs that differ only along 'axis', but got shapes [8, 32, 16, 16] and [8, 64, 16, 8]}}
  %y = cudnn.concat(%a0, %a1) axis = 1 : !t0, !t1 -> !y
  cudnn.return %y : !y
}

// -----

!t0 = !cudnn.tensor_desc<8x32x16x16xf16, NHWC>
!t1 = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!y = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>

cudnn.graph @concat_c3_sum(%a0: !t0, %a1: !t1) -> !y {
  // expected-error @+1 {{expects result of shape [8, 96, 16, 16], but got [8, 64, 16, 16]}}
  %y = cudnn.concat(%a0, %a1) axis = 1 : !t0, !t1 -> !y
  cudnn.return %y : !y
}

// -----

!t0 = !cudnn.tensor_desc<8x32x16x16xf16, NHWC>
!t1 = !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
!y = !cudnn.tensor_desc<8x96x16x16xf16, NHWC>

cudnn.graph @concat_c4(%a0: !t0, %a1: !t1) -> !y {
  // expected-error @+1 {{expects 'inplace_index' in 0 to 1, but got 2}}
  %y = cudnn.concat(%a0, %a1) axis = 1 inplace_index = 2 : !t0, !t1 -> !y
  cudnn.return %y : !y
}

// -----

!x = !cudnn.tensor_desc<8x16xf16>
!y = !cudnn.tensor_desc<8x15xf16>

cudnn.graph @reshape_c1(%x: !x) -> !y {
  // expected-error @+1 {{expects operand and result to have the same number of elements, but got [8, 16] and [8, 15]}}
  %y = cudnn.reshape(%x) : !x -> !y
  cudnn.return %y : !y
}

// -----

!x = !cudnn.tensor_desc<8x16xf16>
!y = !cudnn.tensor_desc<128x1xi32>

cudnn.graph @reshape_c1_type(%x: !x) -> !y {
  // expected-error @+1 {{expects tensors of one element type or of floats, but got 'f16' and 'i32'}}
  %y = cudnn.reshape(%x) : !x -> !y
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c1_none() -> !y {
  // expected-error @+1 {{expects one seed, 'seed_value' or 'seed', but got none}}
  %y = cudnn.rng bernoulli probability = 0.5 -> y(!y)
  cudnn.return %y : !y
}

// -----

!seed = !cudnn.tensor_desc<1x1x1x1xi64>
!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c1_both(%seed: !seed) -> !y {
  // expected-error @+1 {{expects one seed, 'seed_value' or 'seed', but got both}}
  %y = cudnn.rng bernoulli seed_value = 1 probability = 0.5 seed(%seed : !seed) -> y(!y)
  cudnn.return %y : !y
}

// -----

!seed = !cudnn.tensor_desc<2x1xi64>
!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c2_shape(%seed: !seed) -> !y {
  // expected-error @+1 {{expects 'seed' to have one element, but got shape [2, 1]}}
  %y = cudnn.rng bernoulli probability = 0.5 seed(%seed : !seed) -> y(!y)
  cudnn.return %y : !y
}

// -----

!offset = !cudnn.tensor_desc<1x1xf32>
!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c2_type(%offset: !offset) -> !y {
  // expected-error @+1 {{expects 'offset' of i32 or i64, but got 'f32'}}
  %y = cudnn.rng bernoulli seed_value = 1 probability = 0.5 offset(%offset : !offset) -> y(!y)
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c3_missing() -> !y {
  // expected-error @+1 {{expects 'probability' with bernoulli}}
  %y = cudnn.rng bernoulli seed_value = 1 -> y(!y)
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c3_other() -> !y {
  // expected-error @+1 {{expects no 'probability' with uniform}}
  %y = cudnn.rng uniform seed_value = 1 probability = 0.5 minimum = 0.0 maximum = 1.0 -> y(!y)
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c3_minimum() -> !y {
  // expected-error @+1 {{expects 'minimum' with uniform}}
  %y = cudnn.rng uniform seed_value = 1 maximum = 1.0 -> y(!y)
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c3_maximum() -> !y {
  // expected-error @+1 {{expects 'maximum' with uniform}}
  %y = cudnn.rng uniform seed_value = 1 minimum = 1.0 -> y(!y)
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c3_mean() -> !y {
  // expected-error @+1 {{expects 'mean' with normal}}
  %y = cudnn.rng normal seed_value = 1 standard_deviation = 1.0 -> y(!y)
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c3_deviation() -> !y {
  // expected-error @+1 {{expects 'standard_deviation' with normal}}
  %y = cudnn.rng normal seed_value = 1 mean = 1.0 -> y(!y)
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c3_probability() -> !y {
  // expected-error @+1 {{expects 'probability' in 0 to 1, but got 1.500000e+00}}
  %y = cudnn.rng bernoulli seed_value = 1 probability = 1.5 -> y(!y)
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c3_order() -> !y {
  // expected-error @+1 {{expects 'minimum' at most 'maximum', but got 2.000000e+00 and 1.000000e+00}}
  %y = cudnn.rng uniform seed_value = 1 minimum = 2.0 maximum = 1.0 -> y(!y)
  cudnn.return %y : !y
}

// -----

!y = !cudnn.tensor_desc<8x16x128x128xf32>

cudnn.graph @rng_c3_negative() -> !y {
  // expected-error @+1 {{expects a non-negative 'standard_deviation', but got -1.000000e+00}}
  %y = cudnn.rng normal seed_value = 1 mean = 0.0 standard_deviation = -1.0 -> y(!y)
  cudnn.return %y : !y
}

// -----

!s = !cudnn.tensor_desc<1x1x1x1xf32>

// expected-error @+1 {{expects results that are computed in the graph, but result #0 is a constant}}
cudnn.graph @graph_c3_constant(%x: !s) -> (!s, !s) {
  %0 = cudnn.constant 1.0 : f32 -> !s
  %1 = cudnn.pointwise add(%x, %0) type = f32 : !s, !s -> !s
  cudnn.return %0, %1 : !s, !s
}

// -----

cudnn.graph @signal_c1(%x: !cudnn.tensor_desc<8x128x256xf16>, %f: !cudnn.tensor_desc<1x1x1xi32>) -> !cudnn.tensor_desc<8x128x128xf16> {
  // expected-error @+1 {{expects result of shape [8, 128, 256], but got [8, 128, 128]}}
  %y = cudnn.signal set value = 1 flag(%f : !cudnn.tensor_desc<1x1x1xi32>) x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x128xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x128xf16>
}

// -----

cudnn.graph @signal_c1_type(%x: !cudnn.tensor_desc<8x128x256xf16>, %f: !cudnn.tensor_desc<1x1x1xi32>) -> !cudnn.tensor_desc<8x128x256xf32> {
  // expected-error @+1 {{expects a result of 'f16', but got 'f32'}}
  %y = cudnn.signal set value = 1 flag(%f : !cudnn.tensor_desc<1x1x1xi32>) x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf32>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf32>
}

// -----

cudnn.graph @signal_c2(%x: !cudnn.tensor_desc<8x128x256xf16>, %f: !cudnn.tensor_desc<1x1x2xi32>) -> !cudnn.tensor_desc<8x128x256xf16> {
  // expected-error @+1 {{expects 'flag' to have one element, but got shape [1, 1, 2]}}
  %y = cudnn.signal set value = 1 flag(%f : !cudnn.tensor_desc<1x1x2xi32>) x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}

// -----

cudnn.graph @signal_c2_type(%x: !cudnn.tensor_desc<8x128x256xf16>, %f: !cudnn.tensor_desc<1x1x1xf32>) -> !cudnn.tensor_desc<8x128x256xf16> {
  // expected-error @+1 {{expects 'flag' of an integer type, but got 'f32'}}
  %y = cudnn.signal set value = 1 flag(%f : !cudnn.tensor_desc<1x1x1xf32>) x(%x : !cudnn.tensor_desc<8x128x256xf16>) -> y(!cudnn.tensor_desc<8x128x256xf16>)
  cudnn.return %y : !cudnn.tensor_desc<8x128x256xf16>
}
