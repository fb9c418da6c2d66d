// RUN: convoy-opt %s --split-input-file --verify-diagnostics --convert-tcp-to-cudnn

// No pointwise mode has a lower bound of minus infinity.
func.func @mode(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    // expected-error @+1 {{expects an op with a pointwise mode of cuDNN, but got 'tcp.clamp'}}
    %2 = tcp.clamp %1 {max_float = 1.0 : f32} : tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %2 : tensor<8x8xf16>
  } : tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}

// -----

func.func @operand_in_the_group(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @+1 {{group that is not one cuDNN graph: ops beside the chain through the anchor}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.sigmoid %a : tensor<8x8xf16> -> tensor<8x8xf16>
    %3 = tcp.add %1, %2 : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %3 : tensor<8x8xf16>
  } : tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}
