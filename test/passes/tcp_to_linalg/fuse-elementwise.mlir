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

// One of several stacked tensors is transposed where it is, on the GPU.
// CHECK-LABEL: func.func @stacked
// CHECK-NOT: tensor.collapse_shape
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
// CHECK-LABEL: func.func @stacked_cpu
// CHECK: tensor.collapse_shape
// CHECK: return
func.func @stacked(%x: tensor<2x8x3x4x16xf16>) -> tensor<2x4x8x16xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.slice %x {starts = array<i64: 0, 0, 1, 0, 0>, sizes = array<i64: 2, 8, 1, 4, 16>, strides = array<i64: 1, 1, 1, 1, 1>} : tensor<2x8x3x4x16xf16> -> tensor<2x8x1x4x16xf16>
  %1 = tcp.reshape %0 : tensor<2x8x1x4x16xf16> -> tensor<2x8x4x16xf16>
  %2 = tcp.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x8x4x16xf16> -> tensor<2x4x8x16xf16>
  return %2 : tensor<2x4x8x16xf16>
}
func.func @stacked_cpu(%x: tensor<2x8x3x4x16xf16>) -> tensor<2x4x8x16xf16> attributes {tcp.target = "cpu"} {
  %0 = tcp.slice %x {starts = array<i64: 0, 0, 1, 0, 0>, sizes = array<i64: 2, 8, 1, 4, 16>, strides = array<i64: 1, 1, 1, 1, 1>} : tensor<2x8x3x4x16xf16> -> tensor<2x8x1x4x16xf16>
  %1 = tcp.reshape %0 : tensor<2x8x1x4x16xf16> -> tensor<2x8x4x16xf16>
  %2 = tcp.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x8x4x16xf16> -> tensor<2x4x8x16xf16>
  return %2 : tensor<2x4x8x16xf16>
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

// All users of a broadcast read the smaller tensor, also one that the broadcast is transposed for. What
// is no elementwise op reads the broadcast.

// CHECK-LABEL: func.func @broadcast_of_several
// CHECK-SAME:    %{{.*}}: tensor<6x4x8xf32>, %{{.*}}: tensor<6x8x4xf32>, %[[S:.*]]: tensor<1x4x8xf32>
// CHECK-NOT:     ins(%[[S]] : tensor<1x4x8xf32>)
// CHECK-COUNT-2: linalg.generic {{.*}}%[[S]]{{.*}} tensor<1x4x8xf32>
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @broadcast_of_several(%x: tensor<6x4x8xf32>, %y: tensor<6x8x4xf32>, %s: tensor<1x4x8xf32>) -> (tensor<6x4x8xf32>, tensor<6x8x4xf32>) {
  %0 = tcp.broadcast %s : tensor<1x4x8xf32> -> tensor<6x4x8xf32>
  %1 = tcp.mul %x, %0 : tensor<6x4x8xf32>, tensor<6x4x8xf32> -> tensor<6x4x8xf32>
  %2 = tcp.transpose %0 {perm = array<i64: 0, 2, 1>} : tensor<6x4x8xf32> -> tensor<6x8x4xf32>
  %3 = tcp.sub %y, %2 : tensor<6x8x4xf32>, tensor<6x8x4xf32> -> tensor<6x8x4xf32>
  return %1, %3 : tensor<6x4x8xf32>, tensor<6x8x4xf32>
}

// An op before a loop is not computed in each of its steps.

// CHECK-LABEL: func.func @before_loop
// CHECK:         linalg.generic
// CHECK:         scf.for
// CHECK:           linalg.generic
func.func @before_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %0 = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%s, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %1 = arith.addf %a, %b : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// A scalar has no dims through which its index could come.
// CHECK-LABEL: func.func @scalar
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction", "reduction"]
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @scalar(%x: tensor<30x40xf16>) -> tensor<f32> attributes {tcp.target = "cuda"} {
  %0 = tcp.reduce_max %x {dims = array<i64: 0, 1>} : tensor<30x40xf16> -> tensor<1x1xf16>
  %1 = tcp.reshape %0 : tensor<1x1xf16> -> tensor<f16>
  %2 = tcp.cast %1 : tensor<f16> -> tensor<f32>
  return %2 : tensor<f32>
}

// A reshape that splits dims moves before an elementwise op, if the split dims are transposed or used
// by one other elementwise op. For the CPU, and with other users of either, it remains.
// CHECK-LABEL: func.func @split(
// CHECK-SAME:    %[[X:.*]]: tensor<8x12xf32>)
// CHECK: %[[S:.*]] = tensor.expand_shape %[[X]]
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<2x4x3x4xf32>) outs(%{{.*}} : tensor<2x3x4x4xf16>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @split(%x: tensor<8x12xf32>) -> tensor<2x3x4x4xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.cast %x : tensor<8x12xf32> -> tensor<8x12xf16>
  %1 = tcp.reshape %0 : tensor<8x12xf16> -> tensor<2x4x3x4xf16>
  %2 = tcp.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x4x3x4xf16> -> tensor<2x3x4x4xf16>
  return %2 : tensor<2x3x4x4xf16>
}

// CHECK-LABEL: func.func @split_cpu(
// CHECK-COUNT-2: linalg.generic
func.func @split_cpu(%x: tensor<8x12xf32>) -> tensor<2x3x4x4xf16> attributes {tcp.target = "cpu"} {
  %0 = tcp.cast %x : tensor<8x12xf32> -> tensor<8x12xf16>
  %1 = tcp.reshape %0 : tensor<8x12xf16> -> tensor<2x4x3x4xf16>
  %2 = tcp.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x4x3x4xf16> -> tensor<2x3x4x4xf16>
  return %2 : tensor<2x3x4x4xf16>
}

// CHECK-LABEL: func.func @split_twice(
// CHECK-COUNT-2: linalg.generic
func.func @split_twice(%x: tensor<8x12xf32>) -> (tensor<2x3x4x4xf16>, tensor<2x4x3x4xf16>) attributes {tcp.target = "cuda"} {
  %0 = tcp.cast %x : tensor<8x12xf32> -> tensor<8x12xf16>
  %1 = tcp.reshape %0 : tensor<8x12xf16> -> tensor<2x4x3x4xf16>
  %2 = tcp.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x4x3x4xf16> -> tensor<2x3x4x4xf16>
  return %2, %1 : tensor<2x3x4x4xf16>, tensor<2x4x3x4xf16>
}
