// RUN: convoy-opt %s --split-input-file --tcp-raise-attention | filecheck %s

// CHECK-LABEL: func.func @scaled
// CHECK-SAME: %[[Q:.*]]: tensor<2x4x32x64xf16>, %[[K:.*]]: tensor<2x4x48x64xf16>, %[[V:.*]]: tensor<2x4x48x64xf16>
// CHECK-NEXT: %[[O:.*]] = tcp.attention %[[Q]], %[[K]], %[[V]] {scale = 1.250000e-01 : f64}
// CHECK-NEXT: return %[[O]]
func.func @scaled(%q: tensor<2x4x32x64xf16>, %k: tensor<2x4x48x64xf16>, %v: tensor<2x4x48x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %c = arith.constant dense<8.0> : tensor<1x1x1x1xf16>
  %kt = tcp.transpose %k {perm = array<i64: 0, 1, 3, 2>} : tensor<2x4x48x64xf16> -> tensor<2x4x64x48xf16>
  %0 = tcp.matmul %q, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x48xf16> -> tensor<2x4x32x48xf16>
  %1 = tcp.div %0, %c : tensor<2x4x32x48xf16>, tensor<1x1x1x1xf16> -> tensor<2x4x32x48xf16>
  %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<2x4x32x48xf16> -> tensor<2x4x32x48xf16>
  %3 = tcp.matmul %2, %v : tensor<2x4x32x48xf16>, tensor<2x4x48x64xf16> -> tensor<2x4x32x64xf16>
  return %3 : tensor<2x4x32x64xf16>
}

// -----

// Numbers that scale query and key before the product; a softmax in f32.
// CHECK-LABEL: func.func @scaled_before
// CHECK: tcp.attention %{{.*}}, %arg1, %arg2 {scale = 1.250000e-01 : f64}
// CHECK-NOT: tcp.softmax
func.func @scaled_before(%q: tensor<2x32x4x64xf16>, %k: tensor<2x4x48x64xf16>, %v: tensor<2x4x48x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %c = arith.constant dense<0.25> : tensor<1x1x1x1xf16>
  %d = arith.constant dense<0.5> : tensor<1x1x1x1xf16>
  %a = tcp.mul %q, %c : tensor<2x32x4x64xf16>, tensor<1x1x1x1xf16> -> tensor<2x32x4x64xf16>
  %qt = tcp.transpose %a {perm = array<i64: 0, 2, 1, 3>} : tensor<2x32x4x64xf16> -> tensor<2x4x32x64xf16>
  %b = tcp.mul %d, %k : tensor<1x1x1x1xf16>, tensor<2x4x48x64xf16> -> tensor<2x4x48x64xf16>
  %kt = tcp.transpose %b {perm = array<i64: 0, 1, 3, 2>} : tensor<2x4x48x64xf16> -> tensor<2x4x64x48xf16>
  %0 = tcp.matmul %qt, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x48xf16> -> tensor<2x4x32x48xf16>
  %1 = tcp.cast %0 : tensor<2x4x32x48xf16> -> tensor<2x4x32x48xf32>
  %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<2x4x32x48xf32> -> tensor<2x4x32x48xf32>
  %3 = tcp.cast %2 : tensor<2x4x32x48xf32> -> tensor<2x4x32x48xf16>
  %4 = tcp.matmul %3, %v : tensor<2x4x32x48xf16>, tensor<2x4x48x64xf16> -> tensor<2x4x32x64xf16>
  return %4 : tensor<2x4x32x64xf16>
}

// -----

// Batch and heads are one dim of the products. The mask is a weight: rows that hide everything
// become NaN when weights are prepared.
// CHECK-LABEL: func.func @merged
// CHECK-SAME: %[[Q:.*]]: tensor<2x4x32x64xf16>, %[[K:.*]]: tensor<2x4x48x64xf16>, %[[V:.*]]: tensor<2x4x48x64xf16>, %[[M:.*]]: tensor<8x1x48xf16>
// CHECK: %[[R:.*]] = tcp.reshape %[[M]] : tensor<8x1x48xf16> -> tensor<2x4x1x48xf16>
// CHECK: %[[MOST:.*]] = tcp.reduce_max %[[R]] {dims = array<i64: 3>}
// CHECK: %[[HIDDEN:.*]] = tcp.compare %[[MOST]], %{{.*}} {predicate = "eq"}
// CHECK: %[[N:.*]] = tcp.select %[[HIDDEN]], %{{.*}}, %[[R]]
// CHECK: tcp.attention %[[Q]], %[[K]], %[[V]] mask %[[N]] {scale = 1.000000e+00 : f64}
func.func @merged(%q: tensor<2x4x32x64xf16>, %k: tensor<2x4x48x64xf16>, %v: tensor<2x4x48x64xf16>, %m: tensor<8x1x48xf16> {tcp.weight = "m"}) -> tensor<8x32x64xf16> attributes {tcp.target = "cuda"} {
  %q3 = tcp.reshape %q : tensor<2x4x32x64xf16> -> tensor<8x32x64xf16>
  %k3 = tcp.reshape %k : tensor<2x4x48x64xf16> -> tensor<8x48x64xf16>
  %v3 = tcp.reshape %v : tensor<2x4x48x64xf16> -> tensor<8x48x64xf16>
  %kt = tcp.transpose %k3 {perm = array<i64: 0, 2, 1>} : tensor<8x48x64xf16> -> tensor<8x64x48xf16>
  %0 = tcp.matmul %q3, %kt : tensor<8x32x64xf16>, tensor<8x64x48xf16> -> tensor<8x32x48xf16>
  %1 = tcp.add %m, %0 : tensor<8x1x48xf16>, tensor<8x32x48xf16> -> tensor<8x32x48xf16>
  %2 = tcp.softmax %1 {dim = 2 : i64} : tensor<8x32x48xf16> -> tensor<8x32x48xf16>
  %3 = tcp.matmul %2, %v3 : tensor<8x32x48xf16>, tensor<8x48x64xf16> -> tensor<8x32x64xf16>
  return %3 : tensor<8x32x64xf16>
}

// -----

// The bias of each head, and the mask of each window of an image, as Swin adds them.
// CHECK-LABEL: func.func @windows
// CHECK-SAME: %[[X:.*]]: tensor<8x3x49x32xf16>, %[[B:.*]]: tensor<1x3x49x49xf16> {{.*}}, %[[M:.*]]: tensor<1x4x1x49x49xf16>
// CHECK: %[[W:.*]] = tcp.broadcast %[[M]] : tensor<1x4x1x49x49xf16> -> tensor<2x4x1x49x49xf16>
// CHECK: %[[R:.*]] = tcp.reshape %[[W]] : tensor<2x4x1x49x49xf16> -> tensor<8x1x49x49xf16>
// CHECK: %[[SUM:.*]] = tcp.add %[[B]], %[[R]] : {{.*}} -> tensor<8x3x49x49xf16>
// CHECK: %[[N:.*]] = tcp.select %{{.*}}, %{{.*}}, %[[SUM]]
// CHECK: tcp.attention %[[X]], %[[X]], %[[X]] mask %[[N]]
func.func @windows(%x: tensor<8x3x49x32xf16>, %b: tensor<1x3x49x49xf16> {tcp.weight = "b"}, %m: tensor<1x4x1x49x49xf16> {tcp.weight = "m"}) -> tensor<8x3x49x32xf16> attributes {tcp.target = "cuda"} {
  %kt = tcp.transpose %x {perm = array<i64: 0, 1, 3, 2>} : tensor<8x3x49x32xf16> -> tensor<8x3x32x49xf16>
  %0 = tcp.matmul %x, %kt : tensor<8x3x49x32xf16>, tensor<8x3x32x49xf16> -> tensor<8x3x49x49xf16>
  %1 = tcp.add %0, %b : tensor<8x3x49x49xf16>, tensor<1x3x49x49xf16> -> tensor<8x3x49x49xf16>
  %2 = tcp.reshape %1 : tensor<8x3x49x49xf16> -> tensor<2x4x3x49x49xf16>
  %3 = tcp.add %2, %m : tensor<2x4x3x49x49xf16>, tensor<1x4x1x49x49xf16> -> tensor<2x4x3x49x49xf16>
  %4 = tcp.reshape %3 : tensor<2x4x3x49x49xf16> -> tensor<8x3x49x49xf16>
  %5 = tcp.softmax %4 {dim = 3 : i64} : tensor<8x3x49x49xf16> -> tensor<8x3x49x49xf16>
  %6 = tcp.matmul %5, %x : tensor<8x3x49x49xf16>, tensor<8x3x49x32xf16> -> tensor<8x3x49x32xf16>
  return %6 : tensor<8x3x49x32xf16>
}

// -----

// A padding mask of finite numbers needs no test for rows that hide everything. Its rows are one.
// CHECK-LABEL: func.func @padding
// CHECK: %[[M:.*]] = tcp.select %arg1, %{{.*}} : {{.*}} -> tensor<2x1x1x32xf16>
// CHECK-NEXT: tcp.attention %arg0, %arg0, %arg0 mask %[[M]]
func.func @padding(%x: tensor<2x4x32x64xf16>, %p: tensor<2x1x1x32xi1>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<-65504.0> : tensor<1x1x1x1xf16>
  %w = tcp.broadcast %p : tensor<2x1x1x32xi1> -> tensor<2x1x32x32xi1>
  %m = tcp.select %w, %zero, %low : tensor<2x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<2x1x32x32xf16>
  %kt = tcp.transpose %x {perm = array<i64: 0, 1, 3, 2>} : tensor<2x4x32x64xf16> -> tensor<2x4x64x32xf16>
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.add %0, %m : tensor<2x4x32x32xf16>, tensor<2x1x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %3 = tcp.matmul %2, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %3 : tensor<2x4x32x64xf16>
}

// -----

// Scores that are replaced by minus infinity.
// CHECK-LABEL: func.func @replaced
// CHECK: %[[M:.*]] = tcp.select %arg1, %{{.*}} : {{.*}} -> tensor<2x1x32x32xf16>
// CHECK: %[[N:.*]] = tcp.select %{{.*}}, %{{.*}}, %[[M]]
// CHECK: tcp.attention %arg0, %arg0, %arg0 mask %[[N]]
func.func @replaced(%x: tensor<2x4x32x64xf16>, %p: tensor<2x1x32x32xi1>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %kt = tcp.transpose %x {perm = array<i64: 0, 1, 3, 2>} : tensor<2x4x32x64xf16> -> tensor<2x4x64x32xf16>
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.select %p, %low, %0 : tensor<2x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %3 = tcp.matmul %2, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %3 : tensor<2x4x32x64xf16>
}

// -----

// A row whose scores are all replaced by the same finite number is uniform: no sum of f16 is.
// CHECK-LABEL: func.func @replaced_by_finite
// CHECK: tcp.softmax
func.func @replaced_by_finite(%x: tensor<2x4x32x64xf16>, %p: tensor<2x1x32x32xi1>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %low = arith.constant dense<-65504.0> : tensor<1x1x1x1xf16>
  %kt = tcp.transpose %x {perm = array<i64: 0, 1, 3, 2>} : tensor<2x4x32x64xf16> -> tensor<2x4x64x32xf16>
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.select %p, %low, %0 : tensor<2x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %3 = tcp.matmul %2, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %3 : tensor<2x4x32x64xf16>
}

// -----

// Scores above the diagonal are replaced, in every row but the last one.
// CHECK-LABEL: func.func @causal
// CHECK: tcp.attention %arg0, %arg0, %arg0 {causal, scale = 1.000000e+00 : f64}
func.func @causal(%x: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %low = arith.constant dense<-65504.0> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %p = tcp.compare %column, %row {predicate = "gt"} : tensor<1x1x1x32xi64>, tensor<1x1x32x1xi64> -> tensor<1x1x32x32xi1>
  %kt = tcp.transpose %x {perm = array<i64: 0, 1, 3, 2>} : tensor<2x4x32x64xf16> -> tensor<2x4x64x32xf16>
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.select %p, %low, %0 : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %3 = tcp.matmul %2, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %3 : tensor<2x4x32x64xf16>
}

// -----

// The diagonal is hidden too, so the first row is: not causal.
// CHECK-LABEL: func.func @nearly_causal
// CHECK-NOT: causal,
// CHECK: return
func.func @nearly_causal(%x: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %p = tcp.compare %column, %row {predicate = "ge"} : tensor<1x1x1x32xi64>, tensor<1x1x32x1xi64> -> tensor<1x1x32x32xi1>
  %kt = tcp.transpose %x {perm = array<i64: 0, 1, 3, 2>} : tensor<2x4x32x64xf16> -> tensor<2x4x64x32xf16>
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.select %p, %low, %0 : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %3 = tcp.matmul %2, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %3 : tensor<2x4x32x64xf16>
}

// -----

// A mask of attention: -1e4 does not hide every score, minus infinity does. On both targets.
// CHECK-LABEL: func.func @masks
// CHECK: %[[WEAK:.*]] = tcp.select
// CHECK: tcp.attention %arg0, %arg0, %arg0 mask %[[WEAK]] {scale
// CHECK: tcp.attention %arg0, %arg0, %arg0 {causal, scale
// CHECK: tcp.attention %arg0, %arg0, %arg0 {scale
func.func @masks(%x: tensor<2x4x32x64xf32>) -> (tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf32>
  %weak = arith.constant dense<-1.0e+04> : tensor<1x1x1x1xf32>
  %low = arith.constant dense<0xFF800000> : tensor<1x1x1x1xf32>
  %row = tcp.iota {dim = 2 : index} : tensor<1x1x32x1xi64>
  %column = tcp.iota {dim = 3 : index} : tensor<1x1x1x32xi64>
  %p = tcp.compare %row, %column {predicate = "ge"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %0 = tcp.select %p, %zero, %weak : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32> -> tensor<1x1x32x32xf32>
  %1 = tcp.attention %x, %x, %x mask %0 {scale = 0.125 : f64} : tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>, tensor<1x1x32x32xf32> -> tensor<2x4x32x64xf32>
  %2 = tcp.select %p, %zero, %low : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32> -> tensor<1x1x32x32xf32>
  %3 = tcp.attention %x, %x, %x mask %2 {scale = 0.125 : f64} : tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>, tensor<1x1x32x32xf32> -> tensor<2x4x32x64xf32>
  %4 = tcp.attention %x, %x, %x mask %zero {scale = 0.125 : f64} : tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>, tensor<1x1x1x1xf32> -> tensor<2x4x32x64xf32>
  return %1, %3, %4 : tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>
}

// -----

// CHECK-LABEL: func.func @repeated_heads
// CHECK-NEXT: tcp.attention %arg0, %arg1, %arg1 {scale
func.func @repeated_heads(%q: tensor<2x8x32x64xf32>, %k: tensor<2x2x32x64xf32>) -> tensor<2x8x32x64xf32> attributes {tcp.target = "cpu"} {
  %0 = tcp.reshape %k : tensor<2x2x32x64xf32> -> tensor<2x2x1x32x64xf32>
  %1 = tcp.broadcast %0 : tensor<2x2x1x32x64xf32> -> tensor<2x2x4x32x64xf32>
  %2 = tcp.reshape %1 : tensor<2x2x4x32x64xf32> -> tensor<2x8x32x64xf32>
  %3 = tcp.attention %q, %2, %2 {scale = 0.125 : f64} : tensor<2x8x32x64xf32>, tensor<2x8x32x64xf32>, tensor<2x8x32x64xf32> -> tensor<2x8x32x64xf32>
  return %3 : tensor<2x8x32x64xf32>
}

// -----

// The heads are repeated as a whole: heads next to each other are not the same.
// CHECK-LABEL: func.func @tiled_heads
// CHECK: tcp.attention %arg0, %2, %2
func.func @tiled_heads(%q: tensor<2x8x32x64xf32>, %k: tensor<2x2x32x64xf32>) -> tensor<2x8x32x64xf32> attributes {tcp.target = "cpu"} {
  %0 = tcp.reshape %k : tensor<2x2x32x64xf32> -> tensor<2x1x2x32x64xf32>
  %1 = tcp.broadcast %0 : tensor<2x1x2x32x64xf32> -> tensor<2x4x2x32x64xf32>
  %2 = tcp.reshape %1 : tensor<2x4x2x32x64xf32> -> tensor<2x8x32x64xf32>
  %3 = tcp.attention %q, %2, %2 {scale = 0.125 : f64} : tensor<2x8x32x64xf32>, tensor<2x8x32x64xf32>, tensor<2x8x32x64xf32> -> tensor<2x8x32x64xf32>
  return %3 : tensor<2x8x32x64xf32>
}

// -----

// CHECK-LABEL: func.func @scores_used_twice
// CHECK: tcp.softmax
func.func @scores_used_twice(%x: tensor<2x4x32x64xf16>, %kt: tensor<2x4x64x32xf16>) -> (tensor<2x4x32x64xf16>, tensor<2x4x32x32xf16>) attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.softmax %0 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.matmul %1, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %2, %0 : tensor<2x4x32x64xf16>, tensor<2x4x32x32xf16>
}

// -----

// CHECK-LABEL: func.func @weights_used_twice
// CHECK: tcp.softmax
func.func @weights_used_twice(%x: tensor<2x4x32x64xf16>, %kt: tensor<2x4x64x32xf16>) -> (tensor<2x4x32x64xf16>, tensor<2x4x32x32xf16>) attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.softmax %0 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.matmul %1, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %2, %1 : tensor<2x4x32x64xf16>, tensor<2x4x32x32xf16>
}

// -----

// A softmax over rows.
// CHECK-LABEL: func.func @other_dim
// CHECK: tcp.softmax
func.func @other_dim(%x: tensor<2x4x32x64xf16>, %kt: tensor<2x4x64x32xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.softmax %0 {dim = 2 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.matmul %1, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %2 : tensor<2x4x32x64xf16>
}

// -----

// A negative scale, and one of the sum of scores and a mask.
// CHECK-LABEL: func.func @other_scales
// CHECK-COUNT-2: tcp.softmax
func.func @other_scales(%x: tensor<2x4x32x64xf16>, %kt: tensor<2x4x64x32xf16>, %m: tensor<1x1x32x32xf16>) -> (tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>) attributes {tcp.target = "cuda"} {
  %c = arith.constant dense<-0.25> : tensor<1x1x1x1xf16>
  %d = arith.constant dense<0.25> : tensor<1x1x1x1xf16>
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.mul %0, %c : tensor<2x4x32x32xf16>, tensor<1x1x1x1xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %3 = tcp.matmul %2, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  %4 = tcp.matmul %3, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %5 = tcp.add %4, %m : tensor<2x4x32x32xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x32xf16>
  %6 = tcp.mul %5, %d : tensor<2x4x32x32xf16>, tensor<1x1x1x1xf16> -> tensor<2x4x32x32xf16>
  %7 = tcp.softmax %6 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %8 = tcp.matmul %7, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %3, %8 : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>
}

// -----

// Heads of size 20 in f32, which cuDNN refuses; a mask of each head that depends on an input; the
// CPU.
// CHECK-LABEL: func.func @refused
// CHECK: tcp.softmax
func.func @refused(%x: tensor<2x4x32x20xf32>, %kt: tensor<2x4x20x32xf32>) -> tensor<2x4x32x20xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x20xf32>, tensor<2x4x20x32xf32> -> tensor<2x4x32x32xf32>
  %1 = tcp.softmax %0 {dim = 3 : i64} : tensor<2x4x32x32xf32> -> tensor<2x4x32x32xf32>
  %2 = tcp.matmul %1, %x : tensor<2x4x32x32xf32>, tensor<2x4x32x20xf32> -> tensor<2x4x32x20xf32>
  return %2 : tensor<2x4x32x20xf32>
}
// In 16 bits tcp-pad-attention pads heads of size 20.
// CHECK-LABEL: func.func @padded
// CHECK: tcp.attention
func.func @padded(%x: tensor<2x4x32x20xf16>, %kt: tensor<2x4x20x32xf16>) -> tensor<2x4x32x20xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x20xf16>, tensor<2x4x20x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.softmax %0 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.matmul %1, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x20xf16> -> tensor<2x4x32x20xf16>
  return %2 : tensor<2x4x32x20xf16>
}
// CHECK-LABEL: func.func @mask_of_heads
// CHECK: tcp.softmax
func.func @mask_of_heads(%x: tensor<2x4x32x64xf16>, %kt: tensor<2x4x64x32xf16>, %m: tensor<2x4x32x32xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.add %0, %m : tensor<2x4x32x32xf16>, tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %3 = tcp.matmul %2, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %3 : tensor<2x4x32x64xf16>
}
// CHECK-LABEL: func.func @cpu
// CHECK: tcp.softmax
func.func @cpu(%x: tensor<2x4x32x64xf16>, %kt: tensor<2x4x64x32xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cpu"} {
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.softmax %0 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.matmul %1, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %2 : tensor<2x4x32x64xf16>
}

// -----

// The weights of one image are those of all values; a group keeps its ops.
// CHECK-LABEL: func.func @shared_weights
// CHECK: tcp.softmax
func.func @shared_weights(%q: tensor<1x4x32x64xf16>, %kt: tensor<1x4x64x32xf16>, %v: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %q, %kt : tensor<1x4x32x64xf16>, tensor<1x4x64x32xf16> -> tensor<1x4x32x32xf16>
  %1 = tcp.softmax %0 {dim = 3 : i64} : tensor<1x4x32x32xf16> -> tensor<1x4x32x32xf16>
  %2 = tcp.matmul %1, %v : tensor<1x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %2 : tensor<2x4x32x64xf16>
}
// CHECK-LABEL: func.func @group
// CHECK: tcp.softmax
func.func @group(%q: tensor<1x4x32x64xf16>, %kt: tensor<1x4x64x32xf16>) -> tensor<1x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.isolated_group %q, %kt {
  ^bb0(%a: tensor<1x4x32x64xf16>, %b: tensor<1x4x64x32xf16>):
    %1 = tcp.matmul %a, %b : tensor<1x4x32x64xf16>, tensor<1x4x64x32xf16> -> tensor<1x4x32x32xf16>
    %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<1x4x32x32xf16> -> tensor<1x4x32x32xf16>
    %3 = tcp.matmul %2, %a : tensor<1x4x32x32xf16>, tensor<1x4x32x64xf16> -> tensor<1x4x32x64xf16>
    tcp.yield %3 : tensor<1x4x32x64xf16>
  } : tensor<1x4x32x64xf16>, tensor<1x4x64x32xf16> -> tensor<1x4x32x64xf16>
  return %0 : tensor<1x4x32x64xf16>
}
