// RUN: convoy-opt %s --convert-tcp-to-linalg --convoy-fuse-elementwise --canonicalize | filecheck %s

// The network's input on the GPU: one kernel transposes, truncates and pads it.
// CHECK-LABEL: func.func @input
// CHECK-COUNT-1: linalg.generic
// CHECK: tensor.extract
// CHECK: arith.select
// CHECK: arith.truncf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @input(%x: tensor<1x3x8x8xf32>) -> tensor<1x8x8x4xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x3x8x8xf32> -> tensor<1x8x8x3xf32>
  %1 = tcp.cast %0 : tensor<1x8x8x3xf32> -> tensor<1x8x8x3xf16>
  %2 = tcp.pad %1 {high = array<i64: 0, 0, 0, 1>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 0, 0>, value = 0.0 : f64}
      : tensor<1x8x8x3xf16> -> tensor<1x8x8x4xf16>
  return %2 : tensor<1x8x8x4xf16>
}

// Values between fused ops stay f32: one extension of an operand, one truncation.
// CHECK-LABEL: func.func @residual
// CHECK-COUNT-1: linalg.generic
// CHECK-COUNT-3: arith.extf
// CHECK-NOT: arith.extf
// CHECK-COUNT-1: arith.truncf
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @residual(%x: tensor<1x8x8x4xf16>, %bias: tensor<1x1x1x4xf16>, %r: tensor<1x8x8x4xf16>) -> tensor<1x8x8x4xf16> {
  %0 = tcp.add %x, %bias : tensor<1x8x8x4xf16>, tensor<1x1x1x4xf16> -> tensor<1x8x8x4xf16>
  %1 = tcp.add %0, %r : tensor<1x8x8x4xf16>, tensor<1x8x8x4xf16> -> tensor<1x8x8x4xf16>
  %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<1x8x8x4xf16> -> tensor<1x8x8x4xf16>
  return %2 : tensor<1x8x8x4xf16>
}

// A value with two users is computed once.
// CHECK-LABEL: func.func @two_users
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// CHECK: return
func.func @two_users(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = tcp.exp %x : tensor<8xf32> -> tensor<8xf32>
  %1 = tcp.neg %0 : tensor<8xf32> -> tensor<8xf32>
  %2 = tcp.abs %0 : tensor<8xf32> -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// A value is not recomputed for each element that it is broadcast to.
// CHECK-LABEL: func.func @broadcast_of_computed
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func @broadcast_of_computed(%x: tensor<8x8xf32>, %s: tensor<8x1xf32>) -> tensor<8x8xf32> {
  %0 = tcp.exp %s : tensor<8x1xf32> -> tensor<8x1xf32>
  %1 = tcp.mul %x, %0 : tensor<8x8xf32>, tensor<8x1xf32> -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
