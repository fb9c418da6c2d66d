// RUN: convoy-opt %s --tcp-flatten-products | filecheck %s

// One batch dim. The elementwise ops come before the reshape, up to the first op of another kind.
// CHECK-LABEL: func.func @batch(
// CHECK: %[[A:.*]] = tcp.reshape %{{.*}} : tensor<2x4x8x16xf32> -> tensor<8x8x16xf32>
// CHECK: %[[B:.*]] = tcp.reshape %{{.*}} : tensor<2x4x16x8xf32> -> tensor<8x16x8xf32>
// CHECK: %[[P:.*]] = tcp.matmul %[[A]], %[[B]] : tensor<8x8x16xf32>, tensor<8x16x8xf32> -> tensor<8x8x8xf32>
// CHECK: %[[Z:.*]] = tcp.reshape %{{.*}} : tensor<2x4x8x8xf32> -> tensor<8x8x8xf32>
// CHECK: %[[S:.*]] = tcp.add %[[P]], %[[Z]] : tensor<8x8x8xf32>, tensor<8x8x8xf32> -> tensor<8x8x8xf32>
// CHECK: %[[T:.*]] = tcp.tanh %[[S]] : tensor<8x8x8xf32>
// CHECK: %[[Y:.*]] = tcp.reshape %[[T]] : tensor<8x8x8xf32> -> tensor<2x4x8x8xf32>
// CHECK: tcp.softmax %[[Y]]
func.func @batch(%a: tensor<2x4x8x16xf32>, %b: tensor<2x4x16x8xf32>, %z: tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32> {
  %0 = tcp.matmul %a, %b : tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32> -> tensor<2x4x8x8xf32>
  %1 = tcp.add %0, %z : tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  %2 = tcp.tanh %1 : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  %3 = tcp.softmax %2 {dim = 3 : i64} : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xf32>
  return %3 : tensor<2x4x8x8xf32>
}

// A row is added in the new shape as well, and casts of the result move too. An operand may be
// defined after the reshape.
// CHECK-LABEL: func.func @row(
// CHECK: %[[P:.*]] = tcp.matmul
// CHECK: %[[N:.*]] = tcp.neg %{{.*}} : tensor<1x1x32xf16>
// CHECK: %[[R:.*]] = tcp.reshape %[[N]] : tensor<1x1x32xf16> -> tensor<1x32xf16>
// CHECK: %[[S:.*]] = tcp.add %[[P]], %[[R]] : tensor<6x32xf16>, tensor<1x32xf16> -> tensor<6x32xf16>
// CHECK: %[[C:.*]] = tcp.cast %[[S]] : tensor<6x32xf16> -> tensor<6x32xf32>
// CHECK: %[[Y:.*]] = tcp.reshape %[[C]] : tensor<6x32xf32> -> tensor<2x3x32xf32>
// CHECK: return %[[Y]]
func.func @row(%x: tensor<6x16xf16>, %w: tensor<16x32xf16>, %b: tensor<1x1x32xf16>) -> tensor<2x3x32xf32> {
  %0 = tcp.matmul %x, %w : tensor<6x16xf16>, tensor<16x32xf16> -> tensor<6x32xf16>
  %1 = tcp.reshape %0 : tensor<6x32xf16> -> tensor<2x3x32xf16>
  %2 = tcp.neg %b : tensor<1x1x32xf16> -> tensor<1x1x32xf16>
  %3 = tcp.add %1, %2 : tensor<2x3x32xf16>, tensor<1x1x32xf16> -> tensor<2x3x32xf16>
  %4 = tcp.cast %3 : tensor<2x3x32xf16> -> tensor<2x3x32xf32>
  return %4 : tensor<2x3x32xf32>
}

// The sum of two products is one op before one reshape, because their reshapes are equal.
// CHECK-LABEL: func.func @gate(
// CHECK: %[[P:.*]] = tcp.matmul
// CHECK: %[[S:.*]] = tcp.silu %[[P]] : tensor<6x32xf32>
// CHECK: %[[U:.*]] = tcp.matmul
// CHECK: %[[M:.*]] = tcp.mul %[[S]], %[[U]] : tensor<6x32xf32>, tensor<6x32xf32> -> tensor<6x32xf32>
// CHECK: tcp.reshape %[[M]] : tensor<6x32xf32> -> tensor<2x3x32xf32>
func.func @gate(%x: tensor<6x16xf32>, %w: tensor<16x32xf32>, %v: tensor<16x32xf32>) -> tensor<2x3x32xf32> {
  %0 = tcp.matmul %x, %w : tensor<6x16xf32>, tensor<16x32xf32> -> tensor<6x32xf32>
  %1 = tcp.reshape %0 : tensor<6x32xf32> -> tensor<2x3x32xf32>
  %2 = tcp.silu %1 : tensor<2x3x32xf32> -> tensor<2x3x32xf32>
  %3 = tcp.matmul %x, %v : tensor<6x16xf32>, tensor<16x32xf32> -> tensor<6x32xf32>
  %4 = tcp.reshape %3 : tensor<6x32xf32> -> tensor<2x3x32xf32>
  %5 = tcp.mul %2, %4 : tensor<2x3x32xf32>, tensor<2x3x32xf32> -> tensor<2x3x32xf32>
  return %5 : tensor<2x3x32xf32>
}

// Repeated batch dims remain.
// CHECK-LABEL: func.func @repeated(
// CHECK: tcp.matmul %{{.*}}, %{{.*}} : tensor<2x4x8x16xf32>, tensor<2x1x16x8xf32> -> tensor<2x4x8x8xf32>
func.func @repeated(%a: tensor<2x4x8x16xf32>, %b: tensor<2x1x16x8xf32>) -> tensor<2x4x8x8xf32> {
  %0 = tcp.matmul %a, %b : tensor<2x4x8x16xf32>, tensor<2x1x16x8xf32> -> tensor<2x4x8x8xf32>
  return %0 : tensor<2x4x8x8xf32>
}

// So do reshapes whose user has a constant, an operand that is broadcast along other dims, a larger
// result, or another product of that shape; and reshapes that are not of a product or have two
// uses.
// CHECK-LABEL: func.func @stay(
// CHECK: tcp.mul %{{.*}}, %{{.*}} : tensor<2x3x32xf32>, tensor<1x1x1xf32>
// CHECK: tcp.add %{{.*}}, %{{.*}} : tensor<2x3x32xf32>, tensor<2x1x32xf32>
// CHECK: tcp.add %{{.*}}, %{{.*}} : tensor<6x4x8xf32>, tensor<1x1x8xf32>
// CHECK: tcp.add %{{.*}}, %{{.*}} : tensor<1x6x32xf32>, tensor<5x6x32xf32>
// CHECK: tcp.add %{{.*}}, %{{.*}} : tensor<3x2x32xf32>, tensor<3x2x32xf32>
// CHECK: tcp.neg %{{.*}} : tensor<2x3x16xf32>
// CHECK: tcp.neg %{{.*}} : tensor<4x48xf32>
// CHECK: tcp.exp %{{.*}} : tensor<2x96xf32>
func.func @stay(%x: tensor<6x16xf32>, %w: tensor<16x32xf32>, %r: tensor<2x1x32xf32>, %e: tensor<1x1x8xf32>, %l: tensor<5x6x32xf32>,
    %a: tensor<3x2x16xf32>, %b: tensor<3x16x32xf32>)
    -> (tensor<2x3x32xf32>, tensor<2x3x32xf32>, tensor<6x4x8xf32>, tensor<5x6x32xf32>, tensor<3x2x32xf32>, tensor<2x3x16xf32>, tensor<4x48xf32>, tensor<2x96xf32>, tensor<2x96xf32>) {
  %half = arith.constant dense<0.5> : tensor<1x1x1xf32>
  %0 = tcp.matmul %x, %w : tensor<6x16xf32>, tensor<16x32xf32> -> tensor<6x32xf32>
  %1 = tcp.reshape %0 : tensor<6x32xf32> -> tensor<2x3x32xf32>
  %2 = tcp.mul %1, %half : tensor<2x3x32xf32>, tensor<1x1x1xf32> -> tensor<2x3x32xf32>
  %3 = tcp.matmul %x, %w : tensor<6x16xf32>, tensor<16x32xf32> -> tensor<6x32xf32>
  %4 = tcp.reshape %3 : tensor<6x32xf32> -> tensor<2x3x32xf32>
  %5 = tcp.add %4, %r : tensor<2x3x32xf32>, tensor<2x1x32xf32> -> tensor<2x3x32xf32>
  %6 = tcp.matmul %x, %w : tensor<6x16xf32>, tensor<16x32xf32> -> tensor<6x32xf32>
  %7 = tcp.reshape %6 : tensor<6x32xf32> -> tensor<6x4x8xf32>
  %8 = tcp.add %7, %e : tensor<6x4x8xf32>, tensor<1x1x8xf32> -> tensor<6x4x8xf32>
  %9 = tcp.matmul %x, %w : tensor<6x16xf32>, tensor<16x32xf32> -> tensor<6x32xf32>
  %10 = tcp.reshape %9 : tensor<6x32xf32> -> tensor<1x6x32xf32>
  %11 = tcp.add %10, %l : tensor<1x6x32xf32>, tensor<5x6x32xf32> -> tensor<5x6x32xf32>
  %12 = tcp.matmul %x, %w : tensor<6x16xf32>, tensor<16x32xf32> -> tensor<6x32xf32>
  %13 = tcp.reshape %12 : tensor<6x32xf32> -> tensor<3x2x32xf32>
  %14 = tcp.matmul %a, %b : tensor<3x2x16xf32>, tensor<3x16x32xf32> -> tensor<3x2x32xf32>
  %15 = tcp.add %13, %14 : tensor<3x2x32xf32>, tensor<3x2x32xf32> -> tensor<3x2x32xf32>
  %16 = tcp.reshape %x : tensor<6x16xf32> -> tensor<2x3x16xf32>
  %17 = tcp.neg %16 : tensor<2x3x16xf32> -> tensor<2x3x16xf32>
  %18 = tcp.matmul %x, %w : tensor<6x16xf32>, tensor<16x32xf32> -> tensor<6x32xf32>
  %19 = tcp.reshape %18 : tensor<6x32xf32> -> tensor<4x48xf32>
  %20 = tcp.reshape %18 : tensor<6x32xf32> -> tensor<2x96xf32>
  %21 = tcp.neg %19 : tensor<4x48xf32> -> tensor<4x48xf32>
  %22 = tcp.exp %20 : tensor<2x96xf32> -> tensor<2x96xf32>
  return %2, %5, %8, %11, %15, %17, %21, %22, %20 : tensor<2x3x32xf32>, tensor<2x3x32xf32>, tensor<6x4x8xf32>, tensor<5x6x32xf32>, tensor<3x2x32xf32>, tensor<2x3x16xf32>, tensor<4x48xf32>, tensor<2x96xf32>, tensor<2x96xf32>
}

// A scalar has no last dim: the op is applied to the product of one element.
// CHECK-LABEL: func.func @scalar(
// CHECK: %[[P:.*]] = tcp.matmul
// CHECK: %[[Z:.*]] = tcp.reshape %{{.*}} : tensor<f32> -> tensor<1x1xf32>
// CHECK: %[[S:.*]] = tcp.add %[[P]], %[[Z]] : tensor<1x1xf32>, tensor<1x1xf32> -> tensor<1x1xf32>
// CHECK: %[[T:.*]] = tcp.sigmoid %[[S]] : tensor<1x1xf32>
// CHECK: tcp.reshape %[[T]] : tensor<1x1xf32> -> tensor<f32>
func.func @scalar(%x: tensor<1x16xf32>, %w: tensor<16x1xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = tcp.matmul %x, %w : tensor<1x16xf32>, tensor<16x1xf32> -> tensor<1x1xf32>
  %1 = tcp.reshape %0 : tensor<1x1xf32> -> tensor<f32>
  %2 = tcp.add %1, %z : tensor<f32>, tensor<f32> -> tensor<f32>
  %3 = tcp.sigmoid %2 : tensor<f32> -> tensor<f32>
  return %3 : tensor<f32>
}

// A batch of matrices that is multiplied by one matrix is one matrix.
// CHECK-LABEL: func.func @one_factor(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3x4x16xf32>, %[[W:[^:]*]]: tensor<1x1x16x8xf32>
// CHECK-DAG: %[[R:.*]] = tcp.reshape %[[X]] : tensor<2x3x4x16xf32> -> tensor<24x16xf32>
// CHECK-DAG: %[[F:.*]] = tcp.reshape %[[W]] : tensor<1x1x16x8xf32> -> tensor<16x8xf32>
// CHECK: %[[P:.*]] = tcp.matmul %[[R]], %[[F]] : tensor<24x16xf32>, tensor<16x8xf32> -> tensor<24x8xf32>
// CHECK: %[[Y:.*]] = tcp.reshape %[[P]] : tensor<24x8xf32> -> tensor<2x3x4x8xf32>
// CHECK: return %[[Y]]
func.func @one_factor(%x: tensor<2x3x4x16xf32>, %w: tensor<1x1x16x8xf32>) -> tensor<2x3x4x8xf32> {
  %0 = tcp.matmul %x, %w : tensor<2x3x4x16xf32>, tensor<1x1x16x8xf32> -> tensor<2x3x4x8xf32>
  return %0 : tensor<2x3x4x8xf32>
}

// The pixels of a convolution become tokens after its bias, activation, scale and residual, which are
// in its group then.
// CHECK-LABEL: func.func @tokens(
// CHECK-SAME: %{{.*}}: tensor<2x4x4x8xf16>, %{{.*}}: tensor<8x3x3x1xf16>, %[[B:.*]]: tensor<1x1x8xf16>, %[[R:.*]]: tensor<2x16x8xf16>)
// CHECK: %[[C:.*]] = tcp.conv2d
// CHECK: %[[BR:.*]] = tcp.reshape %[[B]] : tensor<1x1x8xf16> -> tensor<1x1x1x8xf16>
// CHECK: %[[S:.*]] = tcp.add %[[C]], %[[BR]] : tensor<2x4x4x8xf16>, tensor<1x1x1x8xf16> -> tensor<2x4x4x8xf16>
// CHECK: %[[G:.*]] = tcp.gelu %[[S]]
// CHECK: %[[RR:.*]] = tcp.reshape %[[R]] : tensor<2x16x8xf16> -> tensor<2x4x4x8xf16>
// CHECK: %[[Y:.*]] = tcp.add %[[RR]], %[[G]] : tensor<2x4x4x8xf16>
// CHECK: tcp.reshape %[[Y]] : tensor<2x4x4x8xf16> -> tensor<2x16x8xf16>
func.func @tokens(%x: tensor<2x4x4x8xf16>, %w: tensor<8x3x3x1xf16>, %b: tensor<1x1x8xf16>, %r: tensor<2x16x8xf16>) -> tensor<2x16x8xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, groups = 8 : i64, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<2x4x4x8xf16>, tensor<8x3x3x1xf16> -> tensor<2x4x4x8xf16>
  %1 = tcp.reshape %0 : tensor<2x4x4x8xf16> -> tensor<2x16x8xf16>
  %2 = tcp.add %1, %b : tensor<2x16x8xf16>, tensor<1x1x8xf16> -> tensor<2x16x8xf16>
  %3 = tcp.gelu %2 {approximate = "none"} : tensor<2x16x8xf16> -> tensor<2x16x8xf16>
  %4 = tcp.add %r, %3 : tensor<2x16x8xf16>, tensor<2x16x8xf16> -> tensor<2x16x8xf16>
  return %4 : tensor<2x16x8xf16>
}

// A weight that repeats for each sentence is multiplied once by the rows of all sentences, and the ops
// that read the result by index read it in the other order.
// CHECK-LABEL: func.func @sentences(
// CHECK-SAME:    %[[X:.*]]: tensor<24x16x8xf16>, %[[W:.*]]: tensor<3x64x8xf16>
// CHECK-DAG: %[[A:.*]] = tcp.reshape %[[X]] : tensor<24x16x8xf16> -> tensor<8x3x16x8xf16>
// CHECK-DAG: %[[T:.*]] = tcp.transpose %[[A]] {perm = array<i64: 1, 0, 2, 3>} : tensor<8x3x16x8xf16> -> tensor<3x8x16x8xf16>
// CHECK-DAG: %[[R:.*]] = tcp.reshape %[[T]] : tensor<3x8x16x8xf16> -> tensor<3x128x8xf16>
// CHECK: %[[P:.*]] = tcp.matmul %[[R]], %{{.*}} : tensor<3x128x8xf16>, tensor<3x8x64xf16> -> tensor<3x128x64xf16>
// CHECK: %[[S:.*]] = tcp.reshape %[[P]] : tensor<3x128x64xf16> -> tensor<3x8x16x64xf16>
// CHECK: %[[B:.*]] = tcp.transpose %[[S]] {perm = array<i64: 1, 0, 2, 3>} : tensor<3x8x16x64xf16> -> tensor<8x3x16x64xf16>
// CHECK: %[[Y:.*]] = tcp.reshape %[[B]] : tensor<8x3x16x64xf16> -> tensor<24x16x64xf16>
// CHECK: tcp.gather %[[Y]]
func.func @sentences(%x: tensor<24x16x8xf16>, %w: tensor<3x64x8xf16> {tcp.weight = "w"}, %i: tensor<24x16x16xi64>) -> tensor<24x16x16xf16> {
  %0 = tcp.reshape %w : tensor<3x64x8xf16> -> tensor<1x3x64x8xf16>
  %1 = tcp.broadcast %0 : tensor<1x3x64x8xf16> -> tensor<8x3x64x8xf16>
  %2 = tcp.reshape %1 : tensor<8x3x64x8xf16> -> tensor<24x64x8xf16>
  %3 = tcp.transpose %2 {perm = array<i64: 0, 2, 1>} : tensor<24x64x8xf16> -> tensor<24x8x64xf16>
  %4 = tcp.matmul %x, %3 : tensor<24x16x8xf16>, tensor<24x8x64xf16> -> tensor<24x16x64xf16>
  %5 = tcp.gather %4, %i {dim = 2 : index} : tensor<24x16x64xf16>, tensor<24x16x16xi64> -> tensor<24x16x16xf16>
  return %5 : tensor<24x16x16xf16>
}

// If the copies of a matrix are next to each other, nothing is transposed. A dim may also repeat because
// the product broadcasts.
// CHECK-LABEL: func.func @neighbors(
// CHECK-SAME:    %[[X:.*]]: tensor<3x8x4x8xf32>
// CHECK: %[[R:.*]] = tcp.reshape %[[X]] : tensor<3x8x4x8xf32> -> tensor<3x32x8xf32>
// CHECK: %[[P:.*]] = tcp.matmul %[[R]], %{{.*}} : tensor<3x32x8xf32>, tensor<3x8x6xf32> -> tensor<3x32x6xf32>
// CHECK: tcp.reshape %[[P]] : tensor<3x32x6xf32> -> tensor<3x8x4x6xf32>
func.func @neighbors(%x: tensor<3x8x4x8xf32>, %w: tensor<3x1x8x6xf32> {tcp.weight = "w"}) -> tensor<3x8x4x6xf32> {
  %0 = tcp.matmul %x, %w : tensor<3x8x4x8xf32>, tensor<3x1x8x6xf32> -> tensor<3x8x4x6xf32>
  %1 = tcp.softmax %0 {dim = 3 : i64} : tensor<3x8x4x6xf32> -> tensor<3x8x4x6xf32>
  return %1 : tensor<3x8x4x6xf32>
}

// The copies stay where transposes would take longer than reading them: if the result is not read by
// index, or if they are smaller than the left factor; and where the weight does not repeat.
// CHECK-LABEL: func.func @copies(
// CHECK: tcp.matmul {{.*}} : tensor<24x16x8xf16>, tensor<24x8x64xf16> -> tensor<24x16x64xf16>
// CHECK: tcp.matmul {{.*}} : tensor<24x64x8xf16>, tensor<24x8x64xf16> -> tensor<24x64x64xf16>
// CHECK: tcp.matmul {{.*}} : tensor<24x16x8xf16>, tensor<24x8x64xf16> -> tensor<24x16x64xf16>
func.func @copies(%x: tensor<24x16x8xf16>, %z: tensor<24x64x8xf16>, %w: tensor<1x3x8x64xf16> {tcp.weight = "w"}, %v: tensor<24x8x64xf16> {tcp.weight = "v"}) -> (tensor<24x16x64xf16>, tensor<24x64x2xf16>, tensor<24x16x2xf16>) {
  %0 = tcp.broadcast %w : tensor<1x3x8x64xf16> -> tensor<8x3x8x64xf16>
  %1 = tcp.reshape %0 : tensor<8x3x8x64xf16> -> tensor<24x8x64xf16>
  %2 = tcp.matmul %x, %1 : tensor<24x16x8xf16>, tensor<24x8x64xf16> -> tensor<24x16x64xf16>
  %3 = tcp.softmax %2 {dim = 2 : i64} : tensor<24x16x64xf16> -> tensor<24x16x64xf16>
  %4 = tcp.matmul %z, %1 : tensor<24x64x8xf16>, tensor<24x8x64xf16> -> tensor<24x64x64xf16>
  %5 = tcp.slice %4 {sizes = array<i64: 24, 64, 2>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : tensor<24x64x64xf16> -> tensor<24x64x2xf16>
  %6 = tcp.matmul %x, %v : tensor<24x16x8xf16>, tensor<24x8x64xf16> -> tensor<24x16x64xf16>
  %7 = tcp.slice %6 {sizes = array<i64: 24, 16, 2>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : tensor<24x16x64xf16> -> tensor<24x16x2xf16>
  return %3, %5, %7 : tensor<24x16x64xf16>, tensor<24x64x2xf16>, tensor<24x16x2xf16>
}
