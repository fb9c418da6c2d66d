// RUN: convoy-opt %s --tcp-lower-unsigned | filecheck %s

// Arguments and results keep the model's dtype as an attribute.
// CHECK-LABEL: func.func @image(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xi8> {tcp.input = "x", tcp.unsigned}) -> (tensor<2x4xf32> {tcp.output = "0"}, tensor<4x2xi8> {tcp.output = "1", tcp.unsigned})
func.func @image(%x: tensor<2x4xui8> {tcp.input = "x"}) -> (tensor<2x4xf32> {tcp.output = "0"}, tensor<4x2xui8> {tcp.output = "1"}) {
  // The sign bit of the i8 is cleared.
  // CHECK-NEXT: %[[WIDE:.*]] = tcp.cast %[[X]] : tensor<2x4xi8> -> tensor<2x4xi16>
  // CHECK-NEXT: %[[MASK:.*]] = arith.constant dense<255> : tensor<1x1xi16>
  // CHECK-NEXT: %[[NUMBER:.*]] = tcp.bitwise_and %[[WIDE]], %[[MASK]] : tensor<2x4xi16>, tensor<1x1xi16> -> tensor<2x4xi16>
  // CHECK-NEXT: %[[Y:.*]] = tcp.cast %[[NUMBER]] : tensor<2x4xi16> -> tensor<2x4xf32>
  %0 = tcp.cast %x : tensor<2x4xui8> -> tensor<2x4xf32>
  // CHECK-NEXT: %[[T:.*]] = tcp.transpose %[[X]] {perm = array<i64: 1, 0>} : tensor<2x4xi8> -> tensor<4x2xi8>
  %1 = tcp.transpose %x {perm = array<i64: 1, 0>} : tensor<2x4xui8> -> tensor<4x2xui8>
  // CHECK-NEXT: return %[[Y]], %[[T]] : tensor<2x4xf32>, tensor<4x2xi8>
  return %0, %1 : tensor<2x4xf32>, tensor<4x2xui8>
}

// CHECK-LABEL: func.func @casts(
// CHECK-SAME: %[[X:.*]]: tensor<4xi8> {tcp.unsigned}, %[[I:.*]]: tensor<4xi8>, %[[F:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xi1>, %[[D:.*]]: tensor<4xf64>)
func.func @casts(%x: tensor<4xui8>, %i: tensor<4xi8>, %f: tensor<4xf32>, %b: tensor<4xi1>, %d: tensor<4xf64>)
    -> (tensor<4xui8>, tensor<4xi1>, tensor<4xi8>, tensor<4xi64>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>) {
  // CHECK-NEXT: %[[BOOL:.*]] = tcp.cast %[[X]] : tensor<4xi8> -> tensor<4xi1>
  %0 = tcp.cast %x : tensor<4xui8> -> tensor<4xi1>
  %1 = tcp.cast %x : tensor<4xui8> -> tensor<4xi8>
  // CHECK-NEXT: %[[WIDE:.*]] = tcp.cast %[[X]] : tensor<4xi8> -> tensor<4xi64>
  // CHECK-NEXT: %[[MASK:.*]] = arith.constant dense<255> : tensor<1xi64>
  // CHECK-NEXT: %[[LONG:.*]] = tcp.bitwise_and %[[WIDE]], %[[MASK]]
  %2 = tcp.cast %x : tensor<4xui8> -> tensor<4xi64>
  %3 = tcp.cast %i : tensor<4xi8> -> tensor<4xui8>
  // CHECK-NEXT: %[[FROM:.*]] = tcp.cast %[[F]] : tensor<4xf32> -> tensor<4xi8>
  %4 = tcp.cast %f : tensor<4xf32> -> tensor<4xui8>
  // CHECK-NEXT: %[[ONE:.*]] = tcp.cast %[[B]] : tensor<4xi1> -> tensor<4xi8>
  %5 = tcp.cast %b : tensor<4xi1> -> tensor<4xui8>
  // CHECK-NEXT: %[[WHOLE:.*]] = tcp.cast %[[D]] : tensor<4xf64> -> tensor<4xi64>
  // CHECK-NEXT: %[[LOW:.*]] = tcp.cast %[[WHOLE]] : tensor<4xi64> -> tensor<4xi8>
  %6 = tcp.cast %d : tensor<4xf64> -> tensor<4xui8>
  // CHECK-NEXT: return %[[LOW]], %[[BOOL]], %[[X]], %[[LONG]], %[[I]], %[[FROM]], %[[ONE]]
  return %6, %0, %1, %2, %3, %4, %5 : tensor<4xui8>, tensor<4xi1>, tensor<4xi8>, tensor<4xi64>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>
}

// The type of the operand decides about the sign, also where both types have the same bits.
// CHECK-LABEL: func.func @both_signs(
// CHECK-SAME: %[[X:.*]]: tensor<4xi8> {tcp.unsigned}, %[[I:.*]]: tensor<4xi8>)
func.func @both_signs(%x: tensor<4xui8>, %i: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[SIGNED:.*]] = tcp.cast %[[X]] : tensor<4xi8> -> tensor<4xf32>
  %0 = tcp.cast %x : tensor<4xui8> -> tensor<4xi8>
  %1 = tcp.cast %0 : tensor<4xi8> -> tensor<4xf32>
  // CHECK-NEXT: %[[WIDE:.*]] = tcp.cast %[[I]] : tensor<4xi8> -> tensor<4xi16>
  // CHECK-NEXT: %[[MASK:.*]] = arith.constant dense<255> : tensor<1xi16>
  // CHECK-NEXT: %[[NUMBER:.*]] = tcp.bitwise_and %[[WIDE]], %[[MASK]]
  // CHECK-NEXT: %[[UNSIGNED:.*]] = tcp.cast %[[NUMBER]] : tensor<4xi16> -> tensor<4xf32>
  %2 = tcp.cast %i : tensor<4xi8> -> tensor<4xui8>
  %3 = tcp.cast %2 : tensor<4xui8> -> tensor<4xf32>
  // CHECK-NEXT: return %[[SIGNED]], %[[UNSIGNED]]
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// Bits of the result do not depend on the sign.
// CHECK-LABEL: func.func @same_bits(
// CHECK-NOT: i16
func.func @same_bits(%x: tensor<2x4xui8>, %y: tensor<2x4xui8>, %i: tensor<1x4xi64>, %u: tensor<1x4xui8>) -> (tensor<2x4xui8>, tensor<2x4xi1>, tensor<2x6xui8>) {
  // CHECK: arith.constant dense<-56> : tensor<1x1xi8>
  %c = arith.constant dense<200> : tensor<1x1xui8>
  %0 = tcp.add %x, %c : tensor<2x4xui8>, tensor<1x1xui8> -> tensor<2x4xui8>
  %1 = tcp.mul %0, %y : tensor<2x4xui8>, tensor<2x4xui8> -> tensor<2x4xui8>
  %2 = tcp.abs %1 : tensor<2x4xui8> -> tensor<2x4xui8>
  %3 = tcp.compare %2, %y {predicate = "ne"} : tensor<2x4xui8>, tensor<2x4xui8> -> tensor<2x4xi1>
  %4 = tcp.scatter %2, %i, %u {dim = 0 : index, kind = "set"} : tensor<2x4xui8>, tensor<1x4xi64>, tensor<1x4xui8> -> tensor<2x4xui8>
  // CHECK: tcp.pad {{.*}} value = -1.000000e+00 : f64
  %5 = tcp.pad %2 {high = array<i64: 0, 1>, interior = array<i64: 0, 0>, low = array<i64: 0, 1>, value = 255.0 : f64} : tensor<2x4xui8> -> tensor<2x6xui8>
  return %4, %3, %5 : tensor<2x4xui8>, tensor<2x4xi1>, tensor<2x6xui8>
}

// Ops whose results depend on the sign.
// CHECK-LABEL: func.func @wide(
// CHECK: tcp.div {{.*}} -> tensor<4xi16>
// CHECK: tcp.maximum {{.*}} -> tensor<4xi16>
// CHECK: tcp.minimum {{.*}} -> tensor<4xi16>
// CHECK: tcp.pow {{.*}} -> tensor<4xi16>
// CHECK: tcp.shift_right {{.*}} -> tensor<4xi16>
// CHECK: tcp.gcd {{.*}} -> tensor<4xi16>
// CHECK: tcp.compare {{.*}} : tensor<4xi16>, tensor<4xi16>
// CHECK: tcp.reduce_max {{.*}} : tensor<4xi16>
func.func @wide(%x: tensor<4xui8>, %y: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xi1>, tensor<1xui8>) {
  %0 = tcp.div %x, %y : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  %1 = tcp.maximum %0, %y : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  %2 = tcp.minimum %1, %x : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  %3 = tcp.pow %2, %y : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  %4 = tcp.shift_right %3, %y : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  %5 = tcp.gcd %4, %y : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  %6 = tcp.compare %5, %y {predicate = "lt"} : tensor<4xui8>, tensor<4xui8> -> tensor<4xi1>
  %7 = tcp.reduce_max %x {dims = array<i64: 0>} : tensor<4xui8> -> tensor<1xui8>
  return %5, %6, %7 : tensor<4xui8>, tensor<4xi1>, tensor<1xui8>
}
