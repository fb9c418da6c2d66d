// RUN: convoy-opt %s --tcp-set-dtype=dtype=f8 --verify-diagnostics

// expected-error@+1 {{expects dtype f32, f16 or bf16, but got 'f8'}}
func.func @name(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
