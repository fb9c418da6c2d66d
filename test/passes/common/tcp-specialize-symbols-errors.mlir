// RUN: convoy-opt %s --split-input-file --tcp-specialize-symbols="values=s0=8,s1=12" --verify-diagnostics

func.func @range(%x: tensor<?xf32>) {
  // expected-error@+1 {{'tcp.symbolic_int' op expects a value of 's0', 1 to 4, but got s0=8}}
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 4} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64} : i64
  return
}

// -----

func.func @divisor(%x: tensor<?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  // expected-error@+1 {{'tcp.symbolic_int' op expects a value of 's1', 1 to 64, a multiple of 8, but got s1=12}}
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64, divisor = 8} : i64
  return
}

// -----

func.func @missing() {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64} : i64
  // expected-error@+1 {{'tcp.symbolic_int' op expects a value of 's2', 1 to 64, but 'values' has none}}
  %s2 = tcp.symbolic_int "s2" {min_val = 1, max_val = 64} : i64
  return
}

// -----

// expected-error@+1 {{expected names of symbols in 'values' (s0), but got 's1=12'}}
module {
  func.func @unknown() {
    %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
    return
  }
}

// -----

// expected-note@+1 {{for s0=8 s1=12}}
func.func @contradiction(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 4)> : tensor<?x4xf32>
  tcp.bind_symbolic_shape %y, [%s1], affine_map<()[s0] -> (s0, 4)> : tensor<?x4xf32>
  // expected-error@+1 {{'tcp.add' op expects dims that are equal or 1, but got shapes [8, 4] and [12, 4]}}
  %0 = tcp.add %x, %y : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

// expected-note@+1 {{for s0=8 s1=12}}
func.func @result(%x: tensor<?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  // expected-error@+1 {{'tcp.concat' op expects result shape [16], but got [15]}}
  %0 = tcp.concat %x, %x {dim = 0 : i64} : tensor<?xf32>, tensor<?xf32> -> tensor<15xf32>
  return
}

// -----

// expected-note@+1 {{for s0=8 s1=12}}
func.func @bound_result(%x: tensor<?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  // expected-note@+1 {{the operand is here}}
  %0 = tcp.tanh %x : tensor<?xf32> -> tensor<?xf32>
  // expected-error@+1 {{'tcp.bind_symbolic_shape' op expects the shape [8] of its operand, but got [12]}}
  tcp.bind_symbolic_shape %0, [%s1], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  return
}

// -----

// expected-note@+1 {{for s0=8 s1=12}}
func.func @negative(%x: tensor<?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64} : i64
  // expected-error@+1 {{'tcp.bind_symbolic_shape' op expects sizes of at least 0, but got [-2]}}
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0 - 10)> : tensor<?xf32>
  return
}

// -----

// expected-error@+2 {{'func.func' op expects a shape of argument #0 that follows from symbols, but got [?]; bind it with 'tcp.bind_symbolic_shape'}}
// expected-note@+1 {{for s0=8 s1=12}}
func.func @unbound(%x: tensor<?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64} : i64
  return
}

// -----

// expected-note@+1 {{for s0=8 s1=12}}
func.func @slice(%x: tensor<?xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  // expected-error@+1 {{'tcp.slice' op expects a slice inside [8], but got starts [0], sizes [9], strides [1]}}
  %0 = tcp.slice %x {sizes = array<i64: 9>, starts = array<i64: 0>, strides = array<i64: 1>} : tensor<?xf32> -> tensor<9xf32>
  return
}

// -----

// expected-note@+1 {{for s0=8 s1=12}}
func.func @returned(%x: tensor<?xf32>) -> tensor<?xf32> {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  // expected-error@+1 {{'tensor.cast' op expects a shape of result #0 that follows from symbols, but got [?]; bind it with 'tcp.bind_symbolic_shape'}}
  %0 = tensor.cast %x : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error@+2 {{'func.func' op expects argument #0 of at most 2^40 elements, but got [8, 1099511627776]}}
// expected-note@+1 {{for s0=8 s1=12}}
func.func @size(%x: tensor<?x1099511627776xf32>) {
  %s0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 64} : i64
  %s1 = tcp.symbolic_int "s1" {min_val = 1, max_val = 64} : i64
  tcp.bind_symbolic_shape %x, [%s0], affine_map<()[s0] -> (s0, 1099511627776)> : tensor<?x1099511627776xf32>
  return
}
