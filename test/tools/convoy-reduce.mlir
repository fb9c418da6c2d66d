// RUN: env PYTHONPATH=%S/../.. python -m tools.reduce %s -o %t.mlir --reducer convoy-reduce --message "expects no groups yet" -- convoy-opt --tcp-set-dtype=dtype=f16
// RUN: filecheck %s < %t.mlir
// The same with MLIR's own pass and the script's exit code.
// RUN: printf -- '--message=expects no groups yet\n--\nconvoy-opt\n--tcp-set-dtype=dtype=f16' > %t.words
// RUN: convoy-reduce %s -o %t.mlir --reduction-tree="test=%S/../../tools/interesting.py test-arg=@%t.words" && filecheck %s --check-prefix=TREE < %t.mlir
// A module that does not fail, and wrong uses.
// RUN: not env PYTHONPATH=%S/../.. python -m tools.reduce %s -o %t.mlir --reducer convoy-reduce --message "another" -- convoy-opt --tcp-set-dtype=dtype=f16 2>&1 | filecheck %s --check-prefix=FINE
// RUN: bash -c 'convoy-reduce %s -o %t.mlir --reduce-ops="test=%S/../../tools/interesting.py test-arg=--what" 2>&1 || true' | filecheck %s --check-prefix=WRONG
// FINE: reduce: convoy-opt --tcp-set-dtype=dtype=f16 {{.*}} does not fail as described
// WRONG: interesting.py: invalid arguments

// The group remains, with one argument and without the ops around it.
// CHECK: func.func @main(%[[X:.*]]: tensor<2x8xf32> {tcp.input = "x"}) {
// CHECK-NEXT: %[[Y:.*]] = tcp.isolated_group %[[X]] {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<2x8xf32>):
// CHECK-NEXT: tcp.yield %[[A]] : tensor<2x8xf32>
// CHECK-NEXT: } : tensor<2x8xf32> -> tensor<2x8xf32>
// CHECK-NEXT: return
// CHECK-NOT: @other

// TREE: tcp.isolated_group

func.func @main(%x: tensor<2x8xf32> {tcp.input = "x"}, %w: tensor<8x8xf32> {tcp.weight = "w"}) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = tcp.matmul %x, %w : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %1 = tcp.exp %0 : tensor<2x8xf32> -> tensor<2x8xf32>
  %2 = tcp.isolated_group %1 {
  ^bb0(%a: tensor<2x8xf32>):
    %b = tcp.tanh %a : tensor<2x8xf32> -> tensor<2x8xf32>
    tcp.yield %b : tensor<2x8xf32>
  } : tensor<2x8xf32> -> tensor<2x8xf32>
  %3 = tcp.add %2, %0 : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
  return %2, %3 : tensor<2x8xf32>, tensor<2x8xf32>
}

func.func private @other(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  return %x : tensor<2x8xf32>
}
