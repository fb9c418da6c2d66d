// RUN: convoy-opt %s --tcp-set-dtype=dtype=f16 | filecheck %s
// RUN: convoy-opt %s --tcp-set-dtype=dtype=bf16 | filecheck %s --check-prefix=BF16
// RUN: convoy-opt %s --tcp-set-dtype | filecheck %s --check-prefix=SAME
// RUN: convoy-opt %s --tcp-set-dtype=dtype=f32 | filecheck %s --check-prefix=WIDE
// SAME-NOT: f16
// WIDE-NOT: f64
// BF16-NOT: xf16

// CHECK-LABEL: func.func @weights_are_rounded_once
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[S:[^:]*]]:
func.func @weights_are_rounded_once(%x: tensor<2x8xf32> {tcp.input = "x"}, %w: tensor<8x4xf32> {tcp.weight = "w"}, %s: tensor<1x4xf32> {tcp.weight = "s"}) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[F:.*]] = tcp.mul %[[W]], %[[S]] : tensor<8x4xf32>, tensor<1x4xf32> -> tensor<8x4xf32>
  // CHECK-NEXT: %[[XH:.*]] = tcp.cast %[[X]] : tensor<2x8xf32> -> tensor<2x8xf16>
  // CHECK-NEXT: %[[FH:.*]] = tcp.cast %[[F]] : tensor<8x4xf32> -> tensor<8x4xf16>
  // CHECK-NEXT: %[[Y:.*]] = tcp.matmul %[[XH]], %[[FH]] : tensor<2x8xf16>, tensor<8x4xf16> -> tensor<2x4xf16>
  // CHECK-NEXT: %[[R:.*]] = tcp.cast %[[Y]] : tensor<2x4xf16> -> tensor<2x4xf32>
  // CHECK-NEXT: return %[[R]] : tensor<2x4xf32>
  // BF16-LABEL: func.func @weights_are_rounded_once
  // BF16: tcp.matmul {{.*}} : tensor<2x8xbf16>, tensor<8x4xbf16> -> tensor<2x4xbf16>
  %f = tcp.mul %w, %s : tensor<8x4xf32>, tensor<1x4xf32> -> tensor<8x4xf32>
  %0 = tcp.matmul %x, %f : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @constants_and_bools
func.func @constants_and_bools(%x: tensor<8xf32> {tcp.input = "x"}) -> (tensor<8xf32>, tensor<8xi1>) {
  // CHECK: %[[C:.*]] = arith.constant dense<5.000000e-01> : tensor<1xf16>
  // CHECK: %[[B:.*]] = tcp.compare %{{.*}}, %[[C]] {predicate = "lt"} : tensor<8xf16>, tensor<1xf16> -> tensor<8xi1>
  // CHECK: %[[S:.*]] = tcp.select %[[B]], {{.*}} : tensor<8xi1>, tensor<8xf16>, tensor<1xf16> -> tensor<8xf16>
  // CHECK: return %{{.*}}, %[[B]] : tensor<8xf32>, tensor<8xi1>
  %c = arith.constant dense<0.5> : tensor<1xf32>
  %0 = tcp.compare %x, %c {predicate = "lt"} : tensor<8xf32>, tensor<1xf32> -> tensor<8xi1>
  %1 = tcp.select %0, %x, %c : tensor<8xi1>, tensor<8xf32>, tensor<1xf32> -> tensor<8xf32>
  return %1, %0 : tensor<8xf32>, tensor<8xi1>
}

// Squares are summed in the model's type, and so are computations on the sum.
// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<2x8xf32> {tcp.input = "x"}) -> tensor<2x8xf32> {
  // CHECK: %[[E:.*]] = tcp.exp %{{.*}} : tensor<2x8xf16>
  // CHECK: %[[XF:.*]] = tcp.cast %[[E]] : tensor<2x8xf16> -> tensor<2x8xf32>
  // CHECK: tcp.mul %[[XF]], %[[XF]] : tensor<2x8xf32>
  // CHECK: tcp.reduce_mean {{.*}} -> tensor<2x1xf32>
  // CHECK: tcp.add {{.*}} -> tensor<2x1xf32>
  // CHECK: %[[R:.*]] = tcp.rsqrt {{.*}} -> tensor<2x1xf32>
  // CHECK: %[[RH:.*]] = tcp.cast %[[R]] : tensor<2x1xf32> -> tensor<2x1xf16>
  // CHECK: tcp.mul %[[E]], %[[RH]] : tensor<2x8xf16>, tensor<2x1xf16> -> tensor<2x8xf16>
  %eps = arith.constant dense<1.0e-6> : tensor<1x1xf32>
  %e = tcp.exp %x : tensor<2x8xf32> -> tensor<2x8xf32>
  %0 = tcp.mul %e, %e : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  %1 = tcp.reduce_mean %0 {dims = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %2 = tcp.add %1, %eps : tensor<2x1xf32>, tensor<1x1xf32> -> tensor<2x1xf32>
  %3 = tcp.rsqrt %2 : tensor<2x1xf32> -> tensor<2x1xf32>
  %4 = tcp.mul %e, %3 : tensor<2x8xf32>, tensor<2x1xf32> -> tensor<2x8xf32>
  return %4 : tensor<2x8xf32>
}

// The model asks for a sum in f64.
// WIDE-LABEL: func.func @sum_in_double
// WIDE: tcp.exp %{{.*}} : tensor<2x8xf64>
// WIDE: tcp.reduce_sum {{.*}} -> tensor<2x1xf64>
func.func @sum_in_double(%x: tensor<2x8xf32> {tcp.input = "x"}) -> tensor<2x1xf32> {
  %d = tcp.cast %x : tensor<2x8xf32> -> tensor<2x8xf64>
  %0 = tcp.exp %d : tensor<2x8xf64> -> tensor<2x8xf64>
  %1 = tcp.reduce_sum %0 {dims = array<i64: 1>} : tensor<2x8xf64> -> tensor<2x1xf64>
  %2 = tcp.cast %1 : tensor<2x1xf64> -> tensor<2x1xf32>
  return %2 : tensor<2x1xf32>
}

// A cast accepts any type; an integer remains an integer.
// CHECK-LABEL: func.func @casts
func.func @casts(%x: tensor<8xi64> {tcp.input = "x"}) -> (tensor<8xf32>, tensor<8xi64>) {
  // CHECK-NEXT: %[[F:.*]] = tcp.cast %{{.*}} : tensor<8xi64> -> tensor<8xf16>
  // CHECK-NEXT: %[[I:.*]] = tcp.cast %[[F]] : tensor<8xf16> -> tensor<8xi64>
  // CHECK-NEXT: %[[R:.*]] = tcp.cast %[[F]] : tensor<8xf16> -> tensor<8xf32>
  // CHECK-NEXT: return %[[R]], %[[I]]
  %0 = tcp.cast %x : tensor<8xi64> -> tensor<8xf32>
  %1 = tcp.cast %0 : tensor<8xf32> -> tensor<8xi64>
  return %0, %1 : tensor<8xf32>, tensor<8xi64>
}

// A number out of range becomes the largest finite one, and infinity remains.
// CHECK-LABEL: func.func @large_numbers
// CHECK-DAG: arith.constant dense<-6.550400e+04> : tensor<1xf16>
// CHECK-DAG: arith.constant dense<0x7C00> : tensor<1xf16>
func.func @large_numbers(%x: tensor<4xf32> {tcp.input = "x"}) -> tensor<4xf32> {
  %mask = arith.constant dense<-1.0e9> : tensor<1xf32>
  %infinity = arith.constant dense<0x7F800000> : tensor<1xf32>
  %0 = tcp.maximum %x, %mask : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  %1 = tcp.mul %0, %infinity : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// What a cast widens to f64 stays in f64, comparisons included; the operand of the cast need not be
// rounded before.
// CHECK-LABEL: func.func @double_inside
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4xf32>
func.func @double_inside(%x: tensor<4xf32> {tcp.input = "x"}, %y: tensor<4xf32> {tcp.input = "y"}) -> tensor<4xf32> {
  // CHECK-NEXT: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf64>
  // CHECK-NEXT: %[[D:.*]] = tcp.cast %[[X]] : tensor<4xf32> -> tensor<4xf64>
  // CHECK: %[[S:.*]] = tcp.sub %[[D]], %[[ONE]] : tensor<4xf64>, tensor<1xf64> -> tensor<4xf64>
  // CHECK: %[[C:.*]] = tcp.compare %[[S]], %[[D]] {{.*}} : tensor<4xf64>
  // CHECK: %[[Z:.*]] = tcp.select %[[C]], %[[S]], %[[D]] : {{.*}} -> tensor<4xf64>
  // CHECK: %[[R:.*]] = tcp.cast %[[Z]] : tensor<4xf64> -> tensor<4xf16>
  // CHECK: tcp.add %[[R]], %{{.*}} : tensor<4xf16>, tensor<4xf16> -> tensor<4xf16>
  %one = arith.constant dense<1.0> : tensor<1xf64>
  %d = tcp.cast %x : tensor<4xf32> -> tensor<4xf64>
  %s = tcp.sub %d, %one : tensor<4xf64>, tensor<1xf64> -> tensor<4xf64>
  %c = tcp.compare %s, %d {predicate = "lt"} : tensor<4xf64>, tensor<4xf64> -> tensor<4xi1>
  %z = tcp.select %c, %s, %d : tensor<4xi1>, tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
  %r = tcp.cast %z : tensor<4xf64> -> tensor<4xf32>
  %q = tcp.add %r, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %q : tensor<4xf32>
}
