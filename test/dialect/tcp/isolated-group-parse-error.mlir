// RUN: not convoy-opt %s --split-input-file 2>&1 | filecheck %s

// Values inside a group are not visible in the function, even if the group cannot be parsed: the
// use of %1 would outlive them.

// CHECK: error: expected '->'
// CHECK: error: custom op 'next' is unknown
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %2 = tcp.add %1, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %0 = tcp.isolated_group %x {
  ^bb0(%y: tensor<4xf32>):
    %1 = tcp.abs %y : tensor<4xf32> -> tensor<4xf32>
    tcp.yield %1 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

next
