// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=<complex>:1" --split-input-file | filecheck %s
// RUN: not convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=<other>:1" --split-input-file 2>&1 | filecheck %s --check-prefix=OTHER

// OTHER: expects 'keep-float32' to name a type of op, a line or a module of the model, but got '<other>:1'

// The place of complex numbers keeps its ops in f32.

// CHECK-LABEL: func.func @main
// CHECK:         tcp.exp {{.*}} tensor<4xf32> -> tensor<4xf32>
// CHECK:         tcp.sqrt {{.*}} tensor<4xf16> -> tensor<4xf16>
func.func @main(%x: tensor<4xf32> {tcp.input = "x"}) -> (tensor<4xf32> {tcp.output = "0"}) attributes {tcp.target = "cuda"} {
  %0 = tcp.exp %x : tensor<4xf32> -> tensor<4xf32> loc(fused["<complex>":1:0, "model.py":3:0])
  %1 = tcp.sqrt %0 : tensor<4xf32> -> tensor<4xf32> loc("model.py":4:0)
  return %1 : tensor<4xf32>
}

// -----

// It need not have any.

// CHECK-LABEL: func.func @main
// CHECK:         tcp.exp {{.*}} tensor<4xf16> -> tensor<4xf16>
func.func @main(%x: tensor<4xf32> {tcp.input = "x"}) -> (tensor<4xf32> {tcp.output = "0"}) attributes {tcp.target = "cuda"} {
  %0 = tcp.exp %x : tensor<4xf32> -> tensor<4xf32> loc("model.py":3:0)
  return %0 : tensor<4xf32>
}
