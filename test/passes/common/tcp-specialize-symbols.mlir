// RUN: convoy-opt %s --split-input-file --tcp-specialize-symbols="values=s0=8,s1=128" | filecheck %s
// The same before the first phase.
// RUN: convoy-opt %s --split-input-file --convoy-pipeline="symbols=s0=8,s1=128 to=tcp from=tcp" | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<8x128x16xf32>
// CHECK-SAME: %[[Y:.*]]: tensor<8x128xf32>
// CHECK-SAME: -> (tensor<16x128x4xf32>
func.func @main(%x: tensor<?x?x16xf32> {tcp.input = "x"}, %y: tensor<?x?xf32> {tcp.input = "y"}) -> (tensor<?x?x4xf32> {tcp.output = "z"}) {
  // CHECK-NOT: symbol
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 64, max_val = 512, divisor = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0, %s1], affine_map<()[s0, s1] -> (s0, s1, 16)> : tensor<?x?x16xf32>
  tcp.bind_symbolic_shape %y, [%s1, %s0], affine_map<()[s0, s1] -> (s1, s0)> : tensor<?x?xf32>
  // A size of -1 becomes a number.
  // CHECK: tcp.slice %[[X]] {sizes = array<i64: 8, 128, 4>, starts = array<i64: 0, 0, 2>, strides = array<i64: 1, 1, 1>} : tensor<8x128x16xf32> -> tensor<8x128x4xf32>
  %0 = tcp.slice %x {sizes = array<i64: -1, -1, 4>, starts = array<i64: 0, 0, 2>, strides = array<i64: 1, 1, 1>} : tensor<?x?x16xf32> -> tensor<?x?x4xf32>
  // A reshape with several ? is bound.
  // CHECK: tcp.reshape %[[Y]] : tensor<8x128xf32> -> tensor<8x128x1xf32>
  %1 = tcp.reshape %y : tensor<?x?xf32> -> tensor<?x?x1xf32>
  tcp.bind_symbolic_shape %1, [%s1, %s0], affine_map<()[s0, s1] -> (s1, s0, 1)> : tensor<?x?x1xf32>
  // CHECK: tcp.isolated_group
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<8x128x4xf32>, %{{.*}}: tensor<8x128x1xf32>):
  // CHECK-NEXT: tcp.mul %{{.*}}, %{{.*}} : tensor<8x128x4xf32>, tensor<8x128x1xf32> -> tensor<8x128x4xf32>
  // CHECK-NEXT: tcp.yield %{{.*}} : tensor<8x128x4xf32>
  // CHECK-NEXT: } : tensor<8x128x4xf32>, tensor<8x128x1xf32> -> tensor<8x128x4xf32>
  %2 = tcp.isolated_group %0, %1 {
  ^bb0(%a: tensor<?x?x4xf32>, %b: tensor<?x?x1xf32>):
    %4 = tcp.mul %a, %b : tensor<?x?x4xf32>, tensor<?x?x1xf32> -> tensor<?x?x4xf32>
    tcp.yield %4 : tensor<?x?x4xf32>
  } : tensor<?x?x4xf32>, tensor<?x?x1xf32> -> tensor<?x?x4xf32>
  // CHECK: tcp.concat %{{.*}}, %{{.*}} {dim = 0 : i64} : tensor<8x128x4xf32>, tensor<8x128x4xf32> -> tensor<16x128x4xf32>
  %3 = tcp.concat %2, %2 {dim = 0 : i64} : tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
  return %3 : tensor<?x?x4xf32>
}

// -----

// Functions may have different symbols. A declaration has no shapes to replace.
// CHECK: func.func private @declared(tensor<4xf32>)
func.func private @declared(tensor<4xf32>)
// CHECK: func.func @main(%{{.*}}: tensor<8xf32>
func.func @main(%x: tensor<?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  return
}
// CHECK: func.func @other(%{{.*}}: tensor<8xf32>, %{{.*}}: tensor<257xf32>)
func.func @other(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 256} : i64
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  tcp.bind_symbolic_shape %y, [%s1], affine_map<()[s0] -> (2 * s0 + 1)> : tensor<?xf32>
  return
}

// -----

// A symbol may be used as a number.
// CHECK: func.func @{{number|main}}() -> i64
func.func @number() -> i64 {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 512} : i64
  // CHECK: %[[C:.*]] = arith.constant 128 : i64
  // CHECK: return %[[C]] : i64
  return %s1 : i64
}
