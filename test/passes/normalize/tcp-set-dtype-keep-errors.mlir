// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=softmx" --verify-diagnostics=only-expected --split-input-file

// expected-error@+1 {{expects 'keep-float32' to name a type of op, a line or a module of the model, but got 'softmx'; the nearest are }}
func.func @type(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tcp.softmax %x {dim = 0 : i64} : tensor<8xf32> -> tensor<8xf32> loc("model.py":12:1)
  return %0 : tensor<8xf32>
}
