// RUN: convoy-opt %s --tcp-unflatten-products | filecheck %s

// The reshape of the rows meets its inverse behind the product, its bias and an activation.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:[^:]*]]: tensor<3x2x16xf16> {{.*}}, %[[W:[^:]*]]: tensor<16x32xf16> {{.*}}, %[[B:[^:]*]]: tensor<1x32xf16>
// CHECK-DAG: %[[F:.*]] = tcp.reshape %[[W]] : tensor<16x32xf16> -> tensor<1x16x32xf16>
// CHECK-DAG: %[[C:.*]] = tcp.reshape %[[B]] : tensor<1x32xf16> -> tensor<1x1x32xf16>
// CHECK-DAG: %[[P:.*]] = tcp.matmul %[[X]], %[[F]] : tensor<3x2x16xf16>, tensor<1x16x32xf16> -> tensor<3x2x32xf16>
// CHECK: %[[S:.*]] = tcp.add %[[C]], %[[P]] : tensor<1x1x32xf16>, tensor<3x2x32xf16> -> tensor<3x2x32xf16>
// CHECK: %[[Y:.*]] = tcp.silu %[[S]] : tensor<3x2x32xf16>
// CHECK-NEXT: return %[[Y]]
func.func @linear(%x: tensor<3x2x16xf16> {tcp.input = "x"}, %w: tensor<16x32xf16> {tcp.weight = "w"}, %b: tensor<1x32xf16> {tcp.weight = "b"}) -> tensor<3x2x32xf16> {
  %0 = tcp.reshape %x : tensor<3x2x16xf16> -> tensor<6x16xf16>
  %1 = tcp.matmul %0, %w : tensor<6x16xf16>, tensor<16x32xf16> -> tensor<6x32xf16>
  %2 = tcp.add %b, %1 : tensor<1x32xf16>, tensor<6x32xf16> -> tensor<6x32xf16>
  %3 = tcp.silu %2 : tensor<6x32xf16> -> tensor<6x32xf16>
  %4 = tcp.reshape %3 : tensor<6x32xf16> -> tensor<3x2x32xf16>
  return %4 : tensor<3x2x32xf16>
}

// Two products of the same rows, also of more than two dims.
// CHECK-LABEL: func.func @shared(
// CHECK: tcp.matmul %{{.*}} : tensor<2x3x4x16xf16>, tensor<1x1x16x8xf16> -> tensor<2x3x4x8xf16>
// CHECK: tcp.matmul %{{.*}} : tensor<2x3x4x16xf16>, tensor<1x1x16x32xf16> -> tensor<2x3x4x32xf16>
func.func @shared(%x: tensor<2x3x4x16xf16> {tcp.input = "x"}, %v: tensor<16x8xf16> {tcp.weight = "v"}, %w: tensor<16x32xf16> {tcp.weight = "w"}) -> (tensor<24x8xf16>, tensor<24x32xf16>) {
  %0 = tcp.reshape %x : tensor<2x3x4x16xf16> -> tensor<24x16xf16>
  %1 = tcp.matmul %0, %v : tensor<24x16xf16>, tensor<16x8xf16> -> tensor<24x8xf16>
  %2 = tcp.matmul %0, %w : tensor<24x16xf16>, tensor<16x32xf16> -> tensor<24x32xf16>
  return %1, %2 : tensor<24x8xf16>, tensor<24x32xf16>
}

// The right factor is no weight; the reshape mixes rows and columns; the left factor is a weight.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: tcp.matmul {{.*}} : tensor<6x16xf16>, tensor<16x32xf16> -> tensor<6x32xf16>
func.func @others(%x: tensor<3x2x16xf16> {tcp.input = "x"}, %y: tensor<16x32xf16> {tcp.input = "y"}, %z: tensor<3x4x8xf16> {tcp.input = "z"}, %v: tensor<3x2x16xf16> {tcp.weight = "v"}, %w: tensor<16x32xf16> {tcp.weight = "w"}) -> (tensor<6x32xf16>, tensor<6x32xf16>, tensor<6x32xf16>) {
  %0 = tcp.reshape %x : tensor<3x2x16xf16> -> tensor<6x16xf16>
  %1 = tcp.matmul %0, %y : tensor<6x16xf16>, tensor<16x32xf16> -> tensor<6x32xf16>
  %2 = tcp.reshape %z : tensor<3x4x8xf16> -> tensor<6x16xf16>
  %3 = tcp.matmul %2, %w : tensor<6x16xf16>, tensor<16x32xf16> -> tensor<6x32xf16>
  %4 = tcp.reshape %v : tensor<3x2x16xf16> -> tensor<6x16xf16>
  %5 = tcp.matmul %4, %w : tensor<6x16xf16>, tensor<16x32xf16> -> tensor<6x32xf16>
  return %1, %3, %5 : tensor<6x32xf16>, tensor<6x32xf16>, tensor<6x32xf16>
}

// The reshape stays before an op with a constant, a matrix, or another use.
// CHECK-LABEL: func.func @kept(
// CHECK: %[[P:.*]] = tcp.matmul
// CHECK: %[[R:.*]] = tcp.reshape %[[P]] : tensor<3x2x32xf16> -> tensor<6x32xf16>
// CHECK: tcp.mul %[[R]], %{{.*}} : tensor<6x32xf16>, tensor<1x1xf16>
// CHECK: %[[Q:.*]] = tcp.matmul
// CHECK: %[[S:.*]] = tcp.reshape %[[Q]] : tensor<3x2x32xf16> -> tensor<6x32xf16>
// CHECK: tcp.add %[[S]], %{{.*}} : tensor<6x32xf16>, tensor<6x32xf16>
// CHECK: %[[O:.*]] = tcp.matmul
// CHECK: %[[T:.*]] = tcp.reshape %[[O]] : tensor<3x2x32xf16> -> tensor<6x32xf16>
// CHECK: tcp.neg %[[T]]
// CHECK: tcp.exp %[[T]]
func.func @kept(%x: tensor<3x2x16xf16> {tcp.input = "x"}, %y: tensor<6x32xf16> {tcp.input = "y"}, %w: tensor<16x32xf16> {tcp.weight = "w"}) -> (tensor<6x32xf16>, tensor<6x32xf16>, tensor<6x32xf16>, tensor<6x32xf16>) {
  %half = arith.constant dense<0.5> : tensor<1x1xf16>
  %0 = tcp.reshape %x : tensor<3x2x16xf16> -> tensor<6x16xf16>
  %1 = tcp.matmul %0, %w : tensor<6x16xf16>, tensor<16x32xf16> -> tensor<6x32xf16>
  %2 = tcp.mul %1, %half : tensor<6x32xf16>, tensor<1x1xf16> -> tensor<6x32xf16>
  %3 = tcp.matmul %0, %w : tensor<6x16xf16>, tensor<16x32xf16> -> tensor<6x32xf16>
  %4 = tcp.add %3, %y : tensor<6x32xf16>, tensor<6x32xf16> -> tensor<6x32xf16>
  %5 = tcp.matmul %0, %w : tensor<6x16xf16>, tensor<16x32xf16> -> tensor<6x32xf16>
  %6 = tcp.neg %5 : tensor<6x32xf16> -> tensor<6x32xf16>
  %7 = tcp.exp %5 : tensor<6x32xf16> -> tensor<6x32xf16>
  return %2, %4, %6, %7 : tensor<6x32xf16>, tensor<6x32xf16>, tensor<6x32xf16>, tensor<6x32xf16>
}

// Heads are merged to rows after the dims that stay, and a split of the sentences and heads that
// were merged before a transpose moves before it.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME: %[[X:[^:]*]]: tensor<3x2x4x8xf16>
// CHECK: %[[R:.*]] = tcp.reshape %[[X]] : tensor<3x2x4x8xf16> -> tensor<3x2x32xf16>
// CHECK: %[[P:.*]] = tcp.matmul %[[R]], %{{.*}} : tensor<3x2x32xf16>, tensor<1x32x32xf16> -> tensor<3x2x32xf16>
// CHECK: %[[S:.*]] = tcp.reshape %[[P]] : tensor<3x2x32xf16> -> tensor<3x2x4x8xf16>
// CHECK: %[[T:.*]] = tcp.transpose %[[S]] {perm = array<i64: 1, 2, 0, 3>} : tensor<3x2x4x8xf16> -> tensor<2x4x3x8xf16>
// CHECK-NEXT: return %[[T]]
func.func @heads(%x: tensor<3x2x4x8xf16> {tcp.input = "x"}, %w: tensor<32x32xf16> {tcp.weight = "w"}) -> tensor<2x4x3x8xf16> {
  %0 = tcp.reshape %x : tensor<3x2x4x8xf16> -> tensor<6x32xf16>
  %1 = tcp.matmul %0, %w : tensor<6x32xf16>, tensor<32x32xf16> -> tensor<6x32xf16>
  %2 = tcp.reshape %1 : tensor<6x32xf16> -> tensor<3x8x8xf16>
  %3 = tcp.transpose %2 {perm = array<i64: 1, 0, 2>} : tensor<3x8x8xf16> -> tensor<8x3x8xf16>
  %4 = tcp.reshape %3 : tensor<8x3x8xf16> -> tensor<2x4x3x8xf16>
  return %4 : tensor<2x4x3x8xf16>
}

// A reshape that splits one dim and merges others, and a transpose with another user.
// CHECK-LABEL: func.func @not_split(
// CHECK: %[[A:.*]] = tcp.transpose
// CHECK: tcp.reshape %[[A]]
// CHECK: %[[B:.*]] = tcp.transpose
// CHECK: tcp.reshape %[[B]]
// CHECK: return
func.func @not_split(%x: tensor<24x8xf16>, %y: tensor<24x8xf16>) -> (tensor<2x4x24xf16>, tensor<2x4x3x8xf16>, tensor<8x3x8xf16>) {
  %0 = tcp.reshape %x : tensor<24x8xf16> -> tensor<3x8x8xf16>
  %1 = tcp.transpose %0 {perm = array<i64: 1, 0, 2>} : tensor<3x8x8xf16> -> tensor<8x3x8xf16>
  %2 = tcp.reshape %1 : tensor<8x3x8xf16> -> tensor<2x4x24xf16>
  %3 = tcp.reshape %y : tensor<24x8xf16> -> tensor<3x8x8xf16>
  %4 = tcp.transpose %3 {perm = array<i64: 1, 0, 2>} : tensor<3x8x8xf16> -> tensor<8x3x8xf16>
  %5 = tcp.reshape %4 : tensor<8x3x8xf16> -> tensor<2x4x3x8xf16>
  return %2, %5, %4 : tensor<2x4x24xf16>, tensor<2x4x3x8xf16>, tensor<8x3x8xf16>
}
