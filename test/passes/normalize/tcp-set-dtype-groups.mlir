// RUN: convoy-opt %s --tcp-set-dtype=dtype=f16 --verify-diagnostics

func.func @group(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'tcp.isolated_group' op cannot change its dtype: expects no groups yet}}
  %y = tcp.isolated_group %x {
  ^bb0(%a: tensor<8xf32>):
    tcp.yield %a : tensor<8xf32>
  } : tensor<8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}
