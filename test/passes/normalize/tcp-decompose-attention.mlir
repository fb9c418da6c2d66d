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

// A softcap, before the columns outside of a window are hidden. A row below all columns is 0.
// CHECK-LABEL: func.func @softcap
// CHECK: %[[P:.*]] = tcp.matmul
// CHECK: %[[A:.*]] = tcp.mul %[[P]], %{{.*}}
// CHECK: %[[CAP:.*]] = arith.constant dense<5.000000e+01> : tensor<1x1x1x1xf32>
// CHECK: %[[B:.*]] = tcp.div %[[A]], %[[CAP]]
// CHECK: %[[T:.*]] = tcp.tanh %[[B]]
// CHECK: %[[C:.*]] = arith.constant dense<5.000000e+01> : tensor<1x1x1x1xf32>
// CHECK: %[[S:.*]] = tcp.mul %[[T]], %[[C]]
// CHECK: %[[KEPT:.*]] = tcp.compare %{{.*}}, %{{.*}} {predicate = "ge"}
// CHECK: %[[X:.*]] = tcp.select %[[KEPT]], %[[S]]
// CHECK: %[[ROW:.*]] = tcp.iota {dim = 2 : index} : tensor<1x1x32x1xi32>
// CHECK: %[[COLUMN:.*]] = tcp.iota {dim = 3 : index} : tensor<1x1x1x16xi32>
// CHECK: %[[WIDTH:.*]] = arith.constant dense<8> : tensor<1x1x1x1xi32>
// CHECK: %[[END:.*]] = tcp.add %[[COLUMN]], %[[WIDTH]]
// CHECK: %[[INSIDE:.*]] = tcp.compare %[[END]], %[[ROW]] {predicate = "gt"}
// CHECK: %[[Y:.*]] = tcp.select %[[INSIDE]], %[[X]]
// CHECK: tcp.softmax %[[Y]]
// CHECK: tcp.reduce_max %[[Y]]
func.func @softcap(%q: tensor<1x4x32x64xf32>, %k: tensor<1x4x16x64xf32>) -> tensor<1x4x32x64xf32> attributes {tcp.target = "cpu"} {
  %0 = tcp.attention %q, %k, %k {causal, scale = 0.125 : f64, softcap = 50.0 : f64, window = 8 : i64} : tensor<1x4x32x64xf32>, tensor<1x4x16x64xf32>, tensor<1x4x16x64xf32> -> tensor<1x4x32x64xf32>
  return %0 : tensor<1x4x32x64xf32>
}
