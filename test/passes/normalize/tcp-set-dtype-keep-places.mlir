// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=<complex>:1,<other>:1" | filecheck %s

// Places of the frontend keep their ops in f32. They need not have any.

// CHECK-LABEL: func.func @main
// CHECK:         tcp.exp {{.*}} tensor<4xf32> -> tensor<4xf32>
// CHECK:         tcp.sqrt {{.*}} tensor<4xf16> -> tensor<4xf16>
func.func @main(%x: tensor<4xf32> {tcp.input = "x"}) -> (tensor<4xf32> {tcp.output = "0"}) attributes {tcp.target = "cuda"} {
  %0 = tcp.exp %x : tensor<4xf32> -> tensor<4xf32> loc(fused["<complex>":1:0, "model.py":3:0])
  %1 = tcp.sqrt %0 : tensor<4xf32> -> tensor<4xf32> loc("model.py":4:0)
  return %1 : tensor<4xf32>
}
