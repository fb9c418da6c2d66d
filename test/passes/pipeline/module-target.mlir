// Without the option the target is that of the module, then that of its ops.
// RUN: convoy-opt %s --split-input-file --convoy-pipeline="to=normalize" | filecheck %s
// RUN: convoy-opt %s --split-input-file --convoy-run-phases="options='to=normalize'" | filecheck %s

// CHECK: module attributes {tcp.target = "cpu"}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// CHECK: module attributes {tcp.target = "cuda"}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> attributes {tcp.target = "cuda"} {
  return %x : tensor<2xf32>
}

// -----

// Groups are for cuDNN.
// CHECK: module attributes {tcp.target = "cuda"}
// CHECK: tcp.isolated_group
func.func @main(%x: tensor<2x8xf32>, %w: tensor<8x8xf32>) -> tensor<2x8xf32> {
  %0 = tcp.isolated_group %x, %w {
  ^bb0(%a: tensor<2x8xf32>, %b: tensor<8x8xf32>):
    %1 = tcp.matmul %a, %b : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    tcp.yield %1 : tensor<2x8xf32>
  } : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
