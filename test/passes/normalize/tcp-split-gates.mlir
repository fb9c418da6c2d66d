// RUN: convoy-opt %s --tcp-split-gates | filecheck %s

// A bias, and a function of the second half.
// CHECK-LABEL: func.func @geglu(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3x16xf16> {{.*}}, %[[W:[^:]*]]: tensor<1x16x64xf16> {{.*}}, %[[B:[^:]*]]: tensor<1x1x64xf16>
// CHECK: %[[W1:.*]] = tcp.slice %[[W]] {sizes = array<i64: 1, 16, 32>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}
// CHECK: %[[P1:.*]] = tcp.matmul %[[X]], %[[W1]] : tensor<2x3x16xf16>, tensor<1x16x32xf16> -> tensor<2x3x32xf16>
// CHECK: %[[B1:.*]] = tcp.slice %[[B]] {sizes = array<i64: 1, 1, 32>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}
// CHECK: %[[S1:.*]] = tcp.add %[[P1]], %[[B1]]
// CHECK: %[[W2:.*]] = tcp.slice %[[W]] {sizes = array<i64: 1, 16, 32>, starts = array<i64: 0, 0, 32>, strides = array<i64: 1, 1, 1>}
// CHECK: %[[P2:.*]] = tcp.matmul %[[X]], %[[W2]]
// CHECK: %[[B2:.*]] = tcp.slice %[[B]] {sizes = array<i64: 1, 1, 32>, starts = array<i64: 0, 0, 32>, strides = array<i64: 1, 1, 1>}
// CHECK: %[[S2:.*]] = tcp.add %[[P2]], %[[B2]]
// CHECK: %[[G:.*]] = tcp.gelu %[[S2]]
// CHECK: %[[Y:.*]] = tcp.mul %[[S1]], %[[G]]
// CHECK: return %[[Y]]
func.func @geglu(%x: tensor<2x3x16xf16> {tcp.input = "x"}, %w: tensor<1x16x64xf16> {tcp.weight = "w"}, %b: tensor<1x1x64xf16> {tcp.weight = "b"}) -> tensor<2x3x32xf16> {
  %0 = tcp.matmul %x, %w : tensor<2x3x16xf16>, tensor<1x16x64xf16> -> tensor<2x3x64xf16>
  %1 = tcp.add %0, %b : tensor<2x3x64xf16>, tensor<1x1x64xf16> -> tensor<2x3x64xf16>
  %2 = tcp.slice %1 {sizes = array<i64: 2, 3, 32>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : tensor<2x3x64xf16> -> tensor<2x3x32xf16>
  %3 = tcp.slice %1 {sizes = array<i64: 2, 3, 32>, starts = array<i64: 0, 0, 32>, strides = array<i64: 1, 1, 1>} : tensor<2x3x64xf16> -> tensor<2x3x32xf16>
  %4 = tcp.gelu %3 {approximate = "none"} : tensor<2x3x32xf16> -> tensor<2x3x32xf16>
  %5 = tcp.mul %2, %4 : tensor<2x3x32xf16>, tensor<2x3x32xf16> -> tensor<2x3x32xf16>
  return %5 : tensor<2x3x32xf16>
}

// Without a bias, with slices in the other order.
// CHECK-LABEL: func.func @swiglu(
// CHECK-COUNT-2: tcp.matmul %{{.*}} -> tensor<6x32xf16>
// CHECK-NOT: tcp.matmul
func.func @swiglu(%x: tensor<6x16xf16> {tcp.input = "x"}, %w: tensor<16x64xf16> {tcp.weight = "w"}) -> tensor<6x32xf16> {
  %0 = tcp.matmul %x, %w : tensor<6x16xf16>, tensor<16x64xf16> -> tensor<6x64xf16>
  %1 = tcp.slice %0 {sizes = array<i64: 6, 32>, starts = array<i64: 0, 32>, strides = array<i64: 1, 1>} : tensor<6x64xf16> -> tensor<6x32xf16>
  %2 = tcp.slice %0 {sizes = array<i64: 6, 32>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<6x64xf16> -> tensor<6x32xf16>
  %3 = tcp.silu %2 : tensor<6x32xf16> -> tensor<6x32xf16>
  %4 = tcp.mul %1, %3 : tensor<6x32xf16>, tensor<6x32xf16> -> tensor<6x32xf16>
  return %4 : tensor<6x32xf16>
}

// The halves are added; are not aligned to 16 bytes; have another reader; or the factor is no weight.
// CHECK-LABEL: func.func @others(
// CHECK: tcp.matmul %{{.*}} -> tensor<6x64xf16>
// CHECK: tcp.matmul %{{.*}} -> tensor<6x24xf16>
// CHECK: tcp.matmul %{{.*}} -> tensor<6x64xf16>
// CHECK: tcp.matmul %{{.*}} -> tensor<6x64xf16>
func.func @others(%x: tensor<6x16xf16> {tcp.input = "x"}, %y: tensor<16x64xf16> {tcp.input = "y"}, %w: tensor<16x64xf16> {tcp.weight = "w"}, %v: tensor<16x24xf16> {tcp.weight = "v"}) -> (tensor<6x32xf16>, tensor<6x12xf16>, tensor<6x32xf16>, tensor<6x32xf16>, tensor<6x64xf16>) {
  %0 = tcp.matmul %x, %w : tensor<6x16xf16>, tensor<16x64xf16> -> tensor<6x64xf16>
  %1 = tcp.slice %0 {sizes = array<i64: 6, 32>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<6x64xf16> -> tensor<6x32xf16>
  %2 = tcp.slice %0 {sizes = array<i64: 6, 32>, starts = array<i64: 0, 32>, strides = array<i64: 1, 1>} : tensor<6x64xf16> -> tensor<6x32xf16>
  %3 = tcp.add %1, %2 : tensor<6x32xf16>, tensor<6x32xf16> -> tensor<6x32xf16>
  %4 = tcp.matmul %x, %v : tensor<6x16xf16>, tensor<16x24xf16> -> tensor<6x24xf16>
  %5 = tcp.slice %4 {sizes = array<i64: 6, 12>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<6x24xf16> -> tensor<6x12xf16>
  %6 = tcp.slice %4 {sizes = array<i64: 6, 12>, starts = array<i64: 0, 12>, strides = array<i64: 1, 1>} : tensor<6x24xf16> -> tensor<6x12xf16>
  %7 = tcp.mul %5, %6 : tensor<6x12xf16>, tensor<6x12xf16> -> tensor<6x12xf16>
  %8 = tcp.matmul %x, %w : tensor<6x16xf16>, tensor<16x64xf16> -> tensor<6x64xf16>
  %9 = tcp.slice %8 {sizes = array<i64: 6, 32>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<6x64xf16> -> tensor<6x32xf16>
  %10 = tcp.slice %8 {sizes = array<i64: 6, 32>, starts = array<i64: 0, 32>, strides = array<i64: 1, 1>} : tensor<6x64xf16> -> tensor<6x32xf16>
  %11 = tcp.mul %9, %10 : tensor<6x32xf16>, tensor<6x32xf16> -> tensor<6x32xf16>
  %12 = tcp.matmul %x, %y : tensor<6x16xf16>, tensor<16x64xf16> -> tensor<6x64xf16>
  %13 = tcp.slice %12 {sizes = array<i64: 6, 32>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<6x64xf16> -> tensor<6x32xf16>
  %14 = tcp.slice %12 {sizes = array<i64: 6, 32>, starts = array<i64: 0, 32>, strides = array<i64: 1, 1>} : tensor<6x64xf16> -> tensor<6x32xf16>
  %15 = tcp.mul %13, %14 : tensor<6x32xf16>, tensor<6x32xf16> -> tensor<6x32xf16>
  return %3, %7, %11, %15, %8 : tensor<6x32xf16>, tensor<6x12xf16>, tensor<6x32xf16>, tensor<6x32xf16>, tensor<6x64xf16>
}
