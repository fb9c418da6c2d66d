// RUN: convoy-opt %s --split-input-file --tcp-decompose-attention | filecheck %s

// cuDNN computes attention in f16; the CPU does not call it.
// CHECK-LABEL: func.func @half
// CHECK: tcp.attention
func.func @half(%q: tensor<1x4x32x64xf16>) -> tensor<1x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.attention %q, %q, %q {scale = 0.125 : f64} : tensor<1x4x32x64xf16>, tensor<1x4x32x64xf16>, tensor<1x4x32x64xf16> -> tensor<1x4x32x64xf16>
  return %0 : tensor<1x4x32x64xf16>
}

// The rows of the four heads of the query that share one of the key are one matrix.
// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[Q:.*]]: tensor<1x8x32x64xf16>, %[[K:.*]]: tensor<1x2x16x64xf16>, %[[M:.*]]: tensor<1x1x1x16xf16>
// CHECK-DAG: %[[T:.*]] = tcp.transpose %[[K]] {perm = array<i64: 0, 1, 3, 2>}
// CHECK-DAG: %[[R:.*]] = tcp.reshape %[[Q]] : tensor<1x8x32x64xf16> -> tensor<1x2x128x64xf16>
// CHECK: %[[P:.*]] = tcp.matmul %[[R]], %[[T]] : {{.*}} -> tensor<1x2x128x16xf16>
// CHECK: %[[S:.*]] = tcp.reshape %[[P]] : {{.*}} -> tensor<1x8x32x16xf16>
// CHECK: %[[A:.*]] = tcp.mul %[[S]]
// CHECK: %[[B:.*]] = tcp.add %[[A]], %[[M]]
// CHECK: %[[W:.*]] = tcp.softmax %[[B]] {dim = 3 : i64}
// A row without any score is 0, not NaN.
// CHECK: %[[MAX:.*]] = tcp.reduce_max %[[B]]
// CHECK: %[[NONE:.*]] = tcp.compare %[[MAX]], %{{.*}} {predicate = "eq"}
// CHECK: %[[N:.*]] = tcp.select %[[NONE]], %{{.*}}, %[[W]]
// CHECK: tcp.matmul %{{.*}}, %[[K]] : tensor<1x2x128x16xf16>
func.func @shared(%q: tensor<1x8x32x64xf16>, %k: tensor<1x2x16x64xf16>, %m: tensor<1x1x1x16xf16>) -> tensor<1x8x32x64xf16> attributes {tcp.target = "cpu"} {
  %0 = tcp.attention %q, %k, %k mask %m {scale = 0.125 : f64} : tensor<1x8x32x64xf16>, tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>, tensor<1x1x1x16xf16> -> tensor<1x8x32x64xf16>
  return %0 : tensor<1x8x32x64xf16>
}

// Heads of size 20: cuDNN refuses them.
// CHECK-LABEL: func.func @causal
// CHECK-DAG: %[[ROW:.*]] = tcp.iota {dim = 2 : index} : tensor<1x1x32x1xi32>
// CHECK-DAG: %[[COLUMN:.*]] = tcp.iota {dim = 3 : index} : tensor<1x1x1x32xi32>
// CHECK: %[[KEPT:.*]] = tcp.compare %[[ROW]], %[[COLUMN]] {predicate = "ge"}
// CHECK: %[[X:.*]] = tcp.select %[[KEPT]]
// CHECK: %[[W:.*]] = tcp.softmax %[[X]]
// CHECK-NOT: tcp.reduce_max
// CHECK: tcp.matmul %[[W]]
func.func @causal(%q: tensor<1x4x32x20xf16>) -> tensor<1x4x32x20xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.attention %q, %q, %q {causal, scale = 0.125 : f64} : tensor<1x4x32x20xf16>, tensor<1x4x32x20xf16>, tensor<1x4x32x20xf16> -> tensor<1x4x32x20xf16>
  return %0 : tensor<1x4x32x20xf16>
}

// cuDNN computes wrong results for a negative scale.
// CHECK-LABEL: func.func @negative
// CHECK-NOT: tcp.attention
// CHECK: tcp.softmax
func.func @negative(%q: tensor<1x4x32x64xf16>) -> tensor<1x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.attention %q, %q, %q {scale = -0.125 : f64} : tensor<1x4x32x64xf16>, tensor<1x4x32x64xf16>, tensor<1x4x32x64xf16> -> tensor<1x4x32x64xf16>
  return %0 : tensor<1x4x32x64xf16>
}

// Attention of weights alone is computed where weights are prepared, on the CPU.
// CHECK-LABEL: func.func @of_weights
// CHECK-NOT: tcp.attention
// CHECK: tcp.softmax
func.func @of_weights(%q: tensor<1x2x16x64xf16> {tcp.weight = "q"}, %v: tensor<1x2x16x64xf16> {tcp.weight = "v"}) -> tensor<1x2x16x64xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.attention %q, %q, %v {scale = 0.125 : f64} : tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16> -> tensor<1x2x16x64xf16>
  return %0 : tensor<1x2x16x64xf16>
}
