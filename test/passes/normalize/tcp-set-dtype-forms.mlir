// RUN: convoy-opt %s --tcp-set-dtype=dtype=f16 --split-input-file --verify-diagnostics

func.func @scalars(%x: f32) -> f32 {
  // expected-error@+1 {{'math.exp' op cannot change its dtype: expects ranked tensors, but got 'f32'}}
  %0 = math.exp %x : f32
  return %0 : f32
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error@+1 {{'math.sqrt' op cannot change its dtype: expects ranked tensors, but got 'tensor<*xf32>'}}
  %0 = math.sqrt %x : tensor<*xf32>
  return
}

// -----

// expected-error@+1 {{expected one block, but got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
