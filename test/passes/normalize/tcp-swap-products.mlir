// RUN: convoy-opt %s --tcp-swap-products | filecheck %s

// Two products over the tokens, with biases and an activation, and a residual before the transpose.
// CHECK-LABEL: func.func @mixer(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x20x64xf16> {{.*}}, %[[Y:[^:]*]]: tensor<2x20x64xf16> {{.*}}, %[[V:[^:]*]]: tensor<1x20x40xf16> {{.*}}, %[[B:[^:]*]]: tensor<1x1x40xf16> {{.*}}, %[[W:[^:]*]]: tensor<1x40x20xf16>
// CHECK-DAG: %[[VT:.*]] = tcp.transpose %[[V]] {perm = array<i64: 0, 2, 1>} : tensor<1x20x40xf16> -> tensor<1x40x20xf16>
// CHECK: %[[P:.*]] = tcp.matmul %[[VT]], %[[X]] : tensor<1x40x20xf16>, tensor<2x20x64xf16> -> tensor<2x40x64xf16>
// CHECK: %[[BT:.*]] = tcp.transpose %[[B]] {perm = array<i64: 0, 2, 1>} : tensor<1x1x40xf16> -> tensor<1x40x1xf16>
// CHECK: %[[S:.*]] = tcp.add %[[P]], %[[BT]] : tensor<2x40x64xf16>, tensor<1x40x1xf16> -> tensor<2x40x64xf16>
// CHECK: %[[G:.*]] = tcp.gelu %[[S]]
// CHECK: %[[WT:.*]] = tcp.transpose %[[W]] {perm = array<i64: 0, 2, 1>} : tensor<1x40x20xf16> -> tensor<1x20x40xf16>
// CHECK: %[[Q:.*]] = tcp.matmul %[[WT]], %[[G]] : tensor<1x20x40xf16>, tensor<2x40x64xf16> -> tensor<2x20x64xf16>
// CHECK: %[[R:.*]] = tcp.add %[[Y]], %[[Q]] : tensor<2x20x64xf16>, tensor<2x20x64xf16> -> tensor<2x20x64xf16>
// CHECK-NEXT: return %[[R]]
func.func @mixer(%x: tensor<2x20x64xf16> {tcp.input = "x"}, %y: tensor<2x20x64xf16> {tcp.input = "y"}, %v: tensor<1x20x40xf16> {tcp.weight = "v"}, %b: tensor<1x1x40xf16> {tcp.weight = "b"}, %w: tensor<1x40x20xf16> {tcp.weight = "w"}) -> tensor<2x20x64xf16> {
  %0 = tcp.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<2x20x64xf16> -> tensor<2x64x20xf16>
  %1 = tcp.matmul %0, %v : tensor<2x64x20xf16>, tensor<1x20x40xf16> -> tensor<2x64x40xf16>
  %2 = tcp.add %1, %b : tensor<2x64x40xf16>, tensor<1x1x40xf16> -> tensor<2x64x40xf16>
  %3 = tcp.gelu %2 {approximate = "none"} : tensor<2x64x40xf16> -> tensor<2x64x40xf16>
  %4 = tcp.matmul %3, %w : tensor<2x64x40xf16>, tensor<1x40x20xf16> -> tensor<2x64x20xf16>
  %5 = tcp.transpose %y {perm = array<i64: 0, 2, 1>} : tensor<2x20x64xf16> -> tensor<2x64x20xf16>
  %6 = tcp.add %5, %4 : tensor<2x64x20xf16>, tensor<2x64x20xf16> -> tensor<2x64x20xf16>
  %7 = tcp.transpose %6 {perm = array<i64: 0, 2, 1>} : tensor<2x64x20xf16> -> tensor<2x20x64xf16>
  return %7 : tensor<2x20x64xf16>
}

// More leading dims.
// CHECK-LABEL: func.func @rank4(
// CHECK: tcp.matmul {{.*}} : tensor<1x1x8x16xf16>, tensor<2x3x16x32xf16> -> tensor<2x3x8x32xf16>
// CHECK-NEXT: return
func.func @rank4(%x: tensor<2x3x16x32xf16> {tcp.input = "x"}, %w: tensor<1x1x16x8xf16> {tcp.weight = "w"}) -> tensor<2x3x8x32xf16> {
  %0 = tcp.transpose %x {perm = array<i64: 0, 1, 3, 2>} : tensor<2x3x16x32xf16> -> tensor<2x3x32x16xf16>
  %1 = tcp.matmul %0, %w : tensor<2x3x32x16xf16>, tensor<1x1x16x8xf16> -> tensor<2x3x32x8xf16>
  %2 = tcp.transpose %1 {perm = array<i64: 0, 1, 3, 2>} : tensor<2x3x32x8xf16> -> tensor<2x3x8x32xf16>
  return %2 : tensor<2x3x8x32xf16>
}

// An elementwise op with a tensor that is not transposed; no second transpose; a product that others
// read; another permutation; a right factor that is no weight; 24 columns; 36 columns.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-7: tcp.matmul {{.*}} : tensor<2x{{24|36|64}}x{{16|64}}xf16>, tensor<{{1|2}}x{{16|64}}x8xf16>
func.func @others(%x: tensor<2x16x64xf16> {tcp.input = "x"}, %y: tensor<2x64x8xf16> {tcp.input = "y"}, %z: tensor<2x16x8xf16> {tcp.input = "z"}, %s: tensor<2x16x24xf16> {tcp.input = "s"}, %t: tensor<2x16x36xf16> {tcp.input = "t"}, %u: tensor<64x2x16xf16> {tcp.input = "u"}, %w: tensor<1x16x8xf16> {tcp.weight = "w"}) -> (tensor<2x8x64xf16>, tensor<2x64x8xf16>, tensor<2x64x8xf16>, tensor<2x8x64xf16>, tensor<2x8x64xf16>, tensor<2x8x64xf16>, tensor<2x8x24xf16>, tensor<2x8x36xf16>) {
  %0 = tcp.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<2x16x64xf16> -> tensor<2x64x16xf16>
  %1 = tcp.matmul %0, %w : tensor<2x64x16xf16>, tensor<1x16x8xf16> -> tensor<2x64x8xf16>
  %2 = tcp.add %1, %y : tensor<2x64x8xf16>, tensor<2x64x8xf16> -> tensor<2x64x8xf16>
  %3 = tcp.transpose %2 {perm = array<i64: 0, 2, 1>} : tensor<2x64x8xf16> -> tensor<2x8x64xf16>
  %4 = tcp.matmul %0, %w : tensor<2x64x16xf16>, tensor<1x16x8xf16> -> tensor<2x64x8xf16>
  %5 = tcp.matmul %0, %w : tensor<2x64x16xf16>, tensor<1x16x8xf16> -> tensor<2x64x8xf16>
  %6 = tcp.transpose %5 {perm = array<i64: 0, 2, 1>} : tensor<2x64x8xf16> -> tensor<2x8x64xf16>
  %7 = tcp.transpose %u {perm = array<i64: 1, 0, 2>} : tensor<64x2x16xf16> -> tensor<2x64x16xf16>
  %8 = tcp.matmul %7, %w : tensor<2x64x16xf16>, tensor<1x16x8xf16> -> tensor<2x64x8xf16>
  %9 = tcp.transpose %8 {perm = array<i64: 0, 2, 1>} : tensor<2x64x8xf16> -> tensor<2x8x64xf16>
  %10 = tcp.matmul %0, %z : tensor<2x64x16xf16>, tensor<2x16x8xf16> -> tensor<2x64x8xf16>
  %11 = tcp.transpose %10 {perm = array<i64: 0, 2, 1>} : tensor<2x64x8xf16> -> tensor<2x8x64xf16>
  %12 = tcp.transpose %s {perm = array<i64: 0, 2, 1>} : tensor<2x16x24xf16> -> tensor<2x24x16xf16>
  %13 = tcp.matmul %12, %w : tensor<2x24x16xf16>, tensor<1x16x8xf16> -> tensor<2x24x8xf16>
  %14 = tcp.transpose %13 {perm = array<i64: 0, 2, 1>} : tensor<2x24x8xf16> -> tensor<2x8x24xf16>
  %15 = tcp.transpose %t {perm = array<i64: 0, 2, 1>} : tensor<2x16x36xf16> -> tensor<2x36x16xf16>
  %16 = tcp.matmul %15, %w : tensor<2x36x16xf16>, tensor<1x16x8xf16> -> tensor<2x36x8xf16>
  %17 = tcp.transpose %16 {perm = array<i64: 0, 2, 1>} : tensor<2x36x8xf16> -> tensor<2x8x36xf16>
  return %3, %4, %5, %6, %9, %11, %14, %17 : tensor<2x8x64xf16>, tensor<2x64x8xf16>, tensor<2x64x8xf16>, tensor<2x8x64xf16>, tensor<2x8x64xf16>, tensor<2x8x64xf16>, tensor<2x8x24xf16>, tensor<2x8x36xf16>
}
