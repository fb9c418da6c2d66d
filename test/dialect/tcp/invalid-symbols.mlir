// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @symbolic_int_c1() {
  // expected-error@+1 {{'tcp.symbolic_int' op expects an identifier as name, but got "2x"}}
  %0 = tcp.symbolic_int "2x" {min_val = 1, max_val = 2} : i64
  return
}

// -----

func.func @symbolic_int_c2_order() {
  // expected-error@+1 {{'tcp.symbolic_int' op expects 0 <= min_val <= max_val, but got 3 and 2}}
  %0 = tcp.symbolic_int "s0" {min_val = 3, max_val = 2} : i64
  return
}

// -----

func.func @symbolic_int_c2_negative() {
  // expected-error@+1 {{'tcp.symbolic_int' op expects 0 <= min_val <= max_val, but got -1 and 2}}
  %0 = tcp.symbolic_int "s0" {min_val = -1, max_val = 2} : i64
  return
}

// -----

func.func @symbolic_int_c3_positive() {
  // expected-error@+1 {{'tcp.symbolic_int' op expects a positive 'divisor', but got 0}}
  %0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 2, divisor = 0} : i64
  return
}

// -----

func.func @symbolic_int_c3_multiple() {
  // expected-error@+1 {{'tcp.symbolic_int' op expects a multiple of 8 from 9 to 15, but there is none}}
  %0 = tcp.symbolic_int "s0" {min_val = 9, max_val = 15, divisor = 8} : i64
  return
}

// -----

func.func @symbolic_int_c4_name() {
  // expected-error@+2 {{'tcp.symbolic_int' op expects a name that no other symbol has, but got "s0"}}
  // expected-note@+2 {{the other symbol is here}}
  %0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 2} : i64
  %1 = tcp.symbolic_int "s0" {min_val = 1, max_val = 2} : i64
  return
}

// -----

// expected-error@+1 {{'tcp.symbolic_int' op expects the body of a function around it, but got 'builtin.module'}}
%symbolic_int_c4_function = tcp.symbolic_int "s0" {min_val = 1, max_val = 2} : i64

// -----

func.func @bind_symbolic_shape_c1(%x: tensor<?xf32>, %s: i64) {
  // expected-error@+1 {{'tcp.bind_symbolic_shape' op expects symbols that are results of 'tcp.symbolic_int', but got '<block argument> of type 'i64' at index: 1'}}
  tcp.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  return
}

// -----

func.func @bind_symbolic_shape_c2_symbols(%x: tensor<?xf32>) {
  %0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 2} : i64
  // expected-error@+1 {{'tcp.bind_symbolic_shape' op expects a map with 1 symbols and no dims, but got affine_map<()[s0, s1] -> (s0)>}}
  tcp.bind_symbolic_shape %x, [%0], affine_map<()[s0, s1] -> (s0)> : tensor<?xf32>
  return
}

// -----

func.func @bind_symbolic_shape_c2_dims(%x: tensor<?xf32>) {
  // expected-error@+1 {{'tcp.bind_symbolic_shape' op expects a map with 0 symbols and no dims, but got affine_map<(d0) -> (d0)>}}
  tcp.bind_symbolic_shape %x, [], affine_map<(d0) -> (d0)> : tensor<?xf32>
  return
}

// -----

func.func @bind_symbolic_shape_c3(%x: tensor<?x4xf32>) {
  %0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 2} : i64
  // expected-error@+1 {{'tcp.bind_symbolic_shape' op expects a map with 2 results, one for each dim, but got affine_map<()[s0] -> (s0)>}}
  tcp.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0)> : tensor<?x4xf32>
  return
}

// -----

func.func @bind_symbolic_shape_c4_constant(%x: tensor<?x4xf32>) {
  %0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 2} : i64
  // expected-error@+1 {{'tcp.bind_symbolic_shape' op expects 4, the size of dim 1, as result 1 of the map, but got affine_map<()[s0] -> (s0, 5)>}}
  tcp.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0, 5)> : tensor<?x4xf32>
  return
}

// -----

func.func @bind_symbolic_shape_c4_symbol(%x: tensor<?x4xf32>) {
  %0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 2} : i64
  // expected-error@+1 {{'tcp.bind_symbolic_shape' op expects 4, the size of dim 1, as result 1 of the map, but got affine_map<()[s0] -> (s0, s0)>}}
  tcp.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0, s0)> : tensor<?x4xf32>
  return
}

// -----

func.func @bind_symbolic_shape_c5(%x: tensor<?xf32>) {
  %0 = tcp.symbolic_int "s0" {min_val = 1, max_val = 2} : i64
  // expected-error@+1 {{'tcp.bind_symbolic_shape' op expects an operand without another shape}}
  tcp.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  // expected-note@+1 {{the other shape is here}}
  tcp.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0 * 2)> : tensor<?xf32>
  return
}
