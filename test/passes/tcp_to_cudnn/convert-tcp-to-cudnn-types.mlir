// RUN: convoy-opt %s --split-input-file --verify-diagnostics --convert-tcp-to-cudnn

func.func @elements(%x: tensor<1x8x8xf128>, %w: tensor<1x8x8xf128>) -> tensor<1x8x8xf128> {
  // expected-error@+1 {{does not form one cuDNN graph: matmul: expects an element type of cuDNN, but got f128}}
  %0 = tcp.isolated_group %x, %w {
  ^bb0(%a: tensor<1x8x8xf128>, %b: tensor<1x8x8xf128>):
    %1 = tcp.matmul %a, %b : tensor<1x8x8xf128>, tensor<1x8x8xf128> -> tensor<1x8x8xf128>
    tcp.yield %1 : tensor<1x8x8xf128>
  } : tensor<1x8x8xf128>, tensor<1x8x8xf128> -> tensor<1x8x8xf128>
  return %0 : tensor<1x8x8xf128>
}

// -----

func.func @dims(%x: tensor<1x1x1x1x1x1x1x8x8xf16>, %w: tensor<1x1x1x1x1x1x1x8x8xf16>) -> tensor<1x1x1x1x1x1x1x8x8xf16> {
  // expected-error@+1 {{does not form one cuDNN graph: matmul: expects at most 8 dims, but got 9}}
  %0 = tcp.isolated_group %x, %w {
  ^bb0(%a: tensor<1x1x1x1x1x1x1x8x8xf16>, %b: tensor<1x1x1x1x1x1x1x8x8xf16>):
    %1 = tcp.matmul %a, %b : tensor<1x1x1x1x1x1x1x8x8xf16>, tensor<1x1x1x1x1x1x1x8x8xf16> -> tensor<1x1x1x1x1x1x1x8x8xf16>
    tcp.yield %1 : tensor<1x1x1x1x1x1x1x8x8xf16>
  } : tensor<1x1x1x1x1x1x1x8x8xf16>, tensor<1x1x1x1x1x1x1x8x8xf16> -> tensor<1x1x1x1x1x1x1x8x8xf16>
  return %0 : tensor<1x1x1x1x1x1x1x8x8xf16>
}
