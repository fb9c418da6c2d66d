// RUN: convoy-opt %s --split-input-file --verify-diagnostics --convert-tcp-to-cudnn

func.func @mode(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @+1 {{does not form one cuDNN graph: cos: not an operation that cuDNN fuses}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.cos %1 : tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %2 : tensor<8x8xf16>
  } : tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}

// -----

func.func @on_both_sides(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @+1 {{does not form one cuDNN graph: a value before the anchor is also used after it}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.sigmoid %a : tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.matmul %1, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %3 = tcp.add %2, %1 : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %3 : tensor<8x8xf16>
  } : tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}
