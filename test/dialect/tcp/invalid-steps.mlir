// RUN: convoy-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects 'tcp.steps' of argument #0 to be array<i64: shift, divisor, last> with a positive divisor and a last number that is not negative, on integers in one dim, but got array<i64: 1, 0, 3> on 'tensor<8xi32>'}}
func.func @divisor(%x: tensor<8xi32> {tcp.steps = array<i64: 1, 0, 3>}) {
  return
}

// -----

// expected-error @+1 {{but got array<i64: 1, 2> on 'tensor<8xi32>'}}
func.func @numbers(%x: tensor<8xi32> {tcp.steps = array<i64: 1, 2>}) {
  return
}

// -----

// expected-error @+1 {{but got array<i64: 1, 2, 3> on 'tensor<8xf32>'}}
func.func @floats(%x: tensor<8xf32> {tcp.steps = array<i64: 1, 2, 3>}) {
  return
}
