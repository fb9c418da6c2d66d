// Groups that are not chains: scalar constants, values with several uses, operands computed in the group.
// RUN: convoy-opt %s --tcp-form-groups --tcp-verify-groups | filecheck %s
// RUN: convoy-opt %s --tcp-form-groups --convert-tcp-to-cudnn | filecheck %s --check-prefix=GRAPH

!t = tensor<1x8x8x64xf16>
!f = tensor<64x1x1x64xf16>
!b = tensor<1x1x1x64xf16>
!g = tensor<1x1x1x64xf16>
!n = tensor<1x1x1x1xf16>

// x * clamp(x + 3, 0, 6) / 6. The scalar constants are part of the group and of the graph.
// CHECK-LABEL: func.func @hardswish(
// CHECK: %[[Y:.*]] = tcp.isolated_group %arg0, %arg1, %arg2 attributes {anchor = "conv2d", pattern = "conv2d+bias+add_scalar+relu_clip+mul_virtual+div_scalar"} {
// CHECK-NEXT: ^bb0
// CHECK-DAG: arith.constant dense<3.000000e+00>
// CHECK-DAG: arith.constant dense<6.000000e+00>
// CHECK: return %[[Y]]
// GRAPH-LABEL: cudnn.graph @conv2d_bias_add_scalar_relu_clip_mul_virtual_div_scalar_0(
// GRAPH: %[[X:.*]] = cudnn.pointwise add(%{{.*}}, %arg2)
// GRAPH: %[[THREE:.*]] = cudnn.constant 3.000000e+00 : f32
// GRAPH: %[[S:.*]] = cudnn.pointwise add(%[[X]], %[[THREE]])
// GRAPH: %[[C:.*]] = cudnn.pointwise relu_fwd(%[[S]]) type = f32 lower_clip = 0.000000e+00 upper_clip = 6.000000e+00
// GRAPH: %[[M:.*]] = cudnn.pointwise mul(%[[X]], %[[C]])
// GRAPH: %[[SIX:.*]] = cudnn.constant 6.000000e+00 : f32
// GRAPH: cudnn.pointwise div(%[[M]], %[[SIX]])
func.func @hardswish(%x: !t, %w: !f, %b: !b) -> !t {
  %three = arith.constant dense<3.0> : !n
  %six = arith.constant dense<6.0> : !n
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : !t, !f -> !t
  %1 = tcp.add %0, %b : !t, !b -> !t
  %2 = tcp.add %1, %three : !t, !n -> !t
  %3 = tcp.clamp %2 {min_float = 0.0 : f32, max_float = 6.0 : f32} : !t -> !t
  %4 = tcp.mul %1, %3 : !t, !t -> !t
  %5 = tcp.div %4, %six : !t, !n -> !t
  return %5 : !t
}

// CHECK-LABEL: func.func @hardsigmoid(
// CHECK: pattern = "conv2d+add_scalar+relu_clip+div_scalar"
func.func @hardsigmoid(%x: !t, %w: !f) -> !t {
  %three = arith.constant dense<3.0> : !n
  %six = arith.constant dense<6.0> : !n
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : !t, !f -> !t
  %1 = tcp.add %0, %three : !t, !n -> !t
  %2 = tcp.clamp %1 {min_float = 0.0 : f32, max_float = 6.0 : f32} : !t -> !t
  %3 = tcp.div %2, %six : !t, !n -> !t
  return %3 : !t
}

// 1 - x becomes -x + 1, and a clamp without a lower bound becomes a minimum.
// CHECK-LABEL: func.func @reversed(
// CHECK: pattern = "conv2d+neg+add_scalar+min_scalar"
func.func @reversed(%x: !t, %w: !f) -> !t {
  %one = arith.constant dense<1.0> : !n
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : !t, !f -> !t
  %1 = tcp.sub %one, %0 : !n, !t -> !t
  %2 = tcp.clamp %1 {max_float = 6.0 : f32} : !t -> !t
  return %2 : !t
}

// A squeeze-and-excitation gate: the sigmoid is part of the group that reads it.
// CHECK-LABEL: func.func @gate(
// CHECK: tcp.isolated_group %arg0, %arg1, %arg2, %arg3 attributes {anchor = "conv2d", pattern = "conv2d+bias+operand_sigmoid+scale"}
// CHECK-NOT: tcp.outside
func.func @gate(%x: !t, %w: !f, %b: !b, %g: !g) -> !t {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : !t, !f -> !t
  %1 = tcp.add %0, %b : !t, !b -> !t
  %2 = tcp.sigmoid %g : !g -> !g
  %3 = tcp.mul %1, %2 : !t, !g -> !t
  return %3 : !t
}

// cuDNN 9.19 computes operands with one number per image and channel wrongly.
// CHECK-LABEL: func.func @gate_per_image(
// CHECK: pattern = "conv2d"
// CHECK: tcp.mul {{.*}}tcp.outside = "gate with conv2d: cuDNN 9.19 computes wrong results or faults with an operand of this shape (H200)"
func.func @gate_per_image(%x: tensor<2x8x8x64xf16>, %w: !f, %g: tensor<2x1x1x64xf16>) -> tensor<2x8x8x64xf16> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<2x8x8x64xf16>, !f -> tensor<2x8x8x64xf16>
  %1 = tcp.mul %0, %g : tensor<2x8x8x64xf16>, tensor<2x1x1x64xf16> -> tensor<2x8x8x64xf16>
  return %1 : tensor<2x8x8x64xf16>
}

// A square, and the sum of two functions of one value.
// CHECK-LABEL: func.func @branches(
// CHECK: pattern = "conv2d+mul_virtual+tanh+sigmoid+add_virtual"
func.func @branches(%x: !t, %w: !f) -> !t {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : !t, !f -> !t
  %1 = tcp.mul %0, %0 : !t, !t -> !t
  %2 = tcp.tanh %1 : !t -> !t
  %3 = tcp.sigmoid %1 : !t -> !t
  %4 = tcp.add %2, %3 : !t, !t -> !t
  return %4 : !t
}

// Before the anchor cuDNN 9.19 computes such values wrongly, so all ops that read them stay outside.
// CHECK-LABEL: func.func @prologue(
// CHECK: tcp.tanh {{.*}}tcp.outside = "prologue_mul_virtual with conv2d: cuDNN 9.19 computes wrong results where two operations before the anchor read one value (H200, f32 products)"
// CHECK: tcp.mul {{.*}}tcp.outside
// CHECK: tcp.isolated_group %{{.*}}, %arg1 attributes {anchor = "conv2d", pattern = "conv2d"}
func.func @prologue(%x: !t, %w: !f) -> !t {
  %0 = tcp.tanh %x : !t -> !t
  %1 = tcp.mul %x, %0 : !t, !t -> !t
  %2 = tcp.conv2d %1, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : !t, !f -> !t
  return %2 : !t
}

// One branch is used outside, so neither is part of the group.
// CHECK-LABEL: func.func @leaves(
// CHECK: pattern = "conv2d"
// CHECK: tcp.sigmoid {{.*}}tcp.outside = "the result of conv2d has other uses"
func.func @leaves(%x: !t, %w: !f) -> (!t, !t) {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : !t, !f -> !t
  %1 = tcp.sigmoid %0 : !t -> !t
  %2 = tcp.mul %0, %1 : !t, !t -> !t
  return %1, %2 : !t, !t
}

// A group has at most 32 ops.
// CHECK-LABEL: func.func @long(
// CHECK: pattern = "matmul+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh+tanh"
// CHECK: tcp.tanh {{.*}}tcp.outside = "its group already has 32 ops"
func.func @long(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.matmul %x, %x : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  %1 = tcp.tanh %0 : tensor<8x8xf16> -> tensor<8x8xf16>
  %2 = tcp.tanh %1 : tensor<8x8xf16> -> tensor<8x8xf16>
  %3 = tcp.tanh %2 : tensor<8x8xf16> -> tensor<8x8xf16>
  %4 = tcp.tanh %3 : tensor<8x8xf16> -> tensor<8x8xf16>
  %5 = tcp.tanh %4 : tensor<8x8xf16> -> tensor<8x8xf16>
  %6 = tcp.tanh %5 : tensor<8x8xf16> -> tensor<8x8xf16>
  %7 = tcp.tanh %6 : tensor<8x8xf16> -> tensor<8x8xf16>
  %8 = tcp.tanh %7 : tensor<8x8xf16> -> tensor<8x8xf16>
  %9 = tcp.tanh %8 : tensor<8x8xf16> -> tensor<8x8xf16>
  %10 = tcp.tanh %9 : tensor<8x8xf16> -> tensor<8x8xf16>
  %11 = tcp.tanh %10 : tensor<8x8xf16> -> tensor<8x8xf16>
  %12 = tcp.tanh %11 : tensor<8x8xf16> -> tensor<8x8xf16>
  %13 = tcp.tanh %12 : tensor<8x8xf16> -> tensor<8x8xf16>
  %14 = tcp.tanh %13 : tensor<8x8xf16> -> tensor<8x8xf16>
  %15 = tcp.tanh %14 : tensor<8x8xf16> -> tensor<8x8xf16>
  %16 = tcp.tanh %15 : tensor<8x8xf16> -> tensor<8x8xf16>
  %17 = tcp.tanh %16 : tensor<8x8xf16> -> tensor<8x8xf16>
  %18 = tcp.tanh %17 : tensor<8x8xf16> -> tensor<8x8xf16>
  %19 = tcp.tanh %18 : tensor<8x8xf16> -> tensor<8x8xf16>
  %20 = tcp.tanh %19 : tensor<8x8xf16> -> tensor<8x8xf16>
  %21 = tcp.tanh %20 : tensor<8x8xf16> -> tensor<8x8xf16>
  %22 = tcp.tanh %21 : tensor<8x8xf16> -> tensor<8x8xf16>
  %23 = tcp.tanh %22 : tensor<8x8xf16> -> tensor<8x8xf16>
  %24 = tcp.tanh %23 : tensor<8x8xf16> -> tensor<8x8xf16>
  %25 = tcp.tanh %24 : tensor<8x8xf16> -> tensor<8x8xf16>
  %26 = tcp.tanh %25 : tensor<8x8xf16> -> tensor<8x8xf16>
  %27 = tcp.tanh %26 : tensor<8x8xf16> -> tensor<8x8xf16>
  %28 = tcp.tanh %27 : tensor<8x8xf16> -> tensor<8x8xf16>
  %29 = tcp.tanh %28 : tensor<8x8xf16> -> tensor<8x8xf16>
  %30 = tcp.tanh %29 : tensor<8x8xf16> -> tensor<8x8xf16>
  %31 = tcp.tanh %30 : tensor<8x8xf16> -> tensor<8x8xf16>
  %32 = tcp.tanh %31 : tensor<8x8xf16> -> tensor<8x8xf16>
  %33 = tcp.tanh %32 : tensor<8x8xf16> -> tensor<8x8xf16>
  return %33 : tensor<8x8xf16>
}
