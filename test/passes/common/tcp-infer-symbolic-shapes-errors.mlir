// Shapes that no values of the symbols make equal.
// RUN: convoy-opt %s --tcp-infer-symbolic-shapes --split-input-file --verify-diagnostics

// expected-note@+1 {{symbols: batch, 1 to 64}}
func.func @next(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) {
  %s0 = tcp.symbolic_int "batch" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 8)> : tensor<?x8xf32>
  tcp.bind_symbolic_shape %y, [%s0], affine_map<()[s0] -> (s0 + 1, 8)> : tensor<?x8xf32>
  // expected-error@+1 {{'tcp.add' op expects dims that are equal or 1, but got shapes [batch, 8] and [batch + 1, 8]}}
  %0 = tcp.add %x, %y : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

// expected-note@+1 {{symbols: s0, 1 to 8; s1, 16 to 64}}
func.func @ranges(%x: tensor<?x4xf32>, %y: tensor<4x?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 8} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 16, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 4)> : tensor<?x4xf32>
  tcp.bind_symbolic_shape %y, [%s1], affine_map<()[s0] -> (4, s0)> : tensor<4x?xf32>
  // expected-error@+1 {{'tcp.matmul' op expects the last dim of lhs to equal the second last of rhs, but got [4, s1] and [s0, 4]}}
  %0 = tcp.matmul %y, %x : tensor<4x?xf32>, tensor<?x4xf32> -> tensor<4x4xf32>
  return
}

// -----

// expected-note@+1 {{symbols: s0, 8 to 64, a multiple of 8}}
func.func @divisor(%x: tensor<?xf32>, %y: tensor<12xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 8, max_val = 64, divisor = 8} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  // expected-error@+1 {{'tcp.mul' op expects dims that are equal or 1, but got shapes [s0] and [12]}}
  %0 = tcp.mul %x, %y : tensor<?xf32>, tensor<12xf32> -> tensor<12xf32>
  return
}

// -----

// expected-note@+1 {{symbols: s0, 1 to 64}}
func.func @bound(%x: tensor<?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  // expected-note@+1 {{the operand is here}}
  %0 = tcp.concat %x, %x {dim = 0 : i64} : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  // expected-error@+1 {{'tcp.bind_symbolic_shape' op expects the shape [s0 * 2] of its operand, but got [s0 * 3]}}
  tcp.bind_symbolic_shape %0, [%s0], affine_map<()[s0] -> (s0 * 3)> : tensor<?xf32>
  return
}

// -----

// expected-note@+1 {{symbols: s0, 1 to 64}}
func.func @slice(%x: tensor<?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  // expected-error@+1 {{'tcp.slice' op expects a slice inside [s0], but got starts [60], sizes [5], strides [1]}}
  %0 = tcp.slice %x {sizes = array<i64: 5>, starts = array<i64: 60>, strides = array<i64: 1>} : tensor<?xf32> -> tensor<5xf32>
  return
}

// -----

// expected-note@+1 {{symbols: s0, 1 to 64}}
func.func @state(%h: tensor<?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %h, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  // expected-error@+1 {{'tcp.scan' op expects a next state of shape [s0], but got [s0 + 1]}}
  %0 = tcp.scan trips 3 carried(%h : tensor<?xf32>) {
  ^bb0(%a: tensor<?xf32>):
    %1 = tcp.pad %a {high = array<i64: 1>, interior = array<i64: 0>, low = array<i64: 0>, value = 0.0 : f64} : tensor<?xf32> -> tensor<?xf32>
    tcp.yield %1 : tensor<?xf32>
  } -> tensor<?xf32>
  return
}

// -----

// expected-note@+1 {{symbols: s0, 6 to 64}}
func.func @steps(%x: tensor<?x4xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 6, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 4)> : tensor<?x4xf32>
  // expected-error@+1 {{'tcp.scan' op expects sliced operands with 5 elements along dim 0, but got [s0, 4]}}
  %0 = tcp.scan trips 5 sliced(%x : tensor<?x4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    tcp.yield %a : tensor<4xf32>
  } -> tensor<5x4xf32>
  return
}
