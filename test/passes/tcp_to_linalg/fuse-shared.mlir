// RUN: convoy-opt %s --convert-tcp-to-linalg --convoy-fuse-elementwise --convoy-fuse-shared --canonicalize | filecheck %s

// The cell of an LSTM is stored and, in a register, part of the hidden state, rounded as in memory.

// CHECK-LABEL: func.func @cell
// CHECK:         %[[R:.*]]:2 = linalg.generic
// CHECK:           %[[T:.*]] = arith.truncf
// CHECK:           arith.extf %[[T]]
// CHECK:           %[[H:.*]] = arith.truncf
// CHECK:           linalg.yield %[[T]], %[[H]]
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @cell(%gates: tensor<2x16xf16>, %state: tensor<2x8xf16>) -> (tensor<2x8xf16>, tensor<2x8xf16>) attributes {tcp.target = "cuda"} {
  %0 = tcp.slice %gates {sizes = array<i64: 2, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x16xf16> -> tensor<2x8xf16>
  %1 = tcp.slice %gates {sizes = array<i64: 2, 8>, starts = array<i64: 0, 8>, strides = array<i64: 1, 1>} : tensor<2x16xf16> -> tensor<2x8xf16>
  %cell = tcp.mul %0, %state : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
  %hidden = tcp.mul %1, %cell : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
  return %cell, %hidden : tensor<2x8xf16>, tensor<2x8xf16>
}

// A value that only the op itself reads is not stored.

// CHECK-LABEL: func.func @two_users
// CHECK-COUNT-1: linalg.generic
// CHECK-COUNT-1: math.exp
// CHECK:           linalg.yield %{{[^,]*}}, %{{[^,]*}} : f32, f32
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @two_users(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {tcp.target = "cuda"} {
  %0 = tcp.exp %x : tensor<8xf32> -> tensor<8xf32>
  %1 = tcp.neg %0 : tensor<8xf32> -> tensor<8xf32>
  %2 = tcp.abs %0 : tensor<8xf32> -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// At most four results.

// CHECK-LABEL: func.func @five
// CHECK:         %{{.*}}:4 = linalg.generic
// CHECK:         %{{.*}} = linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @five(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) attributes {tcp.target = "cuda"} {
  %0 = tcp.exp %x : tensor<8xf32> -> tensor<8xf32>
  %1 = tcp.exp %0 : tensor<8xf32> -> tensor<8xf32>
  %2 = tcp.exp %1 : tensor<8xf32> -> tensor<8xf32>
  %3 = tcp.exp %2 : tensor<8xf32> -> tensor<8xf32>
  %4 = tcp.exp %3 : tensor<8xf32> -> tensor<8xf32>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A use before the reader, another iteration space, a transposed operand, and a reader that has the
// value a second time prevent it.

// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @broadcast
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @transposed
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func.func @twice
// CHECK-COUNT-2: linalg.generic
func.func @apart(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {tcp.target = "cuda"} {
  %0 = tcp.exp %x : tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = tcp.matmul %0, %0 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = tcp.neg %0 : tensor<8x8xf32> -> tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func @broadcast(%x: tensor<8x1xf32>, %y: tensor<8x8xf32>) -> (tensor<8x1xf32>, tensor<8x8xf32>) attributes {tcp.target = "cuda"} {
  %0 = tcp.exp %x : tensor<8x1xf32> -> tensor<8x1xf32>
  %1 = tcp.add %y, %0 : tensor<8x8xf32>, tensor<8x1xf32> -> tensor<8x8xf32>
  return %0, %1 : tensor<8x1xf32>, tensor<8x8xf32>
}
func.func @transposed(%x: tensor<8x4xf32>, %y: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) attributes {tcp.target = "cuda"} {
  %0 = tcp.exp %x : tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = tcp.transpose %y {perm = array<i64: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %2 = tcp.add %0, %1 : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  return %0, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}
func.func @twice(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {tcp.target = "cuda"} {
  %0 = tcp.exp %x : tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = tcp.slice %0 {sizes = array<i64: 1, 4>, starts = array<i64: 3, 0>, strides = array<i64: 1, 1>} : tensor<4x4xf32> -> tensor<1x4xf32>
  %2 = tcp.add %0, %1 : tensor<4x4xf32>, tensor<1x4xf32> -> tensor<4x4xf32>
  return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Ops around a reduction stay apart: each may join its region.

// CHECK-LABEL: func.func @around_reduction
// CHECK-COUNT-3: linalg.generic
func.func @around_reduction(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x1xf32>) attributes {tcp.target = "cuda"} {
  %0 = tcp.exp %x : tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = tcp.neg %0 : tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = tcp.reduce_sum %1 {dims = array<i64: 1>, keepdim = true} : tensor<8x8xf32> -> tensor<8x1xf32>
  return %0, %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x1xf32>
}

// A result that has a fill around it has a kernel that writes both.

// CHECK-LABEL: func.func @padded
// CHECK-COUNT-2: linalg.generic
func.func @padded(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<10xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %0 = tcp.exp %x : tensor<8xf32> -> tensor<8xf32>
  %1 = tcp.neg %0 : tensor<8xf32> -> tensor<8xf32>
  %e = tensor.empty() : tensor<10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %2 = tensor.insert_slice %1 into %f[1] [8] [1] : tensor<8xf32> into tensor<10xf32>
  return %0, %2 : tensor<8xf32>, tensor<10xf32>
}

// A CPU has no kernels.

// CHECK-LABEL: func.func @cpu
// CHECK-COUNT-2: linalg.generic
func.func @cpu(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {tcp.target = "cpu"} {
  %0 = tcp.exp %x : tensor<8xf32> -> tensor<8xf32>
  %1 = tcp.neg %0 : tensor<8xf32> -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
