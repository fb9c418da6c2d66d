// RUN: convoy-opt %s --tcp-sink-casts | filecheck %s

// Each of the users moves fewer bytes.
// CHECK-LABEL: func.func @resize
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf16>, %[[ROWS:[^:]*]]: tensor<8xi32>
// CHECK: %[[S:.*]] = tcp.slice %[[X]] {{.*}} -> tensor<2x8xf16>
// CHECK: %[[A:.*]] = tcp.cast %[[S]] : tensor<2x8xf16> -> tensor<2x8xf32>
// CHECK: %[[T:.*]] = tcp.transpose %[[X]] {{.*}} -> tensor<8x4xf16>
// CHECK: %[[M:.*]] = tcp.index_select %[[T]], %[[ROWS]] {{.*}} -> tensor<8x8xf16>
// CHECK: %[[B:.*]] = tcp.cast %[[M]] : tensor<8x8xf16> -> tensor<8x8xf32>
// CHECK: return %[[A]], %[[B]]
func.func @resize(%x: tensor<4x8xf16>, %rows: tensor<8xi32>) -> (tensor<2x8xf32>, tensor<8x8xf32>) attributes {tcp.target = "cuda"} {
  %0 = tcp.cast %x : tensor<4x8xf16> -> tensor<4x8xf32>
  %1 = tcp.slice %0 {sizes = array<i64: 2, 8>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : tensor<4x8xf32> -> tensor<2x8xf32>
  %2 = tcp.transpose %0 {perm = array<i64: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %3 = tcp.index_select %2, %rows {dim = 1 : index} : tensor<8x4xf32>, tensor<8xi32> -> tensor<8x8xf32>
  return %1, %3 : tensor<2x8xf32>, tensor<8x8xf32>
}

// A narrowing cast stays where it is.
// CHECK-LABEL: func.func @narrowing
// CHECK: tcp.cast
// CHECK-NEXT: tcp.transpose
func.func @narrowing(%x: tensor<4x8xf32>) -> tensor<8x4xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.cast %x : tensor<4x8xf32> -> tensor<4x8xf16>
  %1 = tcp.transpose %0 {perm = array<i64: 1, 0>} : tensor<4x8xf16> -> tensor<8x4xf16>
  return %1 : tensor<8x4xf16>
}

// Where an index is out of range, the result is NaN for floats, but not for integers.
// CHECK-LABEL: func.func @integers
// CHECK: tcp.cast
// CHECK-NEXT: tcp.index_select
func.func @integers(%x: tensor<4x8xi8>, %rows: tensor<8xi32>) -> tensor<8x8xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.cast %x : tensor<4x8xi8> -> tensor<4x8xf32>
  %1 = tcp.index_select %0, %rows {dim = 0 : index} : tensor<4x8xf32>, tensor<8xi32> -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
