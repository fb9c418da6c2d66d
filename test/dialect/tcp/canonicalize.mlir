// RUN: convoy-opt %s --canonicalize | filecheck %s

// CHECK-LABEL: func.func @identities
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x4xf32>
func.func @identities(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %inf = arith.constant dense<0x7F800000> : tensor<1x1xf32>
  %ninf = arith.constant dense<0xFF800000> : tensor<1x1xf32>
  %0 = tcp.add %zero, %x : tensor<1x1xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  %1 = tcp.sub %x, %zero : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  %2 = tcp.mul %x, %one : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  %3 = tcp.div %x, %one : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  %4 = tcp.pow %x, %one : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  %5 = tcp.maximum %x, %ninf : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  %6 = tcp.minimum %x, %inf : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// 0 * x may be NaN, 0 - x and 1 / x are not x, and a broadcast result differs from its operand.
// CHECK-LABEL: func.func @no_identities
func.func @no_identities(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x2x4xf32>) {
  // CHECK-DAG: tcp.mul
  // CHECK-DAG: tcp.sub
  // CHECK-DAG: tcp.div
  // CHECK-DAG: tcp.add
  // CHECK: return
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %zeros = arith.constant dense<0.0> : tensor<3x2x4xf32>
  %0 = tcp.mul %x, %zero : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  %1 = tcp.sub %zero, %x : tensor<1x1xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  %2 = tcp.div %one, %x : tensor<1x1xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  %r = tcp.reshape %x : tensor<2x4xf32> -> tensor<1x2x4xf32>
  %3 = tcp.add %r, %zeros : tensor<1x2x4xf32>, tensor<3x2x4xf32> -> tensor<3x2x4xf32>
  return %0, %1, %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x2x4xf32>
}

// CHECK-LABEL: func.func @splat_arithmetic
func.func @splat_arithmetic() -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xi64>) {
  // CHECK-DAG: %[[ADD:.*]] = arith.constant dense<3.500000e+00> : tensor<2x4xf32>
  // CHECK-DAG: %[[SUB:.*]] = arith.constant dense<-5.000000e-01> : tensor<2x4xf32>
  // CHECK-DAG: %[[MUL:.*]] = arith.constant dense<3.000000e+00> : tensor<2x4xf32>
  // CHECK-DAG: %[[DIV:.*]] = arith.constant dense<7.500000e-01> : tensor<2x4xf32>
  // CHECK-DAG: %[[MAX:.*]] = arith.constant dense<2.000000e+00> : tensor<2x4xf32>
  // CHECK-DAG: %[[MIN:.*]] = arith.constant dense<1.500000e+00> : tensor<2x4xf32>
  // CHECK-DAG: %[[INT:.*]] = arith.constant dense<6> : tensor<4xi64>
  // CHECK: return %[[ADD]], %[[SUB]], %[[MUL]], %[[DIV]], %[[MAX]], %[[MIN]], %[[INT]]
  %a = arith.constant dense<1.5> : tensor<2x1xf32>
  %b = arith.constant dense<2.0> : tensor<1x4xf32>
  %i = arith.constant dense<2> : tensor<4xi64>
  %j = arith.constant dense<3> : tensor<4xi64>
  %0 = tcp.add %a, %b : tensor<2x1xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %1 = tcp.sub %a, %b : tensor<2x1xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %2 = tcp.mul %a, %b : tensor<2x1xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %3 = tcp.div %a, %b : tensor<2x1xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %4 = tcp.maximum %a, %b : tensor<2x1xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %5 = tcp.minimum %a, %b : tensor<2x1xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %6 = tcp.mul %i, %j : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xi64>
}

// CHECK-LABEL: func.func @splat_unary
func.func @splat_unary() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[ABS:.*]] = arith.constant dense<2.500000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[CEIL:.*]] = arith.constant dense<-2.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[FLOOR:.*]] = arith.constant dense<-3.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[RECIPROCAL:.*]] = arith.constant dense<-4.000000e-01> : tensor<4xf32>
  // CHECK-DAG: %[[CLAMP:.*]] = arith.constant dense<-1.000000e+00> : tensor<4xf32>
  // CHECK: return %[[ABS]], %[[ABS]], %[[CEIL]], %[[FLOOR]], %[[CEIL]], %[[RECIPROCAL]], %[[CLAMP]]
  %a = arith.constant dense<-2.5> : tensor<4xf32>
  %0 = tcp.abs %a : tensor<4xf32> -> tensor<4xf32>
  %1 = tcp.neg %a : tensor<4xf32> -> tensor<4xf32>
  %2 = tcp.ceil %a : tensor<4xf32> -> tensor<4xf32>
  %3 = tcp.floor %a : tensor<4xf32> -> tensor<4xf32>
  %4 = tcp.round %a : tensor<4xf32> -> tensor<4xf32>
  %5 = tcp.reciprocal %a : tensor<4xf32> -> tensor<4xf32>
  %6 = tcp.clamp %a {min_float = -1.0 : f32} : tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Functions of the host's math library are left to the target.
// CHECK-LABEL: func.func @splat_transcendental
func.func @splat_transcendental() -> tensor<4xf32> {
  // CHECK: tcp.exp
  %a = arith.constant dense<1.0> : tensor<4xf32>
  %0 = tcp.exp %a : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @compare_and_select
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xf32>, %[[Y:[^:]*]]: tensor<4xf32>, %[[C:[^:]*]]: tensor<4xi1>
func.func @compare_and_select(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
  // CHECK-NEXT: %[[FALSE:.*]] = arith.constant dense<false> : tensor<4xi1>
  // CHECK-NEXT: return %[[X]], %[[Y]], %[[X]], %[[FALSE]]
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %nan = arith.constant dense<0x7FC00000> : tensor<4xf32>
  %lt = tcp.compare %one, %two {predicate = "lt"} : tensor<4xf32>, tensor<4xf32> -> tensor<4xi1>
  %ge = tcp.compare %one, %two {predicate = "ge"} : tensor<4xf32>, tensor<4xf32> -> tensor<4xi1>
  %un = tcp.compare %one, %nan {predicate = "le"} : tensor<4xf32>, tensor<4xf32> -> tensor<4xi1>
  %0 = tcp.select %lt, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %1 = tcp.select %ge, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %2 = tcp.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2, %un : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: func.func @involutions
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x4xf32>
func.func @involutions(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = tcp.abs %[[X]]
  // CHECK-NEXT: return %[[X]], %[[X]], %[[A]]
  %n = tcp.neg %x : tensor<2x4xf32> -> tensor<2x4xf32>
  %0 = tcp.neg %n : tensor<2x4xf32> -> tensor<2x4xf32>
  %r = tcp.reverse %x {dims = array<i64: 1>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %1 = tcp.reverse %r {dims = array<i64: 1>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %a = tcp.abs %x : tensor<2x4xf32> -> tensor<2x4xf32>
  %2 = tcp.abs %a : tensor<2x4xf32> -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @clamps
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xf32>
func.func @clamps(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: tcp.clamp %[[X]] {max_float = 6.000000e+00 : f32, min_float = 0.000000e+00 : f32}
  // CHECK-DAG: tcp.clamp %[[X]] {min_float = 1.000000e+00 : f32}
  // CHECK-DAG: tcp.clamp %[[X]] {max_float = 2.000000e+00 : f32, min_float = 2.000000e+00 : f32}
  // CHECK: return {{.*}}, %[[X]]
  %low = tcp.clamp %x {min_float = 0.0 : f32} : tensor<4xf32> -> tensor<4xf32>
  %0 = tcp.clamp %low {max_float = 6.0 : f32} : tensor<4xf32> -> tensor<4xf32>
  %1 = tcp.clamp %low {min_float = 1.0 : f32} : tensor<4xf32> -> tensor<4xf32>
  %high = tcp.clamp %x {max_float = 1.0 : f32} : tensor<4xf32> -> tensor<4xf32>
  %2 = tcp.clamp %high {min_float = 2.0 : f32} : tensor<4xf32> -> tensor<4xf32>
  %any = tcp.clamp %x {min_float = 0xFF800000 : f32} : tensor<4xf32> -> tensor<4xf32>
  %3 = tcp.clamp %any {max_float = 0x7F800000 : f32} : tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A cast to a wider type and back is removed. One to a narrower type rounds and remains, as does
// one between integers and floats.
// CHECK-LABEL: func.func @casts
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xf16>, %[[Y:[^:]*]]: tensor<4xf32>, %[[I:[^:]*]]: tensor<4xi32>
func.func @casts(%x: tensor<4xf16>, %y: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf16>, tensor<4xbf16>, tensor<4xf32>, tensor<4xi8>, tensor<4xi8>) {
  // CHECK-NEXT: %[[B:.*]] = tcp.cast %[[X]] : tensor<4xf16> -> tensor<4xbf16>
  // CHECK-NEXT: %[[YH:.*]] = tcp.cast %[[Y]] : tensor<4xf32> -> tensor<4xf16>
  // CHECK-NEXT: %[[YF:.*]] = tcp.cast %[[YH]] : tensor<4xf16> -> tensor<4xf32>
  // CHECK-NEXT: %[[I8:.*]] = tcp.cast %[[I]] : tensor<4xi32> -> tensor<4xi8>
  // CHECK-NEXT: %[[D:.*]] = tcp.cast %[[I]] : tensor<4xi32> -> tensor<4xf64>
  // CHECK-NEXT: %[[D8:.*]] = tcp.cast %[[D]] : tensor<4xf64> -> tensor<4xi8>
  // CHECK-NEXT: return %[[X]], %[[B]], %[[YF]], %[[I8]], %[[D8]]
  %f = tcp.cast %x : tensor<4xf16> -> tensor<4xf32>
  %0 = tcp.cast %f : tensor<4xf32> -> tensor<4xf16>
  %1 = tcp.cast %f : tensor<4xf32> -> tensor<4xbf16>
  %h = tcp.cast %y : tensor<4xf32> -> tensor<4xf16>
  %2 = tcp.cast %h : tensor<4xf16> -> tensor<4xf32>
  %w = tcp.cast %i : tensor<4xi32> -> tensor<4xi64>
  %3 = tcp.cast %w : tensor<4xi64> -> tensor<4xi8>
  %d = tcp.cast %i : tensor<4xi32> -> tensor<4xf64>
  %4 = tcp.cast %d : tensor<4xf64> -> tensor<4xi8>
  return %0, %1, %2, %3, %4 : tensor<4xf16>, tensor<4xbf16>, tensor<4xf32>, tensor<4xi8>, tensor<4xi8>
}

// CHECK-LABEL: func.func @cast_splats
func.func @cast_splats() -> (tensor<4xf16>, tensor<4xi1>, tensor<4xi32>, tensor<4xi8>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) {
  // CHECK-DAG: %[[BIG:.*]] = arith.constant dense<3.000000e+02> : tensor<4xf32>
  // CHECK-DAG: %[[H:.*]] = arith.constant dense<-2.500000e+00> : tensor<4xf16>
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<true> : tensor<4xi1>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<-2> : tensor<4xi32>
  // CHECK-DAG: %[[F:.*]] = arith.constant dense<-2.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1> : tensor<4xi32>
  // CHECK-DAG: %[[FONE:.*]] = arith.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[OUT:.*]] = tcp.cast %[[BIG]] : tensor<4xf32> -> tensor<4xi8>
  // CHECK: return %[[H]], %[[T]], %[[I]], %[[OUT]], %[[F]], %[[ONE]], %[[FONE]]
  %a = arith.constant dense<-2.5> : tensor<4xf32>
  %big = arith.constant dense<3.0e2> : tensor<4xf32>
  %0 = tcp.cast %a : tensor<4xf32> -> tensor<4xf16>
  %1 = tcp.cast %a : tensor<4xf32> -> tensor<4xi1>
  %2 = tcp.cast %a : tensor<4xf32> -> tensor<4xi32>
  %3 = tcp.cast %big : tensor<4xf32> -> tensor<4xi8>
  %4 = tcp.cast %2 : tensor<4xi32> -> tensor<4xf32>
  %5 = tcp.cast %1 : tensor<4xi1> -> tensor<4xi32>
  %6 = tcp.cast %1 : tensor<4xi1> -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf16>, tensor<4xi1>, tensor<4xi32>, tensor<4xi8>, tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @splat_moves
func.func @splat_moves() -> (tensor<4x2xf32>, tensor<8xf32>, tensor<3x2x4xf32>, tensor<1x4xf32>, tensor<4x6xf32>, tensor<2x4xf32>, tensor<4x4xf32>) {
  // CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<4x2xf32>
  // CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<8xf32>
  // CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<3x2x4xf32>
  // CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<1x4xf32>
  // CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<4x6xf32>
  // CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<2x4xf32>
  // CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<4x4xf32>
  // CHECK-NOT: tcp.
  %a = arith.constant dense<0.5> : tensor<2x4xf32>
  %0 = tcp.transpose %a {perm = array<i64: 1, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
  %1 = tcp.reshape %a : tensor<2x4xf32> -> tensor<8xf32>
  %b = tcp.reshape %a : tensor<2x4xf32> -> tensor<1x2x4xf32>
  %2 = tcp.broadcast %b : tensor<1x2x4xf32> -> tensor<3x2x4xf32>
  %3 = tcp.slice %a {sizes = array<i64: 1, 4>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<2x4xf32> -> tensor<1x4xf32>
  %4 = tcp.pad %a {high = array<i64: 1, 1>, interior = array<i64: 0, 0>, low = array<i64: 1, 1>, value = 0.5 : f64} : tensor<2x4xf32> -> tensor<4x6xf32>
  %5 = tcp.reverse %a {dims = array<i64: 0>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %6 = tcp.concat %a, %a {dim = 0 : i64} : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<4x4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4x2xf32>, tensor<8xf32>, tensor<3x2x4xf32>, tensor<1x4xf32>, tensor<4x6xf32>, tensor<2x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @moves_of_nothing
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x1x4xf32>
func.func @moves_of_nothing(%x: tensor<2x1x4xf32>) -> (tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>) {
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  %0 = tcp.reshape %x : tensor<2x1x4xf32> -> tensor<2x1x4xf32>
  %1 = tcp.transpose %x {perm = array<i64: 0, 1, 2>} : tensor<2x1x4xf32> -> tensor<2x1x4xf32>
  %2 = tcp.slice %x {sizes = array<i64: 2, 1, 4>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 3, 1>} : tensor<2x1x4xf32> -> tensor<2x1x4xf32>
  %3 = tcp.pad %x {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 1, 0>, low = array<i64: 0, 0, 0>, value = 0.5 : f64} : tensor<2x1x4xf32> -> tensor<2x1x4xf32>
  %4 = tcp.broadcast %x : tensor<2x1x4xf32> -> tensor<2x1x4xf32>
  %5 = tcp.reverse %x {dims = array<i64: 1>} : tensor<2x1x4xf32> -> tensor<2x1x4xf32>
  %6 = tcp.concat %x {dim = 0 : i64} : tensor<2x1x4xf32> -> tensor<2x1x4xf32>
  %7 = tcp.reduce_mean %x {dims = array<i64: 1>} : tensor<2x1x4xf32> -> tensor<2x1x4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @moves_of_moves
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3x8xf32>
func.func @moves_of_moves(%x: tensor<2x3x8xf32>) -> (tensor<48xf32>, tensor<3x8x2xf32>, tensor<2x3x2xf32>, tensor<5x2x3x8xf32>, tensor<1x3x1xf32>) {
  // CHECK-DAG: tcp.reshape %[[X]] : tensor<2x3x8xf32> -> tensor<48xf32>
  // CHECK-DAG: tcp.transpose %[[X]] {perm = array<i64: 1, 2, 0>}
  // CHECK-DAG: tcp.slice %[[X]] {sizes = array<i64: 2, 3, 2>, starts = array<i64: 0, 0, 3>, strides = array<i64: 1, 1, 4>}
  // CHECK-DAG: %[[R:.*]] = tcp.reshape %[[X]] : tensor<2x3x8xf32> -> tensor<1x2x3x8xf32>
  // CHECK-DAG: tcp.broadcast %[[R]] : tensor<1x2x3x8xf32> -> tensor<5x2x3x8xf32>
  // CHECK-DAG: tcp.reduce_sum %[[X]] {dims = array<i64: 0, 2>}
  // CHECK: return
  %r = tcp.reshape %x : tensor<2x3x8xf32> -> tensor<6x8xf32>
  %0 = tcp.reshape %r : tensor<6x8xf32> -> tensor<48xf32>
  %t = tcp.transpose %x {perm = array<i64: 2, 1, 0>} : tensor<2x3x8xf32> -> tensor<8x3x2xf32>
  %1 = tcp.transpose %t {perm = array<i64: 1, 0, 2>} : tensor<8x3x2xf32> -> tensor<3x8x2xf32>
  %s = tcp.slice %x {sizes = array<i64: 2, 3, 4>, starts = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>} : tensor<2x3x8xf32> -> tensor<2x3x4xf32>
  %2 = tcp.slice %s {sizes = array<i64: 2, 3, 2>, starts = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>} : tensor<2x3x4xf32> -> tensor<2x3x2xf32>
  %b = tcp.reshape %x : tensor<2x3x8xf32> -> tensor<1x2x3x8xf32>
  %b1 = tcp.broadcast %b : tensor<1x2x3x8xf32> -> tensor<5x2x3x8xf32>
  %3 = tcp.broadcast %b1 : tensor<5x2x3x8xf32> -> tensor<5x2x3x8xf32>
  %m = tcp.reduce_sum %x {dims = array<i64: 2>} : tensor<2x3x8xf32> -> tensor<2x3x1xf32>
  %4 = tcp.reduce_sum %m {dims = array<i64: 0>} : tensor<2x3x1xf32> -> tensor<1x3x1xf32>
  return %0, %1, %2, %3, %4 : tensor<48xf32>, tensor<3x8x2xf32>, tensor<2x3x2xf32>, tensor<5x2x3x8xf32>, tensor<1x3x1xf32>
}

// CHECK-LABEL: func.func @transpose_of_unit_dims
func.func @transpose_of_unit_dims(%x: tensor<2x8x1x1xf32>) -> tensor<2x1x1x8xf32> {
  // CHECK-NEXT: tcp.reshape %{{.*}} : tensor<2x8x1x1xf32> -> tensor<2x1x1x8xf32>
  %0 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<2x8x1x1xf32> -> tensor<2x1x1x8xf32>
  return %0 : tensor<2x1x1x8xf32>
}

// CHECK-LABEL: func.func @concat_of_concat
// CHECK-SAME: %[[A:[^:]*]]: tensor<1x2xf32>, %[[B:[^:]*]]: tensor<1x3xf32>
func.func @concat_of_concat(%a: tensor<1x2xf32>, %b: tensor<1x3xf32>) -> tensor<1x7xf32> {
  // CHECK-NEXT: %[[C:.*]] = tcp.concat %[[A]], %[[B]], %[[A]] {dim = 1 : i64}
  // CHECK-NEXT: return %[[C]]
  %0 = tcp.concat %a, %b {dim = 1 : i64} : tensor<1x2xf32>, tensor<1x3xf32> -> tensor<1x5xf32>
  %1 = tcp.concat %0, %a {dim = 1 : i64} : tensor<1x5xf32>, tensor<1x2xf32> -> tensor<1x7xf32>
  return %1 : tensor<1x7xf32>
}

// Both are needed, or have different dims.
// CHECK-LABEL: func.func @concats_stay
func.func @concats_stay(%a: tensor<2x2xf32>) -> (tensor<2x4xf32>, tensor<2x6xf32>, tensor<2x4xf32>) {
  // CHECK-COUNT-4: tcp.concat
  %0 = tcp.concat %a, %a {dim = 1 : i64} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x4xf32>
  %1 = tcp.concat %0, %a {dim = 1 : i64} : tensor<2x4xf32>, tensor<2x2xf32> -> tensor<2x6xf32>
  %s = tcp.slice %a {sizes = array<i64: 1, 2>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x2xf32> -> tensor<1x2xf32>
  %2 = tcp.concat %s, %s {dim = 0 : i64} : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<2x2xf32>
  %3 = tcp.concat %2, %2 {dim = 1 : i64} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x4xf32>
  return %0, %1, %3 : tensor<2x4xf32>, tensor<2x6xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @broadcast_operands
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x4xf32>, %[[Y:[^:]*]]: tensor<1x4xf32>, %[[C:[^:]*]]: tensor<2x1xi1>
func.func @broadcast_operands(%x: tensor<2x4xf32>, %y: tensor<1x4xf32>, %c: tensor<2x1xi1>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: %[[B:.*]] = tcp.broadcast %[[Y]]
  // CHECK-NEXT: tcp.sub %[[Y]], %[[X]]
  // CHECK-NEXT: tcp.select %[[C]], %[[X]], %[[Y]]
  // CHECK-NEXT: tcp.mul %[[B]], %[[Y]]
  %b = tcp.broadcast %y : tensor<1x4xf32> -> tensor<2x4xf32>
  %cb = tcp.broadcast %c : tensor<2x1xi1> -> tensor<2x4xi1>
  %0 = tcp.sub %b, %x : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  %1 = tcp.select %cb, %x, %b : tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  // No other operand makes the result as large.
  %2 = tcp.mul %b, %y : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @broadcast_batch
// CHECK-SAME: %[[A:[^:]*]]: tensor<8x2x3xf32>, %[[B:[^:]*]]: tensor<1x3x4xf32>
func.func @broadcast_batch(%a: tensor<8x2x3xf32>, %b: tensor<1x3x4xf32>) -> tensor<8x2x4xf32> {
  // CHECK-NEXT: tcp.matmul %[[A]], %[[B]]
  %0 = tcp.broadcast %b : tensor<1x3x4xf32> -> tensor<8x3x4xf32>
  %1 = tcp.matmul %a, %0 : tensor<8x2x3xf32>, tensor<8x3x4xf32> -> tensor<8x2x4xf32>
  return %1 : tensor<8x2x4xf32>
}

// CHECK-LABEL: func.func @broadcast_rows
func.func @broadcast_rows(%a: tensor<2x3xf32>, %b: tensor<1x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: tcp.broadcast
  // CHECK-NEXT: tcp.matmul
  %0 = tcp.broadcast %b : tensor<1x4xf32> -> tensor<3x4xf32>
  %1 = tcp.matmul %a, %0 : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @identity_pools
// CHECK-SAME: %[[X:[^:]*]]: tensor<1x2x4xf32>
func.func @identity_pools(%x: tensor<1x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  // CHECK-NEXT: %[[D:.*]] = tcp.avg_pool
  // CHECK-NEXT: return %[[X]], %[[X]], %[[D]]
  %0 = tcp.max_pool %x {dilation = array<i64: 1>, kernel = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  %1 = tcp.avg_pool %x {ceil_pad = array<i64: 0>, kernel = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  %2 = tcp.avg_pool %x {ceil_pad = array<i64: 0>, divisor = 2 : i64, kernel = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x2x4xf32> -> tensor<1x2x4xf32>
  return %0, %1, %2 : tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
}

// CHECK-LABEL: func.func @pad_before_conv
// CHECK-SAME: %[[X:[^:]*]]: tensor<1x2x4xf32>
func.func @pad_before_conv(%x: tensor<1x2x4xf32>, %w: tensor<3x2x3xf32>) -> tensor<1x3x6xf32> {
  // CHECK-NEXT: tcp.conv1d %[[X]], %{{.*}} {dilation = array<i64: 1>, pad = array<i64: 2, 2>, stride = array<i64: 1>}
  %0 = tcp.pad %x {high = array<i64: 0, 0, 2>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 1>, value = 0.0 : f64} : tensor<1x2x4xf32> -> tensor<1x2x7xf32>
  %1 = tcp.conv1d %0, %w {dilation = array<i64: 1>, pad = array<i64: 1, 0>, stride = array<i64: 1>} : tensor<1x2x7xf32>, tensor<3x2x3xf32> -> tensor<1x3x6xf32>
  return %1 : tensor<1x3x6xf32>
}

// Other values, other dims, crops, and different sides.
// CHECK-LABEL: func.func @pads_stay
func.func @pads_stay(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x1xf32>, %w: tensor<3x3x3x2xf32>) -> (tensor<1x4x4x3xf32>, tensor<1x2x2x3xf32>, tensor<1x3x3x3xf32>, tensor<1x1x1x3xf32>) {
  // CHECK-COUNT-4: tcp.pad
  %a = tcp.pad %x {high = array<i64: 0, 1, 1, 0>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 1, 1, 0>, value = 1.0 : f64} : tensor<1x4x4x2xf32> -> tensor<1x6x6x2xf32>
  %0 = tcp.conv2d %a, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x6x6x2xf32>, tensor<3x3x3x2xf32> -> tensor<1x4x4x3xf32>
  %b = tcp.pad %y {high = array<i64: 0, 0, 0, 1>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 0, 0>, value = 0.0 : f64} : tensor<1x4x4x1xf32> -> tensor<1x4x4x2xf32>
  %1 = tcp.conv2d %b, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x4x4x2xf32>, tensor<3x3x3x2xf32> -> tensor<1x2x2x3xf32>
  %c = tcp.pad %x {high = array<i64: 0, 1, 1, 0>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 0, 0>, value = 0.0 : f64} : tensor<1x4x4x2xf32> -> tensor<1x5x5x2xf32>
  %2 = tcp.conv2d %c, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x5x5x2xf32>, tensor<3x3x3x2xf32> -> tensor<1x3x3x3xf32>
  %d = tcp.pad %x {high = array<i64: 0, -1, -1, 0>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 0, 0>, value = 0.0 : f64} : tensor<1x4x4x2xf32> -> tensor<1x3x3x2xf32>
  %3 = tcp.conv2d %d, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x3x3x2xf32>, tensor<3x3x3x2xf32> -> tensor<1x1x1x3xf32>
  return %0, %1, %2, %3 : tensor<1x4x4x3xf32>, tensor<1x2x2x3xf32>, tensor<1x3x3x3xf32>, tensor<1x1x1x3xf32>
}

// A cast to ui8 is not exact from i8, nor one from ui8 to i8, and a constant is signless.
// CHECK-LABEL: func.func @unsigned_casts
// CHECK-SAME: %[[X:.*]]: tensor<4xui8>, %[[I:.*]]: tensor<4xi8>
func.func @unsigned_casts(%x: tensor<4xui8>, %i: tensor<4xi8>) -> (tensor<4xi16>, tensor<4xi16>, tensor<4xi64>, tensor<1xui8>) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<-56> : tensor<1xi8>
  // CHECK-NEXT: %[[A:.*]] = tcp.cast %[[X]] : tensor<4xui8> -> tensor<4xi8>
  %0 = tcp.cast %x : tensor<4xui8> -> tensor<4xi8>
  // CHECK-NEXT: %[[B:.*]] = tcp.cast %[[A]] : tensor<4xi8> -> tensor<4xi16>
  %1 = tcp.cast %0 : tensor<4xi8> -> tensor<4xi16>
  // CHECK-NEXT: %[[D:.*]] = tcp.cast %[[I]] : tensor<4xi8> -> tensor<4xui8>
  %2 = tcp.cast %i : tensor<4xi8> -> tensor<4xui8>
  // CHECK-NEXT: %[[E:.*]] = tcp.cast %[[D]] : tensor<4xui8> -> tensor<4xi16>
  %3 = tcp.cast %2 : tensor<4xui8> -> tensor<4xi16>
  // CHECK-NEXT: %[[F:.*]] = tcp.cast %[[X]] : tensor<4xui8> -> tensor<4xi64>
  %4 = tcp.cast %x : tensor<4xui8> -> tensor<4xi16>
  %5 = tcp.cast %4 : tensor<4xi16> -> tensor<4xi64>
  // CHECK-NEXT: %[[G:.*]] = tcp.cast %[[C]] : tensor<1xi8> -> tensor<1xui8>
  %c = arith.constant dense<-56> : tensor<1xi8>
  %6 = tcp.cast %c : tensor<1xi8> -> tensor<1xui8>
  // CHECK-NEXT: return %[[B]], %[[E]], %[[F]], %[[G]]
  return %1, %3, %5, %6 : tensor<4xi16>, tensor<4xi16>, tensor<4xi64>, tensor<1xui8>
}

// -----

// A select by a condition that is known repeats one of its operands.
// CHECK-LABEL: func.func @select_of_constant
// CHECK-NEXT: %[[R:.*]] = tcp.broadcast %arg0 : tensor<2x1x4xf32> -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[R]]
func.func @select_of_constant(%x: tensor<2x1x4xf32>, %y: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %c = arith.constant dense<true> : tensor<1x3x1xi1>
  %0 = tcp.select %c, %x, %y : tensor<1x3x1xi1>, tensor<2x1x4xf32>, tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// A transpose moves before a reshape that only adds dims of size 1, not before another one.
// CHECK-LABEL: func.func @transpose_of_added_dims
// CHECK-NEXT: %[[T:.*]] = tcp.transpose %arg0 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x3x8x4xf32> -> tensor<2x8x3x4xf32>
// CHECK-NEXT: %[[R:.*]] = tcp.reshape %[[T]] : tensor<2x8x3x4xf32> -> tensor<2x8x3x4x1xf32>
// CHECK-NEXT: %[[S:.*]] = tcp.reshape %arg0
// CHECK-NEXT: %[[U:.*]] = tcp.transpose %[[S]]
// CHECK-NEXT: return %[[R]], %[[U]]
func.func @transpose_of_added_dims(%x: tensor<2x3x8x4xf32>) -> (tensor<2x8x3x4x1xf32>, tensor<8x6x1x4xf32>) {
  %0 = tcp.reshape %x : tensor<2x3x8x4xf32> -> tensor<2x3x8x1x4xf32>
  %1 = tcp.transpose %0 {perm = array<i64: 0, 2, 1, 4, 3>} : tensor<2x3x8x1x4xf32> -> tensor<2x8x3x4x1xf32>
  %2 = tcp.reshape %x : tensor<2x3x8x4xf32> -> tensor<6x8x1x4xf32>
  %3 = tcp.transpose %2 {perm = array<i64: 1, 0, 2, 3>} : tensor<6x8x1x4xf32> -> tensor<8x6x1x4xf32>
  return %1, %3 : tensor<2x8x3x4x1xf32>, tensor<8x6x1x4xf32>
}
