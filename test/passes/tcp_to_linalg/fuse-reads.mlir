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
