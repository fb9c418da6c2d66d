// RUN: convoy-opt %s --split-input-file --verify-diagnostics --tcp-verify-groups
// RUN: not convoy-opt %s --split-input-file --convert-tcp-to-cudnn 2>&1 | filecheck %s

// The conversion refuses the same forms, but does not query the table.
// CHECK: error: does not form one cuDNN graph: no anchor
func.func @no_anchor(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error @+1 {{does not form one cuDNN graph: no anchor: no convolution, gradient of one, matrix product, pooling or spatial mean}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<4x8xf16>):
    %1 = tcp.sigmoid %a : tensor<4x8xf16> -> tensor<4x8xf16>
    tcp.yield %1 : tensor<4x8xf16>
  } : tensor<4x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

// CHECK: error: does not form one cuDNN graph: more than one anchor: matmul and matmul
func.func @two_anchors(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @+1 {{does not form one cuDNN graph: more than one anchor: matmul and matmul}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.matmul %1, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %2 : tensor<8x8xf16>
  } : tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}

// -----

// CHECK: error: does not form one cuDNN graph: the anchor's second operand is computed in the graph
func.func @second_operand_of_the_anchor(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @+1 {{does not form one cuDNN graph: the anchor's second operand is computed in the graph}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.sigmoid %a : tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.matmul %a, %1 : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %2 : tensor<8x8xf16>
  } : tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}

// -----

// CHECK: error: does not form one cuDNN graph: expects the last op's result as the only result
func.func @two_results(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @+1 {{does not form one cuDNN graph: expects the last op's result as the only result}}
  %0:2 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.sigmoid %1 : tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %1, %2 : tensor<8x8xf16>, tensor<8x8xf16>
  } : tensor<8x8xf16> -> tensor<8x8xf16>, tensor<8x8xf16>
  return %0#0 : tensor<8x8xf16>
}

// -----

// CHECK: error: does not form one cuDNN graph: reshape: not elementwise
func.func @reshape(%x: tensor<8x8xf16>) -> tensor<64xf16> {
  // expected-error @+1 {{does not form one cuDNN graph: reshape: not elementwise}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.reshape %1 : tensor<8x8xf16> -> tensor<64xf16>
    tcp.yield %2 : tensor<64xf16>
  } : tensor<8x8xf16> -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// -----

func.func @the_table(%x: tensor<8x8xf64>) -> tensor<8x8xf64> {
  // expected-error @+1 {{does not form one cuDNN graph: matmul: cuDNN supports f16, bf16 or f32, not f64}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf64>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf64>, tensor<8x8xf64> -> tensor<8x8xf64>
    tcp.yield %1 : tensor<8x8xf64>
  } : tensor<8x8xf64> -> tensor<8x8xf64>
  return %0 : tensor<8x8xf64>
}

// -----

func.func @type_in_between(%x: tensor<8x8xf16>) -> tensor<8x8xf32> {
  // expected-error @+1 {{does not form one cuDNN graph: cast: a cast must be the last op of the group}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.cast %1 : tensor<8x8xf16> -> tensor<8x8xf32>
    %3 = tcp.sigmoid %2 : tensor<8x8xf32> -> tensor<8x8xf32>
    tcp.yield %3 : tensor<8x8xf32>
  } : tensor<8x8xf16> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @pattern(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @+1 {{expects pattern "matmul", but got "matmul+relu"}}
  %0 = tcp.isolated_group %x attributes {anchor = "matmul", pattern = "matmul+relu"} {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %1 : tensor<8x8xf16>
  } : tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}

// -----

// CHECK: error: does not form one cuDNN graph: a value before the anchor is also used after it
func.func @value_of_the_prologue(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @+1 {{does not form one cuDNN graph: a value before the anchor is also used after it}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.clamp %a {min_float = 0.0 : f32} : tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.matmul %1, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %3 = tcp.add %2, %1 : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %3 : tensor<8x8xf16>
  } : tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}

// -----

func.func @empty(%x: tensor<0x8x8xf16>, %w: tensor<0x8x8xf16>) -> tensor<0x8x8xf16> {
  // expected-error@+1 {{does not form one cuDNN graph: matmul: cuDNN has no empty tensors}}
  %0 = tcp.isolated_group %x, %w {
  ^bb0(%a: tensor<0x8x8xf16>, %b: tensor<0x8x8xf16>):
    %1 = tcp.matmul %a, %b : tensor<0x8x8xf16>, tensor<0x8x8xf16> -> tensor<0x8x8xf16>
    tcp.yield %1 : tensor<0x8x8xf16>
  } : tensor<0x8x8xf16>, tensor<0x8x8xf16> -> tensor<0x8x8xf16>
  return %0 : tensor<0x8x8xf16>
}
