// RUN: convoy-opt %s --verify-diagnostics --pass-pipeline="builtin.module(func.func(cpu-loops))"

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tcp.target = "cpu"} {
  // expected-error@+1 {{expected an op on memrefs, which phase 'plan' creates}}
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
