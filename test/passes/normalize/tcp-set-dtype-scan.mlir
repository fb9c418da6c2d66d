// RUN: convoy-opt %s --tcp-set-dtype=dtype=f16 | filecheck %s
// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=cell" | filecheck %s --check-prefix=KEEP
// RUN: convoy-opt %s --tcp-set-dtype="dtype=f16 keep-float32=model.py:7" | filecheck %s --check-prefix=LINE
// RUN: convoy-opt %s --tcp-set-dtype=dtype=f32 | filecheck %s --check-prefix=DOUBLE

// The state, the elements and the weights of a loop have the compute type, in all steps.

// CHECK-LABEL: func.func @main
// CHECK-DAG:   %[[H:.*]] = tcp.cast %{{.*}} : tensor<2x4xf32> -> tensor<2x4xf16>
// CHECK-DAG:   %[[X:.*]] = tcp.cast %{{.*}} : tensor<5x2x4xf32> -> tensor<5x2x4xf16>
// CHECK-DAG:   %[[W:.*]] = tcp.cast %{{.*}} : tensor<4x4xf32> -> tensor<4x4xf16>
// CHECK:       %[[S:.*]]:2 = tcp.scan trips 5 carried(%[[H]] : tensor<2x4xf16>) sliced(%[[X]] : tensor<5x2x4xf16>) invariant(%[[W]] : tensor<4x4xf16>) {
// CHECK-NEXT:  ^bb0(%{{.*}}: tensor<2x4xf16>, %{{.*}}: tensor<2x4xf16>, %{{.*}}: tensor<4x4xf16>):
// CHECK:         tcp.matmul {{.*}} -> tensor<2x4xf16>
// CHECK:         %[[C:.*]] = arith.constant dense<2.000000e+00> : tensor<1x1xf16>
// CHECK:         tcp.mul %{{.*}}, %[[C]] : tensor<2x4xf16>, tensor<1x1xf16> -> tensor<2x4xf16>
// CHECK:         tcp.yield %{{.*}}, %{{.*}} : tensor<2x4xf16>, tensor<2x4xf16>
// CHECK:       } -> tensor<2x4xf16>, tensor<5x2x4xf16>
// CHECK:       tcp.cast %[[S]]#0 : tensor<2x4xf16> -> tensor<2x4xf32>

// A module is kept with the ops of the loop that use its weights; the state is f32, too.

// KEEP-LABEL: func.func @main
// KEEP:        tcp.scan trips 5 carried(%{{.*}} : tensor<2x4xf32>) sliced(%{{.*}} : tensor<5x2x4xf32>) invariant(%{{.*}} : tensor<4x4xf32>) {
// KEEP:          tcp.matmul {{.*}} -> tensor<2x4xf32>
// KEEP:          tcp.add {{.*}} -> tensor<2x4xf16>
// KEEP:          tcp.yield {{.*}} : tensor<2x4xf32>, tensor<2x4xf32>

// LINE-LABEL: func.func @main
// LINE:        tcp.scan trips 5 carried(%{{.*}} : tensor<2x4xf16>)
// LINE:          tcp.matmul {{.*}} -> tensor<2x4xf16>
// LINE:          tcp.mul {{.*}} : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
// LINE:          tcp.yield {{.*}} : tensor<2x4xf16>, tensor<2x4xf16>
func.func @main(%h: tensor<2x4xf32> {tcp.input = "h"}, %x: tensor<5x2x4xf32> {tcp.input = "x"}, %w: tensor<4x4xf32> {tcp.weight = "cell.weight"}) -> (tensor<2x4xf32>, tensor<5x2x4xf32>) {
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2x4xf32>) sliced(%x : tensor<5x2x4xf32>) invariant(%w : tensor<4x4xf32>) {
  ^bb0(%state: tensor<2x4xf32>, %element: tensor<2x4xf32>, %weights: tensor<4x4xf32>):
    %two = arith.constant dense<2.0> : tensor<1x1xf32>
    %1 = tcp.matmul %state, %weights : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    %2 = tcp.add %1, %element : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
    %3 = tcp.mul %2, %two : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32> loc("/src/model.py":7:1)
    tcp.yield %3, %2 : tensor<2x4xf32>, tensor<2x4xf32>
  } -> tensor<2x4xf32>, tensor<5x2x4xf32>
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<5x2x4xf32>
}

// A loop whose state is widened to f64 keeps the types of the model.

// DOUBLE-LABEL: func.func @double_state
// DOUBLE:       tcp.scan trips 5 carried(%{{.*}} : tensor<4xf64>) sliced(%{{.*}} : tensor<5x4xf32>) {
// DOUBLE-NEXT:  ^bb0(%[[S:.*]]: tensor<4xf64>, %[[E:.*]]: tensor<4xf32>):
// DOUBLE-NEXT:    %[[D:.*]] = tcp.cast %[[E]] : tensor<4xf32> -> tensor<4xf64>
// DOUBLE-NEXT:    %[[A:.*]] = tcp.add %[[S]], %[[D]] : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
// DOUBLE-NEXT:    tcp.yield %[[A]] : tensor<4xf64>
// DOUBLE-NEXT:  } -> tensor<4xf64>
func.func @double_state(%h: tensor<4xf64> {tcp.input = "h"}, %x: tensor<5x4xf32> {tcp.input = "x"}, %w: tensor<4x4xf32> {tcp.weight = "cell.weight"}) -> tensor<4xf64> {
  %0 = tcp.scan trips 5 carried(%h : tensor<4xf64>) sliced(%x : tensor<5x4xf32>) {
  ^bb0(%state: tensor<4xf64>, %element: tensor<4xf32>):
    %1 = tcp.cast %element : tensor<4xf32> -> tensor<4xf64>
    %2 = tcp.add %state, %1 : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
    tcp.yield %2 : tensor<4xf64>
  } -> tensor<4xf64>
  %k = tcp.transpose %w {perm = array<i64: 1, 0>} : tensor<4x4xf32> -> tensor<4x4xf32> loc("/src/model.py":7:1)
  return %0 : tensor<4xf64>
}
