// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, 0, d2)>

// CHECK-LABEL: func.func @add_broadcast
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROW]], #[[ID]]], iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK: arith.addf
func.func @add_broadcast(%a: tensor<2x3x4xf32>, %b: tensor<2x1x4xf32>) -> tensor<2x3x4xf32> {
  %0 = tcp.add %a, %b : tensor<2x3x4xf32>, tensor<2x1x4xf32> -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// A splat is a scalar in the body, not an operand.
// CHECK-LABEL: func.func @mul_splat
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{[^,]*}} : tensor<4xf32>)
// CHECK: %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: arith.mulf %{{.*}}, %[[C]]
func.func @mul_splat(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<2.0> : tensor<1xf32>
  %0 = tcp.mul %a, %c : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Narrow floats are computed in f32.
// CHECK-LABEL: func.func @sigmoid_f16
// CHECK: arith.extf %{{.*}} fastmath<contract> : f16 to f32
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.divf
// CHECK: arith.truncf %{{.*}} fastmath<contract> : f32 to f16
func.func @sigmoid_f16(%a: tensor<4xf16>) -> tensor<4xf16> {
  %0 = tcp.sigmoid %a : tensor<4xf16> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// On the GPU they need not be exact.
// CHECK-LABEL: func.func @sigmoid_f16_cuda
// CHECK: math.exp %{{.*}} fastmath<afn> : f32
// CHECK: arith.divf %{{.*}} fastmath<afn> : f32
func.func @sigmoid_f16_cuda(%a: tensor<4xf16>) -> tensor<4xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.sigmoid %a : tensor<4xf16> -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// The bound is selected where a comparison is true, so that NaN is kept.
// CHECK-LABEL: func.func @relu
// CHECK: %[[BEYOND:.*]] = arith.cmpf ogt, %[[BOUND:.*]], %[[X:.*]] : f32
// CHECK: arith.select %[[BEYOND]], %[[BOUND]], %[[X]]
func.func @relu(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tcp.clamp %a {min_float = 0.0 : f32} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @compare_select
// CHECK: arith.cmpf olt
// CHECK: arith.select
func.func @compare_select(%a: tensor<4xf32>, %b: tensor<1xf32>) -> tensor<4xf32> {
  %0 = tcp.compare %a, %b {predicate = "lt"} : tensor<4xf32>, tensor<1xf32> -> tensor<4xi1>
  %1 = tcp.select %0, %a, %b : tensor<4xi1>, tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @casts
// CHECK: %[[LEAST:.*]] = arith.constant -9223372036854775808 : i64
// CHECK: %[[WHOLE:.*]] = arith.fptosi %{{.*}} : f32 to i64
// CHECK: arith.select %{{.*}}, %[[WHOLE]], %[[LEAST]] : i64
// CHECK: arith.cmpi ne
// CHECK: arith.uitofp %{{.*}} : i1 to f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @casts(%a: tensor<4xf32>) -> tensor<4xbf16> {
  %0 = tcp.cast %a : tensor<4xf32> -> tensor<4xi64>
  %1 = tcp.cast %0 : tensor<4xi64> -> tensor<4xi1>
  %2 = tcp.cast %1 : tensor<4xi1> -> tensor<4xbf16>
  return %2 : tensor<4xbf16>
}

// Powers with a small constant exponent are products.
// CHECK-LABEL: func.func @square
// CHECK: arith.mulf
// CHECK-NOT: math.powf
// CHECK: linalg.yield
func.func @square(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<2.0> : tensor<1xf32>
  %0 = tcp.pow %a, %c : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The operand of a cast is rounded: its extension has no `contract`.
// CHECK-LABEL: func.func @cast_of_half
// CHECK: arith.truncf %{{.*}} fastmath<contract> : f32 to f16
// CHECK: arith.extf %{{.*}} : f16 to f32
func.func @cast_of_half(%a: tensor<4xf16>) -> tensor<4xf32> {
  %0 = tcp.mul %a, %a : tensor<4xf16>, tensor<4xf16> -> tensor<4xf16>
  %1 = tcp.cast %0 : tensor<4xf16> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A number of bits out of range, for which arith's shifts are undefined, does not reach them.
// CHECK-LABEL: func.func @shifts
// CHECK: %[[VALID:.*]] = arith.cmpi ult, %[[BITS:.*]], %c16_i16 : i16
// CHECK: %[[SAFE:.*]] = arith.select %[[VALID]], %[[BITS]], %c0_i16
// CHECK: %[[LEFT:.*]] = arith.shli %{{.*}}, %[[SAFE]]
// CHECK: arith.select %[[VALID]], %[[LEFT]], %c0_i16
// CHECK: %[[VALID:.*]] = arith.cmpi ult, %[[BITS:.*]], %c16_i16 : i16
// CHECK: %[[SAFE:.*]] = arith.select %[[VALID]], %[[BITS]], %c15_i16
// CHECK: arith.shrsi %{{.*}}, %[[SAFE]]
func.func @shifts(%a: tensor<4xi16>, %b: tensor<4xi16>) -> (tensor<4xi16>, tensor<4xi16>) {
  %0 = tcp.shift_left %a, %b : tensor<4xi16>, tensor<4xi16> -> tensor<4xi16>
  %1 = tcp.shift_right %a, %b : tensor<4xi16>, tensor<4xi16> -> tensor<4xi16>
  return %0, %1 : tensor<4xi16>, tensor<4xi16>
}

// CHECK-LABEL: func.func @gcd
// CHECK: math.absi
// CHECK: scf.while
// CHECK: arith.remui
func.func @gcd(%a: tensor<4xi64>, %b: tensor<4xi64>) -> tensor<4xi64> {
  %0 = tcp.gcd %a, %b : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: func.func @power_of_integers
// CHECK: scf.while
// CHECK: arith.shrsi
// CHECK: %[[NEGATIVE:.*]] = arith.cmpi slt
// CHECK: arith.select %[[NEGATIVE]]
func.func @power_of_integers(%a: tensor<4xi64>, %b: tensor<4xi64>) -> tensor<4xi64> {
  %0 = tcp.pow %a, %b : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: func.func @polynomial
// CHECK: %[[C2:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[M1:.*]] = arith.mulf %[[C2]], %[[X:.*]] fastmath<contract> : f32
// CHECK: %[[C1:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[S1:.*]] = arith.addf %[[M1]], %[[C1]] fastmath<contract> : f32
// CHECK: %[[M0:.*]] = arith.mulf %[[S1]], %[[X]] fastmath<contract> : f32
// CHECK: %[[C0:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: arith.addf %[[M0]], %[[C0]] fastmath<contract> : f32
func.func @polynomial(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tcp.polynomial %a {coefficients = array<f64: 3.0, 2.0, 0.5>} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @expm1_and_copysign
func.func @expm1_and_copysign(%a: tensor<4xf32>, %b: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK: math.expm1 %{{.*}} : f32
  %0 = tcp.expm1 %a : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.copysign %{{.*}}, %{{.*}} : f32
  %1 = tcp.copysign %0, %b : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
