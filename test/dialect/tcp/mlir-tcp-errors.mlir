// Ops and spellings of mlir-tcp that this dialect refuses (docs/tcp.md).
// RUN: convoy-opt %s --split-input-file --verify-diagnostics=only-expected

func.func @atan(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.atan' of mlir-tcp is not in this dialect: it has no inverse trigonometric functions}}
  %0 = tcp.atan %x : tensor<4xf32> -> tensor<4xf32>
}

// -----

func.func @atan2(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.atan2' of mlir-tcp is not in this dialect: it has no inverse trigonometric functions}}
  %0 = tcp.atan2 %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
}

// -----

func.func @divsi(%x: tensor<4xi32>) {
  // expected-error@+1 {{'tcp.divsi' of mlir-tcp is not in this dialect: its 'tcp.div' of signed integers always rounds toward zero}}
  %0 = tcp.divsi %x, %x {rounding_mode = "Trunc"} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
}

// -----

func.func @divui(%x: tensor<4xi32>) {
  // expected-error@+1 {{'tcp.divui' of mlir-tcp is not in this dialect: its 'tcp.div' of signed integers always rounds toward zero}}
  %0 = tcp.divui %x, %x {rounding_mode = "Trunc"} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
}

// -----

func.func @gather_nd(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+1 {{'tcp.gather_nd' of mlir-tcp is not in this dialect: tcp.gather and tcp.index_select have the indices of one dim}}
  %0 = tcp.gather_nd %x, %i : tensor<3x4xf32>, tensor<2x1xi64> -> tensor<2x4xf32>
}

// -----

func.func @custom_op(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.custom_op' of mlir-tcp is not in this dialect: it has no opaque ops}}
  %0 = tcp.custom_op("my.op") %x : tensor<4xf32> -> tensor<4xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'tcp.tangent' is unknown}}
  %0 = tcp.tangent %x : tensor<4xf32> -> tensor<4xf32>
}

// -----

func.func @const_of_another_type() {
  // expected-error@+1 {{expects 'value' to be elements of type 'tensor<2xf32>'}}
  %0 = tcp.const {value = dense<1.0> : tensor<3xf32>} : tensor<2xf32>
}

// -----

func.func @const_without_value() {
  // expected-error@+1 {{expects 'value' to be elements of type 'tensor<2xf32>'}}
  %0 = tcp.const : tensor<2xf32>
}

// -----

func.func @group_with_arguments(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{expects a body of one block without arguments}}
  %0 = tcp.group {
  ^bb0(%a: tensor<2xf32>):
    tcp.yield %a : tensor<2xf32>
  } : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @group_of_another_type(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{'tcp.isolated_group' op expects 'tcp.yield' with the results' types: 'tensor<3xf32>', but got 'tensor<2xf32>'}}
  %0 = tcp.group {
    %1 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32>
    tcp.yield %1 : tensor<2xf32>
  } : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @slice_with_operands(%x: tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected ':'}}
  %0 = tcp.slice %x starts (%c0) sizes (%c0) strides (%c0) : tensor<8xf32> -> tensor<4xf32>
}

// -----

func.func @broadcast_with_operands(%x: tensor<1xf32>) {
  %c4 = arith.constant 4 : index
  // expected-error@+1 {{expected ':'}}
  %0 = tcp.broadcast %x, %c4 {axes = [0]} : tensor<1xf32>, index -> tensor<4xf32>
}

// -----

func.func @integer_clamp(%x: tensor<4xi32>) {
  // expected-error@+1 {{'tcp.clamp' op operand #0 must be ranked tensor of floating-point values}}
  %0 = tcp.clamp %x {max_int = 6 : i64} : tensor<4xi32> -> tensor<4xi32>
}
