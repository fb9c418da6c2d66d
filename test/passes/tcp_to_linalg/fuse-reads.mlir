// RUN: convoy-opt %s --convert-tcp-to-linalg --convoy-fuse-elementwise --convoy-fuse-reads --lower-affine --canonicalize | filecheck %s

// The halves of a rotary embedding: slices and a negation are read in the concat.
// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %[[X:.*]]: tensor<4x16xf16>)
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK:   %[[R:.*]] = linalg.index 0
// CHECK:   %[[C:.*]] = linalg.index 1
// CHECK:   scf.if
// CHECK:     %[[A:.*]] = arith.addi %[[C]], %{{.*}} : index
// CHECK:     tensor.extract %[[X]][%[[R]], %[[A]]]
// CHECK:     arith.negf
// CHECK:   } else {
// CHECK:     tensor.extract %[[X]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]
func.func @halves(%x: tensor<4x16xf16>) -> tensor<4x16xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.slice %x {sizes = array<i64: 4, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<4x16xf16> -> tensor<4x8xf16>
  %1 = tcp.slice %x {sizes = array<i64: 4, 8>, starts = array<i64: 0, 8>, strides = array<i64: 1, 1>} : tensor<4x16xf16> -> tensor<4x8xf16>
  %2 = tcp.neg %1 : tensor<4x8xf16> -> tensor<4x8xf16>
  %3 = tcp.concat %2, %0 {dim = 1 : i64} : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x16xf16>
  return %3 : tensor<4x16xf16>
}

// What is computed by index is read by index, also through a reshape: a roll before windows.
// CHECK-LABEL: func.func @windows(
// CHECK: linalg.generic
// CHECK:   scf.if
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @windows(%x: tensor<6x8xf16>) -> tensor<3x2x8xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.slice %x {sizes = array<i64: 5, 8>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<6x8xf16> -> tensor<5x8xf16>
  %1 = tcp.slice %x {sizes = array<i64: 1, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<6x8xf16> -> tensor<1x8xf16>
  %2 = tcp.concat %0, %1 {dim = 0 : i64} : tensor<5x8xf16>, tensor<1x8xf16> -> tensor<6x8xf16>
  %3 = tcp.reshape %2 : tensor<6x8xf16> -> tensor<2x3x8xf16>
  %4 = tcp.transpose %3 {perm = array<i64: 1, 0, 2>} : tensor<2x3x8xf16> -> tensor<3x2x8xf16>
  return %4 : tensor<3x2x8xf16>
}

// An input of the op that reads its other elements by index is read by index, too: query or key,
// which are columns of a larger product, with their rotary embedding.
// CHECK-LABEL: func.func @rotary(
// CHECK-SAME: %[[X:.*]]: tensor<4x32xf16>, %[[C:.*]]: tensor<4x16xf16>)
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[C]] : tensor<4x16xf16>)
// CHECK-COUNT-3: tensor.extract %[[X]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]
func.func @rotary(%x: tensor<4x32xf16>, %c: tensor<4x16xf16>) -> tensor<4x16xf16> attributes {tcp.target = "cuda"} {
  %q = tcp.slice %x {sizes = array<i64: 4, 16>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<4x32xf16> -> tensor<4x16xf16>
  %0 = tcp.slice %q {sizes = array<i64: 4, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<4x16xf16> -> tensor<4x8xf16>
  %1 = tcp.slice %q {sizes = array<i64: 4, 8>, starts = array<i64: 0, 8>, strides = array<i64: 1, 1>} : tensor<4x16xf16> -> tensor<4x8xf16>
  %2 = tcp.concat %1, %0 {dim = 1 : i64} : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x16xf16>
  %3 = tcp.mul %q, %c : tensor<4x16xf16>, tensor<4x16xf16> -> tensor<4x16xf16>
  %4 = tcp.add %3, %2 : tensor<4x16xf16>, tensor<4x16xf16> -> tensor<4x16xf16>
  return %4 : tensor<4x16xf16>
}

// Stay: a transpose of the last dim, an op that costs more than to read its result, and one that
// another op reads too.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-6: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @apart(%x: tensor<8x4xf16>, %y: tensor<4x8xf16>) -> (tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x8xf16>) attributes {tcp.target = "cuda"} {
  %0 = tcp.transpose %x {perm = array<i64: 1, 0>} : tensor<8x4xf16> -> tensor<4x8xf16>
  %1 = tcp.concat %0, %y {dim = 1 : i64} : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x16xf16>
  %2 = tcp.exp %y : tensor<4x8xf16> -> tensor<4x8xf16>
  %3 = tcp.concat %2, %y {dim = 1 : i64} : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x16xf16>
  %4 = tcp.neg %y : tensor<4x8xf16> -> tensor<4x8xf16>
  %5 = tcp.concat %4, %y {dim = 1 : i64} : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x16xf16>
  return %1, %3, %5, %4 : tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x16xf16>, tensor<4x8xf16>
}

// Positions that are added to a part of the scores: one kernel, although they are read along another
// dim, because each is read for several rows.
// CHECK-LABEL: func.func @positions(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @positions(%s: tensor<9x13xf16>, %h: tensor<4x2x3xf16>, %w: tensor<4x4x2xf16>) -> tensor<9x13xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.reshape %h : tensor<4x2x3xf16> -> tensor<4x2x3x1xf16>
  %2 = tcp.reshape %w : tensor<4x4x2xf16> -> tensor<4x1x4x2xf16>
  %3 = tcp.transpose %2 {perm = array<i64: 0, 3, 1, 2>} : tensor<4x1x4x2xf16> -> tensor<4x2x1x4xf16>
  %4 = tcp.add %0, %3 : tensor<4x2x3x1xf16>, tensor<4x2x1x4xf16> -> tensor<4x2x3x4xf16>
  %5 = tcp.reshape %4 : tensor<4x2x3x4xf16> -> tensor<8x12xf16>
  %6 = tcp.slice %s {sizes = array<i64: 8, 12>, starts = array<i64: 1, 1>, strides = array<i64: 1, 1>} : tensor<9x13xf16> -> tensor<8x12xf16>
  %7 = tcp.add %6, %5 : tensor<8x12xf16>, tensor<8x12xf16> -> tensor<8x12xf16>
  %8 = tcp.slice %s {sizes = array<i64: 8, 1>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<9x13xf16> -> tensor<8x1xf16>
  %9 = tcp.concat %8, %7 {dim = 1 : i64} : tensor<8x1xf16>, tensor<8x12xf16> -> tensor<8x13xf16>
  %10 = tcp.slice %s {sizes = array<i64: 1, 13>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<9x13xf16> -> tensor<1x13xf16>
  %11 = tcp.concat %10, %9 {dim = 0 : i64} : tensor<1x13xf16>, tensor<8x13xf16> -> tensor<9x13xf16>
  return %11 : tensor<9x13xf16>
}

// Stay: a sum that a concat copies, because its kernel may write into the concat; one that a gather
// reads more often than it has elements; and one that two ops read.
// CHECK-LABEL: func.func @sums_apart(
// CHECK-COUNT-7: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @sums_apart(%x: tensor<4x8xf16>, %y: tensor<4x8xf16>, %i: tensor<64xi64>) -> (tensor<4x16xf16>, tensor<64x8xf16>, tensor<5x8xf16>, tensor<5x8xf16>) attributes {tcp.target = "cuda"} {
  %0 = tcp.add %x, %y : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x8xf16>
  %1 = tcp.concat %y, %0 {dim = 1 : i64} : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x16xf16>
  %2 = tcp.mul %x, %y : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x8xf16>
  %3 = tcp.index_select %2, %i {dim = 0 : index} : tensor<4x8xf16>, tensor<64xi64> -> tensor<64x8xf16>
  %4 = tcp.sub %x, %y : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x8xf16>
  %5 = tcp.pad %4 {high = array<i64: 1, 0>, interior = array<i64: 0, 0>, low = array<i64: 0, 0>, value = 0.0 : f64} : tensor<4x8xf16> -> tensor<5x8xf16>
  %6 = tcp.pad %4 {high = array<i64: 0, 0>, interior = array<i64: 0, 0>, low = array<i64: 1, 0>, value = 0.0 : f64} : tensor<4x8xf16> -> tensor<5x8xf16>
  return %1, %3, %5, %6 : tensor<4x16xf16>, tensor<64x8xf16>, tensor<5x8xf16>, tensor<5x8xf16>
}

// Each concat of slices doubles the reads of the one before it, up to a bound.
// CHECK-LABEL: func.func @many(
// CHECK-COUNT-2: linalg.generic
// CHECK: return
func.func @many(%x: tensor<64x8xf16>) -> tensor<64x8xf16> attributes {tcp.target = "cuda"} {
  %a0 = tcp.slice %x {sizes = array<i64: 63, 8>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<63x8xf16>
  %b0 = tcp.slice %x {sizes = array<i64: 1, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<1x8xf16>
  %c0 = tcp.concat %a0, %b0 {dim = 0 : i64} : tensor<63x8xf16>, tensor<1x8xf16> -> tensor<64x8xf16>
  %a1 = tcp.slice %c0 {sizes = array<i64: 63, 8>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<63x8xf16>
  %b1 = tcp.slice %c0 {sizes = array<i64: 1, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<1x8xf16>
  %c1 = tcp.concat %a1, %b1 {dim = 0 : i64} : tensor<63x8xf16>, tensor<1x8xf16> -> tensor<64x8xf16>
  %a2 = tcp.slice %c1 {sizes = array<i64: 63, 8>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<63x8xf16>
  %b2 = tcp.slice %c1 {sizes = array<i64: 1, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<1x8xf16>
  %c2 = tcp.concat %a2, %b2 {dim = 0 : i64} : tensor<63x8xf16>, tensor<1x8xf16> -> tensor<64x8xf16>
  %a3 = tcp.slice %c2 {sizes = array<i64: 63, 8>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<63x8xf16>
  %b3 = tcp.slice %c2 {sizes = array<i64: 1, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<1x8xf16>
  %c3 = tcp.concat %a3, %b3 {dim = 0 : i64} : tensor<63x8xf16>, tensor<1x8xf16> -> tensor<64x8xf16>
  %a4 = tcp.slice %c3 {sizes = array<i64: 63, 8>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<63x8xf16>
  %b4 = tcp.slice %c3 {sizes = array<i64: 1, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<1x8xf16>
  %c4 = tcp.concat %a4, %b4 {dim = 0 : i64} : tensor<63x8xf16>, tensor<1x8xf16> -> tensor<64x8xf16>
  %a5 = tcp.slice %c4 {sizes = array<i64: 63, 8>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<63x8xf16>
  %b5 = tcp.slice %c4 {sizes = array<i64: 1, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x8xf16> -> tensor<1x8xf16>
  %c5 = tcp.concat %a5, %b5 {dim = 0 : i64} : tensor<63x8xf16>, tensor<1x8xf16> -> tensor<64x8xf16>
  return %c5 : tensor<64x8xf16>
}

// On the CPU the slices are views.
// CHECK-LABEL: func.func @cpu(
// CHECK: tensor.extract_slice
// CHECK: tensor.insert_slice
func.func @cpu(%x: tensor<4x16xf16>) -> tensor<4x16xf16> attributes {tcp.target = "cpu"} {
  %0 = tcp.slice %x {sizes = array<i64: 4, 8>, starts = array<i64: 0, 8>, strides = array<i64: 1, 1>} : tensor<4x16xf16> -> tensor<4x8xf16>
  %1 = tcp.concat %0, %0 {dim = 1 : i64} : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x16xf16>
  return %1 : tensor<4x16xf16>
}

// An interpolation between two rows is computed by one between two columns, with four reads of the image.
// CHECK-LABEL: func.func @interpolations(
// CHECK-SAME:    %[[X:.*]]: tensor<4x4x8xf16>, %[[I:.*]]: tensor<8xi32>, %[[J:.*]]: tensor<8xi32>)
// CHECK: linalg.generic
// CHECK-COUNT-4: tensor.extract %[[X]]
// CHECK-NOT: tensor.extract %[[X]]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @interpolations(%x: tensor<4x4x8xf16>, %i: tensor<8xi32>, %j: tensor<8xi32>) -> tensor<8x8x8xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.index_select %x, %i {dim = 0 : index} : tensor<4x4x8xf16>, tensor<8xi32> -> tensor<8x4x8xf16>
  %1 = tcp.index_select %x, %j {dim = 0 : index} : tensor<4x4x8xf16>, tensor<8xi32> -> tensor<8x4x8xf16>
  %2 = tcp.add %0, %1 : tensor<8x4x8xf16>, tensor<8x4x8xf16> -> tensor<8x4x8xf16>
  %3 = tcp.index_select %2, %i {dim = 1 : index} : tensor<8x4x8xf16>, tensor<8xi32> -> tensor<8x8x8xf16>
  %4 = tcp.index_select %2, %j {dim = 1 : index} : tensor<8x4x8xf16>, tensor<8xi32> -> tensor<8x8x8xf16>
  %5 = tcp.add %3, %4 : tensor<8x8x8xf16>, tensor<8x8x8xf16> -> tensor<8x8x8xf16>
  return %5 : tensor<8x8x8xf16>
}

// One with a third tensor of its size stays, because it would be read four times.
// CHECK-LABEL: func.func @with_residual(
// CHECK-COUNT-2: linalg.generic
// CHECK: return
func.func @with_residual(%x: tensor<4x4x8xf16>, %i: tensor<8xi32>, %j: tensor<8xi32>, %r: tensor<8x4x8xf16>) -> tensor<8x8x8xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.index_select %x, %i {dim = 0 : index} : tensor<4x4x8xf16>, tensor<8xi32> -> tensor<8x4x8xf16>
  %1 = tcp.index_select %x, %j {dim = 0 : index} : tensor<4x4x8xf16>, tensor<8xi32> -> tensor<8x4x8xf16>
  %2 = tcp.add %0, %1 : tensor<8x4x8xf16>, tensor<8x4x8xf16> -> tensor<8x4x8xf16>
  %3 = tcp.mul %2, %r : tensor<8x4x8xf16>, tensor<8x4x8xf16> -> tensor<8x4x8xf16>
  %4 = tcp.index_select %3, %i {dim = 1 : index} : tensor<8x4x8xf16>, tensor<8xi32> -> tensor<8x8x8xf16>
  %5 = tcp.index_select %3, %j {dim = 1 : index} : tensor<8x4x8xf16>, tensor<8xi32> -> tensor<8x8x8xf16>
  %6 = tcp.add %4, %5 : tensor<8x8x8xf16>, tensor<8x8x8xf16> -> tensor<8x8x8xf16>
  return %6 : tensor<8x8x8xf16>
}
