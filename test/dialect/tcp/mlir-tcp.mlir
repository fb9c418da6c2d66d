// Spellings of mlir-tcp that parse as ops of this dialect (docs/tcp.md).
// RUN: convoy-opt %s --split-input-file | filecheck %s
// RUN: convoy-opt %s --split-input-file | convoy-opt --split-input-file | filecheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<f32>, tensor<3xi32>, tensor<2xi8>) {
  // CHECK: arith.constant dense<2.500000e+00> : tensor<f32>
  %0 = tcp.const {value = dense<2.5> : tensor<f32>} : tensor<f32>
  // CHECK: arith.constant dense<[1, 4, 9]> : tensor<3xi32>
  %1 = tcp.const {value = dense<[1, 4, 9]> : tensor<3xi32>} : tensor<3xi32>
  // CHECK: arith.constant {note = "kept"} dense<7> : tensor<2xi8>
  %2 = tcp.const {note = "kept", value = dense<7> : tensor<2xi8>} : tensor<2xi8>
  return %0, %1, %2 : tensor<f32>, tensor<3xi32>, tensor<2xi8>
}

// -----

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<4x3xf32>, %y: tensor<1x3xf32>) -> tensor<4x3xf32> {
  // CHECK: tcp.div %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<1x3xf32> -> tensor<4x3xf32>
  %0 = tcp.divf %x, %y : tensor<4x3xf32>, tensor<1x3xf32> -> tensor<4x3xf32>
  // CHECK: tcp.round %{{.*}} {note = "kept"} : tensor<4x3xf32> -> tensor<4x3xf32>
  %1 = tcp.round_even %0 {note = "kept"} : tensor<4x3xf32> -> tensor<4x3xf32>
  // The same spelling in both dialects.
  // CHECK: tcp.tanh
  // CHECK: tcp.clamp %{{.*}} {max_float = 6.000000e+00 : f32, min_float = 0.000000e+00 : f32}
  // CHECK: tcp.sub
  // CHECK: tcp.cast %{{.*}} : tensor<4x3xf32> -> tensor<4x3xf16>
  %2 = tcp.tanh %1 : tensor<4x3xf32> -> tensor<4x3xf32>
  %3 = tcp.clamp %2 {min_float = 0.0 : f32, max_float = 6.0 : f32} : tensor<4x3xf32> -> tensor<4x3xf32>
  %4 = tcp.sub %3, %y : tensor<4x3xf32>, tensor<1x3xf32> -> tensor<4x3xf32>
  %5 = tcp.cast %4 : tensor<4x3xf32> -> tensor<4x3xf16>
  return %4 : tensor<4x3xf32>
}

// -----

// The values from outside become operands, each once, in the order of their uses.
// CHECK-LABEL: func.func @group
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32>, %[[Y:.*]]: tensor<4x3xf32>
func.func @group(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[G:.*]] = tcp.isolated_group %[[Y]], %[[X]] attributes {kind = "fused"} {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4x3xf32>, %[[B:.*]]: tensor<4x3xf32>):
  // CHECK-NEXT: %[[S:.*]] = tcp.add %[[A]], %[[B]]
  // CHECK-NEXT: %[[T:.*]] = tcp.mul %[[S]], %[[A]]
  // CHECK-NEXT: tcp.yield %[[T]] : tensor<4x3xf32>
  // CHECK-NEXT: } : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
  // CHECK-NEXT: return %[[G]]
  %0 = tcp.group attributes {kind = "fused"} {
    %1 = tcp.add %y, %x : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
    %2 = tcp.mul %1, %y : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>
    tcp.yield %2 : tensor<4x3xf32>
  } : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Aliases inside a group, and several results.
// CHECK-LABEL: func.func @constant_in_group
func.func @constant_in_group(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: tcp.isolated_group %{{.*}} {
  // CHECK: arith.constant
  // CHECK: tcp.div
  // CHECK: tcp.yield %{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xf32>
  %0:2 = tcp.group {
    %c = tcp.const {value = dense<2.0> : tensor<2xf32>} : tensor<2xf32>
    %1 = tcp.divf %x, %c : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
    tcp.yield %1, %c : tensor<2xf32>, tensor<2xf32>
  } : tensor<2xf32>, tensor<2xf32>
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @gather
// CHECK: tcp.gather %{{.*}}, %{{.*}} {dim = 1 : index} : tensor<3x4xf32>, tensor<3x2xi64> -> tensor<3x2xf32>
func.func @gather(%x: tensor<3x4xf32>, %i: tensor<3x2xi64>) -> tensor<3x2xf32> {
  %0 = tcp.gather %x, %i {dim = 1 : index} : tensor<3x4xf32>, tensor<3x2xi64> -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// Dynamic shapes, as torch-mlir's importer and mlir-tcp write them.
// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // CHECK: %[[S:.*]] = tcp.symbolic_int "s0" {min_val = 2, max_val = 9} : i64
  %0 = tcp.symbolic_int "s0" {min_val = 2, max_val = 9} : i64
  // CHECK: tcp.bind_symbolic_shape %{{.*}}, [%[[S]]], #{{.*}} : tensor<?x3xf32>
  tcp.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0, 3)> : tensor<?x3xf32>
  %1 = tcp.tanh %x : tensor<?x3xf32> -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
