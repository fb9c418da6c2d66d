// The ops of dynamic shapes: parsed, printed, and parsed again.
// RUN: convoy-opt %s --verify-roundtrip | filecheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | filecheck %s
// RUN: convoy-opt %s --canonicalize --cse | filecheck %s

// CHECK-DAG: #[[X:.*]] = affine_map<()[s0, s1] -> (s0, s1 * 2 + 1, 8)>
// CHECK-DAG: #[[Y:.*]] = affine_map<()[s0, s1] -> (s0 * s1, s1 floordiv 2)>
// CHECK-DAG: #[[Z:.*]] = affine_map<() -> (4)>

// CHECK-LABEL: func.func @symbols
func.func @symbols(%x: tensor<?x?x8xf16>, %y: tensor<?x?xi64>, %z: tensor<?xui8>, %known: tensor<4xf32>) {
  // CHECK: %[[S0:.*]] = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  // CHECK: %[[LENGTH:.*]] = tcp.symbolic_int "length" {min_val = 64, max_val = 512, divisor = 64} {note = "kept"} : i64
  %length = tcp.symbolic_int "length" {min_val = 64, max_val = 512, divisor = 64} {note = "kept"} : i64
  // CHECK: tcp.bind_symbolic_shape %{{.*}}, [%[[S0]], %[[LENGTH]]], #[[X]] : tensor<?x?x8xf16>
  tcp.bind_symbolic_shape %x, [%s0, %length], affine_map<()[s0, s1] -> (s0, 2 * s1 + 1, 8)> : tensor<?x?x8xf16>
  // A product of symbols, and another integer type.
  // CHECK: tcp.bind_symbolic_shape %{{.*}}, [%[[LENGTH]], %[[S0]]], #[[Y]] {note = "kept"} : tensor<?x?xi64>
  tcp.bind_symbolic_shape %y, [%length, %s0], affine_map<()[s0, s1] -> (s0 * s1, s1 floordiv 2)> {note = "kept"} : tensor<?x?xi64>
  // A number in place of a ?, and a shape without a ?.
  // CHECK: tcp.bind_symbolic_shape %{{.*}}, [], #[[Z]] : tensor<?xui8>
  tcp.bind_symbolic_shape %z, [], affine_map<() -> (4)> : tensor<?xui8>
  // CHECK: tcp.bind_symbolic_shape %{{.*}}, [], #[[Z]] : tensor<4xf32>
  tcp.bind_symbolic_shape %known, [], affine_map<() -> (4)> : tensor<4xf32>
  return
}
