// RUN: convoy-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'func.func' op expects 'tcp.input' to be a string, but got unit}}
func.func @input(%x: tensor<4xf32> {tcp.input}) { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.output' to be a string, but got 0 : i64}}
func.func @output(%x: tensor<4xf32>) -> (tensor<4xf32> {tcp.output = 0}) { return %x : tensor<4xf32> }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.weight' to be a string, but got ["w"]}}
func.func @weight(%x: tensor<4xf32> {tcp.weight = ["w"]}) { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.prepared' to be a string, but got f32}}
func.func @prepared(%x: memref<4xf32> {tcp.prepared = f32}) { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.arena' to be a unit attribute, but got "x"}}
func.func @arena(%x: memref<4xi8> {tcp.arena = "x"}) { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.arena_offset' to be an integer, but got "x"}}
func.func @offset(%x: memref<4xf32> {tcp.arena_offset = "x"}) { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.unsigned' to be a unit attribute, but got "x"}}
func.func @unsigned(%x: tensor<4xi8> {tcp.unsigned = "x"}) { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.target' to be a string, but got 1 : i64}}
func.func @target() attributes {tcp.target = 1} { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.dim_order' of argument #1 to be an array<i64> with a permutation of the 2 dims, but got array<i64: 0, 2>}}
func.func @order_of_argument(%x: tensor<4xf32>, %y: tensor<4x4xf32> {tcp.dim_order = array<i64: 0, 2>}) { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.dim_order' of argument #0 to be an array<i64> with a permutation of the 3 dims, but got array<i64: 1, 0>}}
func.func @order_of_two_dims(%x: tensor<4x4x4xf32> {tcp.dim_order = array<i64: 1, 0>}) { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.dim_order' of result #0 to be an array<i64> with a permutation of the 2 dims, but got array<i64: 1, 1>}}
func.func @order_of_result(%x: tensor<4x4xf32>) -> (tensor<4x4xf32> {tcp.dim_order = array<i64: 1, 1>}) { return %x : tensor<4x4xf32> }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.dim_order' of argument #0 to be an array<i64> with a permutation of the 2 dims, but got "NHWC"}}
func.func @order_by_name(%x: tensor<4x4xf32> {tcp.dim_order = "NHWC"}) { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.dim_order' of argument #0 on a tensor, but got 'index'}}
func.func @order_of_index(%x: index {tcp.dim_order = array<i64>}) { return }

// -----

// expected-error@+1 {{'func.func' op expects 'tcp.dim_order' of argument #0 on an input or a result, but got 'tcp.weight'}}
func.func @order_of_weight(%x: tensor<4x4xf32> {tcp.dim_order = array<i64: 1, 0>, tcp.weight = "w"}) { return }

// -----

func.func @size(%x: tensor<1099511627776xf32>, %y: tensor<2x1099511627775xf32>) {
  %0 = tcp.abs %x : tensor<1099511627776xf32> -> tensor<1099511627776xf32>
  // expected-error@+1 {{'tcp.abs' op operand #0 must be ranked tensor of floating-point or signless integer or 8-bit unsigned integer values of at most 2^40 elements, but got 'tensor<2x1099511627775xf32>'}}
  %1 = tcp.abs %y : tensor<2x1099511627775xf32> -> tensor<2x1099511627775xf32>
  return
}

// -----

func.func @no_room_next_to_zero(%x: tensor<0x2199023255552xf32>) {
  // expected-error@+1 {{of at most 2^40 elements, but got 'tensor<0x2199023255552xf32>'}}
  %0 = tcp.abs %x : tensor<0x2199023255552xf32> -> tensor<0x2199023255552xf32>
  return
}
