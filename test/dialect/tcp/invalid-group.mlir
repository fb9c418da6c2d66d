// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @isolated_group_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.isolated_group' op expects block arguments with the operands' types: 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<5xf32>):
    tcp.yield %a : tensor<5xf32>
  } : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @isolated_group_c2_end(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.isolated_group' op expects a body that ends in 'tcp.yield'}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<4xf32>):
    %1 = tcp.neg %a : tensor<4xf32> -> tensor<4xf32>
  } : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @isolated_group_c2_types(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.isolated_group' op expects 'tcp.yield' with the results' types: 'tensor<5xf32>', but got 'tensor<4xf32>'}}
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<4xf32>):
    tcp.yield %a : tensor<4xf32>
  } : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @yield_outside(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.yield' op expects parent op to be one of 'tcp.isolated_group, tcp.scan'}}
  tcp.yield %x : tensor<4xf32>
}
