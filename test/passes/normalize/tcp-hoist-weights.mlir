// RUN: convoy-opt %s --split-input-file --tcp-hoist-weights=target=cuda | filecheck %s

// An unchanged weight is passed through; a value with two uses is prepared once; constants are in
// both functions; names are unique.
// CHECK: module attributes {tcp.target = "cuda"}
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32> {tcp.input = "x"}
// CHECK-SAME: %[[W:[^:]*]]: tensor<8x4xf32> {tcp.prepared = "fc.weight"}
// CHECK-SAME: %[[B:[^:]*]]: tensor<1x4xf32> {tcp.prepared = "fc.bias"}
// CHECK-SAME: %[[S:[^:]*]]: tensor<1x4xf32> {tcp.prepared = "scale"}
// CHECK-SAME: %[[S1:[^:]*]]: tensor<1x4xf32> {tcp.prepared = "scale.1"}
// CHECK-SAME: %[[P:[^:]*]]: tensor<1x1xf32> {tcp.prepared = "constant"}) -> (tensor<2x4xf32> {tcp.output = "0"}, tensor<1x4xf32> {tcp.output = "1"})
// CHECK-SAME: attributes {tcp.target = "cuda"}
func.func @main(%x: tensor<2x8xf32> {tcp.input = "x"}, %w: tensor<4x8xf32> {tcp.weight = "fc.weight"}, %a: tensor<1x4xf32> {tcp.weight = "a"},
                %s: tensor<1x4xf32> {tcp.weight = "scale"}, %unused: tensor<3xf32> {tcp.weight = "unused"})
    -> (tensor<2x4xf32> {tcp.output = "0"}, tensor<1x4xf32> {tcp.output = "1"}) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant
  // CHECK-NEXT: %[[M:.*]] = tcp.matmul %[[X]], %[[W]]
  // CHECK-NEXT: %[[A:.*]] = tcp.add %[[M]], %[[B]]
  // CHECK-NEXT: tcp.mul %[[A]], %[[S]]
  // CHECK-NEXT: tcp.mul {{.*}}, %[[S1]]
  // CHECK-NEXT: tcp.mul {{.*}}, %[[C]]
  // CHECK-NEXT: tcp.mul {{.*}}, %[[S1]]
  // CHECK-NEXT: tcp.mul {{.*}}, %[[P]]
  // CHECK-NEXT: return %{{.*}}, %[[S1]]
  %c = arith.constant dense<2.0> : tensor<1x1xf32>
  %t = tcp.transpose %w {perm = array<i64: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %0 = tcp.matmul %x, %t : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %b = tcp.add %a, %s : tensor<1x4xf32>, tensor<1x4xf32> -> tensor<1x4xf32>
  %1 = tcp.add %0, %b : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %2 = tcp.mul %1, %s : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %d = tcp.mul %s, %c : tensor<1x4xf32>, tensor<1x1xf32> -> tensor<1x4xf32>
  %3 = tcp.mul %2, %d : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %4 = tcp.mul %3, %c : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  %5 = tcp.mul %4, %d : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %e = tcp.exp %c : tensor<1x1xf32> -> tensor<1x1xf32>
  %6 = tcp.mul %5, %e : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  return %6, %d : tensor<2x4xf32>, tensor<1x4xf32>
}

// CHECK-LABEL: func.func @prepare_weights(
// CHECK-SAME: %[[FC:[^:]*]]: tensor<4x8xf32> {tcp.weight = "fc.weight"}, %[[A:[^:]*]]: tensor<1x4xf32> {tcp.weight = "a"}
// CHECK-SAME: %[[SC:[^:]*]]: tensor<1x4xf32> {tcp.weight = "scale"}, %{{[^:]*}}: tensor<3xf32> {tcp.weight = "unused"}) ->
// CHECK-SAME: (tensor<8x4xf32> {tcp.prepared = "fc.weight"}, tensor<1x4xf32> {tcp.prepared = "fc.bias"}, tensor<1x4xf32> {tcp.prepared = "scale"}
// CHECK-SAME: tensor<1x4xf32> {tcp.prepared = "scale.1"}, tensor<1x1xf32> {tcp.prepared = "constant"}) attributes {tcp.target = "cpu"}
// CHECK-NEXT: %[[K:.*]] = arith.constant
// CHECK-NEXT: %[[T:.*]] = tcp.transpose %[[FC]]
// CHECK-NEXT: %[[BIAS:.*]] = tcp.add %[[A]], %[[SC]]
// CHECK-NEXT: %[[D:.*]] = tcp.mul %[[SC]], %[[K]]
// CHECK-NEXT: %[[E:.*]] = tcp.exp %[[K]]
// CHECK-NEXT: return %[[T]], %[[BIAS]], %[[SC]], %[[D]], %[[E]]

// -----

// What is much larger than its weights stays in @main; what it is computed from is prepared. A
// small table and a reduction of a large value are prepared.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[^:]*]]: tensor<1x2048xf32> {tcp.input = "x"}
// CHECK-SAME: %[[N:[^:]*]]: tensor<1x2048xi64> {tcp.prepared = "numbers"}
// CHECK-SAME: %[[T:[^:]*]]: tensor<2048x1xi64> {tcp.prepared = "numbers.1"}
// CHECK-SAME: %[[TABLE:[^:]*]]: tensor<64x2048xf32> {tcp.prepared = "numbers.2"}
// CHECK-SAME: %[[SUM:[^:]*]]: tensor<1x2048xi64> {tcp.prepared = "numbers.3"})
func.func @main(%x: tensor<1x2048xf32> {tcp.input = "x"}, %n: tensor<1x2048xi64> {tcp.weight = "numbers"}, %f: tensor<64x1xf32> {tcp.weight = "f"})
    -> (tensor<2048x2048xf32> {tcp.output = "0"}, tensor<64x2048xf32> {tcp.output = "1"}, tensor<1x2048xi64> {tcp.output = "2"}) {
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant
  // CHECK-NEXT: %[[PAIRS:.*]] = tcp.compare %[[N]], %[[T]]
  // CHECK-NEXT: tcp.select %[[PAIRS]], %[[X]], %[[ZERO]]
  // CHECK-NEXT: tcp.mul %[[X]], %[[TABLE]]
  // CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[SUM]]
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>
  %t = tcp.transpose %n {perm = array<i64: 1, 0>} : tensor<1x2048xi64> -> tensor<2048x1xi64>
  %pairs = tcp.compare %n, %t {predicate = "lt"} : tensor<1x2048xi64>, tensor<2048x1xi64> -> tensor<2048x2048xi1>
  %y = tcp.select %pairs, %x, %zero : tensor<2048x2048xi1>, tensor<1x2048xf32>, tensor<1x1xf32> -> tensor<2048x2048xf32>
  %p = tcp.cast %n : tensor<1x2048xi64> -> tensor<1x2048xf32>
  %table = tcp.mul %p, %f : tensor<1x2048xf32>, tensor<64x1xf32> -> tensor<64x2048xf32>
  %z = tcp.mul %x, %table : tensor<1x2048xf32>, tensor<64x2048xf32> -> tensor<64x2048xf32>
  %counts = tcp.cast %pairs : tensor<2048x2048xi1> -> tensor<2048x2048xi64>
  %sum = tcp.reduce_sum %counts {dims = array<i64: 0>} : tensor<2048x2048xi64> -> tensor<1x2048xi64>
  return %y, %z, %sum : tensor<2048x2048xf32>, tensor<64x2048xf32>, tensor<1x2048xi64>
}
