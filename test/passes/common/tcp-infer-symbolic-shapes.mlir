// RUN: convoy-opt %s --tcp-infer-symbolic-shapes --split-input-file | filecheck %s
// RUN: convoy-opt %s --tcp-infer-symbolic-shapes --split-input-file | convoy-opt --tcp-infer-symbolic-shapes --split-input-file | filecheck %s

// CHECK-DAG: #[[CONV:.*]] = affine_map<()[s0, s1] -> (s0, 4, s1 floordiv 2)>
// CHECK-DAG: #[[MEAN:.*]] = affine_map<()[s0] -> (s0, 4, 1)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<()[s0] -> (s0 * 2, 4)>
// CHECK-LABEL: func.func @main
// CHECK: %[[S0:.*]] = tcp.symbolic_int "batch"
// CHECK: %[[S1:.*]] = tcp.symbolic_int "length"
func.func @main(%x: tensor<?x3x?xf32>, %w: tensor<4x3x2xf32>) -> tensor<?x4xf32> {
  %s0 = tcp.symbolic_int "batch" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "length" {min_val = 8, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0, %s1], affine_map<()[s0, s1] -> (s0, 3, s1)> : tensor<?x3x?xf32>
  // CHECK: %[[A:.*]] = tcp.conv1d
  // CHECK-NEXT: tcp.bind_symbolic_shape %[[A]], [%[[S0]], %[[S1]]], #[[CONV]] : tensor<?x4x?xf32>
  %0 = tcp.conv1d %x, %w {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 2>} : tensor<?x3x?xf32>, tensor<4x3x2xf32> -> tensor<?x4x?xf32>
  // CHECK-NEXT: %[[B:.*]] = tcp.reduce_mean
  // CHECK-NEXT: tcp.bind_symbolic_shape %[[B]], [%[[S0]]], #[[MEAN]] : tensor<?x4x1xf32>
  %1 = tcp.reduce_mean %0 {dims = array<i64: 2>} : tensor<?x4x?xf32> -> tensor<?x4x1xf32>
  // CHECK-NEXT: %[[C:.*]] = tcp.reshape
  // CHECK-NEXT: tcp.bind_symbolic_shape %[[C]]
  %2 = tcp.reshape %1 : tensor<?x4x1xf32> -> tensor<?x4xf32>
  // CHECK-NEXT: %[[D:.*]] = tcp.concat
  // CHECK-NEXT: tcp.bind_symbolic_shape %[[D]], [%[[S0]]], #[[ROWS]] : tensor<?x4xf32>
  %3 = tcp.concat %2, %2 {dim = 0 : i64} : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK-NEXT: return
  return %3 : tensor<?x4xf32>
}

// -----

// Shapes that do not follow stay as they are, and so do those without a ?.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: tcp.bind_symbolic_shape
func.func @unknown(%x: tensor<?x4xf32>) -> tensor<?x1xf32> {
  %0 = tcp.reduce_sum %x {dims = array<i64: 1>} : tensor<?x4xf32> -> tensor<?x1xf32>
  %1 = tcp.reduce_sum %0 {dims = array<i64: 0>} : tensor<?x1xf32> -> tensor<1x1xf32>
  return %0 : tensor<?x1xf32>
}

// -----

// A number that follows in place of a ?; symbols after the values; sizes that may be equal.
// CHECK-DAG: #[[FOUR:.*]] = affine_map<() -> (4)>
// CHECK-DAG: #[[S:.*]] = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[S0:.*]] = tcp.symbolic_int "s0"
// CHECK-NEXT: %[[S1:.*]] = tcp.symbolic_int "s1"
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<4xf32>) {
  // CHECK: %[[A:.*]] = tcp.add
  // CHECK-NEXT: tcp.bind_symbolic_shape %[[A]], [], #[[FOUR]]
  %0 = tcp.add %x, %z : tensor<?xf32>, tensor<4xf32> -> tensor<?xf32>
  // CHECK: %[[B:.*]] = tcp.add
  // CHECK-NEXT: tcp.bind_symbolic_shape %[[B]], [%[[S0]]], #[[S]]
  %1 = tcp.add %x, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 2, max_val = 64, divisor = 2} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  tcp.bind_symbolic_shape %y, [%s1], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  return
}
