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

// -----

func.func @recurrent_result(%x: tensor<5x2x8xf32>, %w: tensor<8x8xf32>, %h: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // expected-error@+1 {{does not form one cuDNN graph: not a recurrent layer: expects the stacked hidden states as a result, then the last cell of an LSTM}}
  %0 = tcp.isolated_group %x, %w, %h attributes {anchor = "recurrent", pattern = "rnn_tanh"} {
  ^bb0(%a: tensor<5x2x8xf32>, %b: tensor<8x8xf32>, %c: tensor<2x8xf32>):
    %1:2 = tcp.scan trips 5 carried(%c : tensor<2x8xf32>) sliced(%a : tensor<5x2x8xf32>) invariant(%b : tensor<8x8xf32>) {
    ^bb0(%state: tensor<2x8xf32>, %element: tensor<2x8xf32>, %weights: tensor<8x8xf32>):
      %3 = tcp.matmul %state, %weights : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
      %4 = tcp.add %3, %element : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
      %5 = tcp.tanh %4 : tensor<2x8xf32> -> tensor<2x8xf32>
      tcp.yield %5, %5 : tensor<2x8xf32>, tensor<2x8xf32>
    } -> tensor<2x8xf32>, tensor<5x2x8xf32>
    tcp.yield %1#0 : tensor<2x8xf32>
  } : tensor<5x2x8xf32>, tensor<8x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

func.func @recurrent_others(%x: tensor<5x2x8xf32>, %w: tensor<8x8xf32>, %h: tensor<2x8xf32>) -> tensor<5x2x8xf32> {
  // expected-error@+1 {{does not form one cuDNN graph: not a recurrent layer: expects one scan, and no other ops but constants}}
  %0 = tcp.isolated_group %x, %w, %h attributes {anchor = "recurrent", pattern = "rnn_tanh"} {
  ^bb0(%a: tensor<5x2x8xf32>, %b: tensor<8x8xf32>, %c: tensor<2x8xf32>):
    %1:2 = tcp.scan trips 5 carried(%c : tensor<2x8xf32>) sliced(%a : tensor<5x2x8xf32>) invariant(%b : tensor<8x8xf32>) {
    ^bb0(%state: tensor<2x8xf32>, %element: tensor<2x8xf32>, %weights: tensor<8x8xf32>):
      %3 = tcp.matmul %state, %weights : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
      %4 = tcp.add %3, %element : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
      %5 = tcp.tanh %4 : tensor<2x8xf32> -> tensor<2x8xf32>
      tcp.yield %5, %5 : tensor<2x8xf32>, tensor<2x8xf32>
    } -> tensor<2x8xf32>, tensor<5x2x8xf32>
    %2 = tcp.tanh %1#1 : tensor<5x2x8xf32> -> tensor<5x2x8xf32>
    tcp.yield %2 : tensor<5x2x8xf32>
  } : tensor<5x2x8xf32>, tensor<8x8xf32>, tensor<2x8xf32> -> tensor<5x2x8xf32>
  return %0 : tensor<5x2x8xf32>
}

// -----

func.func @recurrent_formulas(%x: tensor<5x2x8xf32>, %w: tensor<8x8xf32>, %h: tensor<2x8xf32>) -> tensor<5x2x8xf32> {
  // expected-error@+1 {{does not form one cuDNN graph: not a recurrent layer: expects the formulas of an LSTM, a GRU or an RNN}}
  %0 = tcp.isolated_group %x, %w, %h attributes {anchor = "recurrent", pattern = "rnn_tanh"} {
  ^bb0(%a: tensor<5x2x8xf32>, %b: tensor<8x8xf32>, %c: tensor<2x8xf32>):
    %1:2 = tcp.scan trips 5 carried(%c : tensor<2x8xf32>) sliced(%a : tensor<5x2x8xf32>) invariant(%b : tensor<8x8xf32>) {
    ^bb0(%state: tensor<2x8xf32>, %element: tensor<2x8xf32>, %weights: tensor<8x8xf32>):
      %3 = tcp.matmul %state, %weights : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
      %4 = tcp.add %3, %element : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
      %5 = tcp.sigmoid %4 : tensor<2x8xf32> -> tensor<2x8xf32>
      tcp.yield %5, %5 : tensor<2x8xf32>, tensor<2x8xf32>
    } -> tensor<2x8xf32>, tensor<5x2x8xf32>
    tcp.yield %1#1 : tensor<5x2x8xf32>
  } : tensor<5x2x8xf32>, tensor<8x8xf32>, tensor<2x8xf32> -> tensor<5x2x8xf32>
  return %0 : tensor<5x2x8xf32>
}

// -----

func.func @not_marked(%x: tensor<1x8x8x64xbf16>, %w: tensor<64x3x3x1xbf16>) -> tensor<1x8x8x64xbf16> {
  // expected-error@+1 {{does not form one cuDNN graph: expects 'only_kernel', because cuDNN has no engine for it}}
  %0 = tcp.isolated_group %x, %w attributes {anchor = "conv2d", pattern = "conv2d+swish"} {
  ^bb0(%a: tensor<1x8x8x64xbf16>, %b: tensor<64x3x3x1xbf16>):
    %1 = tcp.conv2d %a, %b {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xbf16>, tensor<64x3x3x1xbf16> -> tensor<1x8x8x64xbf16>
    %2 = tcp.silu %1 : tensor<1x8x8x64xbf16> -> tensor<1x8x8x64xbf16>
    tcp.yield %2 : tensor<1x8x8x64xbf16>
  } : tensor<1x8x8x64xbf16>, tensor<64x3x3x1xbf16> -> tensor<1x8x8x64xbf16>
  return %0 : tensor<1x8x8x64xbf16>
}

// -----

func.func @marked(%x: tensor<1x8x8x64xbf16>, %w: tensor<64x3x3x1xbf16>) -> tensor<1x8x8x64xbf16> {
  // expected-error@+1 {{does not form one cuDNN graph: is 'only_kernel', but no row of 'kernels' in the support table matches it}}
  %0 = tcp.isolated_group %x, %w attributes {anchor = "conv2d", only_kernel, pattern = "conv2d"} {
  ^bb0(%a: tensor<1x8x8x64xbf16>, %b: tensor<64x3x3x1xbf16>):
    %1 = tcp.conv2d %a, %b {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xbf16>, tensor<64x3x3x1xbf16> -> tensor<1x8x8x64xbf16>
    tcp.yield %1 : tensor<1x8x8x64xbf16>
  } : tensor<1x8x8x64xbf16>, tensor<64x3x3x1xbf16> -> tensor<1x8x8x64xbf16>
  return %0 : tensor<1x8x8x64xbf16>
}
