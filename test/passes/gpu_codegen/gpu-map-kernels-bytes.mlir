// RUN: convoy-opt %s --convoy-pipeline="from=group to=host target=cuda" 2>/dev/null | filecheck %s

// A kernel that reads a part of a tensor moves the bytes of this part, in the manifest.
// CHECK: kernels = [
// CHECK-SAME: {bytes = 262144 : i64, role = "input"}
// CHECK-SAME: bytes = 131072 : i64, location = "{{[^"]*}}", name = "main_neg_0"
func.func @main(%x: tensor<4x64x256xf32> {tcp.input = "x"}) -> (tensor<1x64x256xf32> {tcp.output = "0"}) attributes {tcp.target = "cuda"} {
  %0 = tcp.slice %x {sizes = array<i64: 1, 64, 256>, starts = array<i64: 2, 0, 0>, strides = array<i64: 1, 1, 1>} : tensor<4x64x256xf32> -> tensor<1x64x256xf32>
  %1 = tcp.neg %0 : tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  return %1 : tensor<1x64x256xf32>
}
