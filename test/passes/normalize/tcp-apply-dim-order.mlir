// RUN: convoy-opt %s --split-input-file --tcp-apply-dim-order | filecheck %s
// Both targets compute channels-last from border to border; only weights are transposed.
// RUN: convoy-opt %s --split-input-file --convoy-pipeline="to=normalize target=cpu" | filecheck %s --check-prefix=BORDER
// RUN: convoy-opt %s --split-input-file --convoy-pipeline="to=normalize target=cuda" | filecheck %s --check-prefix=BORDER
// RUN: convoy-opt %s --split-input-file --convoy-pipeline="to=plan target=cuda" | filecheck %s --check-prefix=PLAN

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x8x8x16xf32> {tcp.dim_order = array<i64: 0, 2, 3, 1>, tcp.input = "x"}, %[[W:.*]]: tensor<16x16x3x3xf32> {tcp.weight = "w"})
// CHECK-SAME: -> (tensor<2x8x8x16xf32> {tcp.dim_order = array<i64: 0, 2, 3, 1>, tcp.output = "y"}, tensor<2x16x8x8xf32> {tcp.output = "z"})
// CHECK-NEXT: %[[L:.*]] = tcp.transpose %[[X]] {perm = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: %[[Y:.*]] = tcp.conv2d %[[L]], %[[W]]
// CHECK-NEXT: %[[R:.*]] = tcp.transpose %[[Y]] {perm = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: return %[[R]], %[[L]]

// BORDER-LABEL: func.func @main
// BORDER-SAME: (%[[X:.*]]: tensor<2x8x8x16xf32> {{{.*}}}, %[[W:.*]]: tensor<16x3x3x16xf32>
// BORDER-NEXT: %[[Y:.*]] = tcp.conv2d %[[X]], %[[W]] {channels_last
// BORDER-NEXT: %[[Z:.*]] = tcp.transpose %[[X]] {perm = array<i64: 0, 3, 1, 2>}
// BORDER-NEXT: return %[[Y]], %[[Z]]

// PLAN: inputs = [{dtype = "float32", name = "x", shape = array<i64: 2, 16, 8, 8>, strides = array<i64: 1024, 1, 128, 16>}]
// PLAN-SAME: outputs = [{dtype = "float32", name = "y", shape = array<i64: 2, 16, 8, 8>, strides = array<i64: 1024, 1, 128, 16>}, {dtype = "float32", name = "z", shape = array<i64: 2, 16, 8, 8>}]
// PLAN-NOT: dim_order
func.func @main(%x: tensor<2x16x8x8xf32> {tcp.dim_order = array<i64: 0, 2, 3, 1>, tcp.input = "x"}, %w: tensor<16x16x3x3xf32> {tcp.weight = "w"})
    -> (tensor<2x16x8x8xf32> {tcp.dim_order = array<i64: 0, 2, 3, 1>, tcp.output = "y"}, tensor<2x16x8x8xf32> {tcp.output = "z"}) {
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<2x16x8x8xf32>, tensor<16x16x3x3xf32> -> tensor<2x16x8x8xf32>
  return %0, %x : tensor<2x16x8x8xf32>, tensor<2x16x8x8xf32>
}

// -----

// An argument that is returned in two orders, and an order that is no inverse of itself.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x2x3xf32> {{.*}}) -> (tensor<2x3x4xf32> {{.*}}, tensor<4x2x3xf32>
// CHECK-NEXT: %[[L:.*]] = tcp.transpose %[[X]] {perm = array<i64: 1, 2, 0>} : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[R:.*]] = tcp.transpose %[[L]] {perm = array<i64: 2, 0, 1>} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
// CHECK-NEXT: return %[[L]], %[[R]]
// BORDER-LABEL: func.func @main
// BORDER-SAME: (%[[X:.*]]: tensor<4x2x3xf32>
// BORDER-NEXT: %[[L:.*]] = tcp.transpose %[[X]]
// BORDER-NEXT: return %[[L]], %[[X]]
// PLAN: inputs = [{{.*}}strides = array<i64: 3, 1, 6>
func.func @main(%x: tensor<2x3x4xf32> {tcp.dim_order = array<i64: 2, 0, 1>, tcp.input = "x"})
    -> (tensor<2x3x4xf32> {tcp.output = "0"}, tensor<2x3x4xf32> {tcp.dim_order = array<i64: 2, 0, 1>, tcp.output = "1"}) {
  return %x, %x : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// -----

// Hand-written arguments without a role, and dims of size 1 whose order makes no difference.
// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[X:.*]]: tensor<4x1xf32>
// CHECK-NEXT: tcp.transpose %[[X]] {perm = array<i64: 1, 0>}
// PLAN: inputs = [{dtype = "float32", name = "arg0", shape = array<i64: 1, 4>}]
func.func @f(%x: tensor<1x4xf32> {tcp.dim_order = array<i64: 1, 0>}) -> tensor<1x4xf32> {
  %0 = tcp.exp %x : tensor<1x4xf32> -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
