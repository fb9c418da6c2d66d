// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @gelu_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.gelu' op expects 'approximate' to be "none" or "tanh", but got "erf"}}
  %0 = tcp.gelu %x {approximate = "erf"} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @polynomial_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.polynomial' op expects at least one number in 'coefficients', but got none}}
  %0 = tcp.polynomial %x {coefficients = array<f64>} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @copysign_c1(%a: tensor<2x1xf32>, %b: tensor<1x4xf32>) {
  // expected-error@+1 {{'tcp.copysign' op expects result shape [2, 4], but got [4, 2]}}
  %0 = tcp.copysign %a, %b : tensor<2x1xf32>, tensor<1x4xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @clamp_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.clamp' op expects 'min_float', 'max_float' or both, but got neither}}
  %0 = tcp.clamp %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @clamp_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.clamp' op expects 'min_float' at most 'max_float', but got 2.000000e+00 and 1.000000e+00}}
  %0 = tcp.clamp %x {max_float = 1.0 : f32, min_float = 2.0 : f32} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @add_c1(%a: tensor<2x4xf32>, %b: tensor<2x3xf32>) {
  // expected-error@+1 {{'tcp.add' op expects dims that are equal or 1, but got shapes [2, 4] and [2, 3]}}
  %0 = tcp.add %a, %b : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @sub_c1(%a: tensor<2x4xf32>, %b: tensor<1x4xf32>) {
  // expected-error@+1 {{'tcp.sub' op expects result shape [2, 4], but got [1, 4]}}
  %0 = tcp.sub %a, %b : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @mul_c1(%a: tensor<2x1xf32>, %b: tensor<1x4xf32>) {
  // expected-error@+1 {{'tcp.mul' op expects result shape [2, 4], but got [4, 2]}}
  %0 = tcp.mul %a, %b : tensor<2x1xf32>, tensor<1x4xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @div_c1(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{'tcp.div' op expects dims that are equal or 1, but got shapes [2, 4] and [3, 4]}}
  %0 = tcp.div %a, %b : tensor<2x4xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @maximum_c1(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'tcp.maximum' op expects dims that are equal or 1, but got shapes [2] and [3]}}
  %0 = tcp.maximum %a, %b : tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @minimum_c1(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'tcp.minimum' op expects dims that are equal or 1, but got shapes [2] and [3]}}
  %0 = tcp.minimum %a, %b : tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @pow_c1(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'tcp.pow' op expects dims that are equal or 1, but got shapes [2] and [3]}}
  %0 = tcp.pow %a, %b : tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @compare_c1(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'tcp.compare' op expects dims that are equal or 1, but got shapes [2] and [3]}}
  %0 = tcp.compare %a, %b {predicate = "eq"} : tensor<2xf32>, tensor<3xf32> -> tensor<2xi1>
  return
}

// -----

func.func @compare_c2(%a: tensor<2xf32>) {
  // expected-error@+1 {{'tcp.compare' op expects 'predicate' to be eq, ne, lt, le, gt or ge, but got olt}}
  %0 = tcp.compare %a, %a {predicate = "olt"} : tensor<2xf32>, tensor<2xf32> -> tensor<2xi1>
  return
}

// -----

func.func @select_c1(%c: tensor<4xi1>, %a: tensor<2xf32>, %b: tensor<1xf32>) {
  // expected-error@+1 {{'tcp.select' op expects dims that are equal or 1, but got shapes [4] and [2] and [1]}}
  %0 = tcp.select %c, %a, %b : tensor<4xi1>, tensor<2xf32>, tensor<1xf32> -> tensor<4xf32>
  return
}

// -----

func.func @cast_shape(%a: tensor<2xf32>) {
  // expected-error@+1 {{'tcp.cast' op requires the same shape for all operands and results}}
  %0 = tcp.cast %a : tensor<2xf32> -> tensor<3xf16>
  return
}

// -----

func.func @ranked_tensors(%a: tensor<*xf32>) {
  // expected-error@+1 {{'tcp.neg' op operand #0 must be ranked tensor}}
  %0 = "tcp.neg"(%a) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @floats_only(%a: tensor<4xi32>) {
  // expected-error@+1 {{'tcp.exp' op operand #0 must be}}
  %0 = tcp.exp %a : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @bitwise_and_of_floats(%a: tensor<2xf32>) {
  // expected-error@+1 {{'tcp.bitwise_and' op operand #0 must be}}
  %0 = tcp.bitwise_and %a, %a : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @gcd_c1(%a: tensor<2xi32>, %b: tensor<3xi32>) {
  // expected-error@+1 {{'tcp.gcd' op expects dims that are equal or 1, but got shapes [2] and [3]}}
  %0 = tcp.gcd %a, %b : tensor<2xi32>, tensor<3xi32> -> tensor<2xi32>
  return
}
