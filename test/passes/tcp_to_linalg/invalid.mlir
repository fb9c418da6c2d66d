// RUN: convoy-opt %s --convert-tcp-to-linalg --split-input-file --verify-diagnostics

func.func @neg_bool(%a: tensor<4xi1>) -> tensor<4xi1> {
  // expected-error@+1 {{'tcp.neg' op cannot be lowered to linalg: expected numeric elements, but got i1}}
  %0 = tcp.neg %a : tensor<4xi1> -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @gcd_bool(%a: tensor<4xi1>) -> tensor<4xi1> {
  // expected-error@+1 {{'tcp.gcd' op cannot be lowered to linalg: expected numeric elements, but got i1}}
  %0 = tcp.gcd %a, %a : tensor<4xi1>, tensor<4xi1> -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @sum_bool(%a: tensor<4xi1>) -> tensor<1xi1> {
  // expected-error@+1 {{'tcp.reduce_sum' op cannot be lowered to linalg: expected numeric elements, but got i1}}
  %0 = tcp.reduce_sum %a {dims = array<i64: 0>} : tensor<4xi1> -> tensor<1xi1>
  return %0 : tensor<1xi1>
}

// -----

func.func @mean_int(%a: tensor<4xi32>) -> tensor<1xi32> {
  // expected-error@+1 {{'tcp.reduce_mean' op cannot be lowered to linalg: expected elements of a float type, but got i32}}
  %0 = tcp.reduce_mean %a {dims = array<i64: 0>} : tensor<4xi32> -> tensor<1xi32>
  return %0 : tensor<1xi32>
}

// -----

func.func @f8(%a: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  // expected-error@+1 {{'tcp.exp' op cannot be lowered to linalg: expected elements of type f16, bf16, f32, f64, i1, i8, i16, i32 or i64, but got f8E5M2}}
  %0 = tcp.exp %a : tensor<4xf8E5M2> -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
