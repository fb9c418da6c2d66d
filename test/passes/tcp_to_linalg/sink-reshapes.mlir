// RUN: convoy-opt %s --tcp-sink-reshapes | filecheck %s

// The affine part and the activation of a group norm.
// CHECK-LABEL: func.func @group_norm(
// CHECK-SAME: %[[X:.*]]: tensor<2x9x4x8xf16>, %[[W:.*]]: tensor<1x1x32xf16>, %[[B:.*]]: tensor<2x9x1xf16>)
// CHECK-NEXT: %[[N:.*]] = tcp.layer_norm %[[X]]
// CHECK-NEXT: %[[V:.*]] = tcp.reshape %[[W]] : tensor<1x1x32xf16> -> tensor<1x1x4x8xf16>
// CHECK-NEXT: %[[M:.*]] = tcp.mul %[[V]], %[[N]]
// CHECK-NEXT: %[[C:.*]] = tcp.reshape %[[B]] : tensor<2x9x1xf16> -> tensor<2x9x1x1xf16>
// CHECK-NEXT: %[[A:.*]] = tcp.add %[[M]], %[[C]]
// CHECK-NEXT: %[[S:.*]] = tcp.cast %[[A]] : tensor<2x9x4x8xf16> -> tensor<2x9x4x8xf32>
// CHECK-NEXT: %[[Y:.*]] = tcp.reshape %[[S]] : tensor<2x9x4x8xf32> -> tensor<2x9x32xf32>
// CHECK-NEXT: return %[[Y]]
func.func @group_norm(%x: tensor<2x9x4x8xf16>, %w: tensor<1x1x32xf16>, %b: tensor<2x9x1xf16>) -> tensor<2x9x32xf32> {
  %0 = tcp.layer_norm %x {dims = array<i64: 1, 3>, epsilon = 1.0e-5 : f64} : tensor<2x9x4x8xf16> -> tensor<2x9x4x8xf16>
  %1 = tcp.reshape %0 : tensor<2x9x4x8xf16> -> tensor<2x9x32xf16>
  %2 = tcp.mul %w, %1 : tensor<1x1x32xf16>, tensor<2x9x32xf16> -> tensor<2x9x32xf16>
  %3 = tcp.add %2, %b : tensor<2x9x32xf16>, tensor<2x9x1xf16> -> tensor<2x9x32xf16>
  %4 = tcp.cast %3 : tensor<2x9x32xf16> -> tensor<2x9x32xf32>
  return %4 : tensor<2x9x32xf32>
}

// Reshapes stay that split dims, whose source is no kernel's result, that have other users, or whose result broadcasts.
// CHECK-LABEL: func.func @stays(
// CHECK: tcp.softmax
// CHECK-NEXT: tcp.reshape
// CHECK-NEXT: tcp.abs
// CHECK-NEXT: tcp.reshape %arg1
// CHECK-NEXT: tcp.abs
// CHECK-NEXT: tcp.neg
// CHECK-NEXT: tcp.reshape
// CHECK-NEXT: tcp.abs
// CHECK-NEXT: tcp.exp
// CHECK-NEXT: tcp.neg
// CHECK-NEXT: tcp.reshape
// CHECK-NEXT: tcp.add
// CHECK-NEXT: return
func.func @stays(%x: tensor<8x6xf32>, %y: tensor<2x4x6xf32>, %z: tensor<5x8x6xf32>) -> (tensor<2x4x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<5x8x6xf32>) {
  %0 = tcp.softmax %x {dim = 1 : i64} : tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = tcp.reshape %0 : tensor<8x6xf32> -> tensor<2x4x6xf32>
  %2 = tcp.abs %1 : tensor<2x4x6xf32> -> tensor<2x4x6xf32>
  %3 = tcp.reshape %y : tensor<2x4x6xf32> -> tensor<8x6xf32>
  %4 = tcp.abs %3 : tensor<8x6xf32> -> tensor<8x6xf32>
  %5 = tcp.neg %y : tensor<2x4x6xf32> -> tensor<2x4x6xf32>
  %6 = tcp.reshape %5 : tensor<2x4x6xf32> -> tensor<8x6xf32>
  %7 = tcp.abs %6 : tensor<8x6xf32> -> tensor<8x6xf32>
  %8 = tcp.exp %6 : tensor<8x6xf32> -> tensor<8x6xf32>
  %9 = tcp.neg %y : tensor<2x4x6xf32> -> tensor<2x4x6xf32>
  %10 = tcp.reshape %9 : tensor<2x4x6xf32> -> tensor<1x8x6xf32>
  %11 = tcp.add %10, %z : tensor<1x8x6xf32>, tensor<5x8x6xf32> -> tensor<5x8x6xf32>
  return %2, %4, %7, %8, %11 : tensor<2x4x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<5x8x6xf32>
}

// Other scalars become tensors of one element.
// CHECK-LABEL: func.func @scalar(
// CHECK-SAME: %[[X:.*]]: tensor<1x1x1xf32>, %[[Y:.*]]: tensor<f32>)
// CHECK: %[[ABS:.*]] = tcp.abs %[[X]]
// CHECK: %[[ONE:.*]] = tcp.reshape %[[Y]] : tensor<f32> -> tensor<1x1x1xf32>
// CHECK: %[[SUM:.*]] = tcp.add %[[ABS]], %[[ONE]]
// CHECK: tcp.reshape %[[SUM]] : tensor<1x1x1xf32> -> tensor<f32>
func.func @scalar(%x: tensor<1x1x1xf32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = tcp.abs %x : tensor<1x1x1xf32> -> tensor<1x1x1xf32>
  %1 = tcp.reshape %0 : tensor<1x1x1xf32> -> tensor<f32>
  %2 = tcp.add %1, %y : tensor<f32>, tensor<f32> -> tensor<f32>
  return %2 : tensor<f32>
}
