// RUN: convoy-opt %s --tcp-split-softmax | filecheck %s

// 8 rows of f16: parts of 1024, whose exponentials have the precision of f16. The kernel that reads the
// parts reads f16.
// CHECK-LABEL: func.func @log_softmax
// CHECK: %[[X:.*]] = tcp.cast %arg0
// CHECK: %[[H:.*]] = tcp.reshape %arg0 : tensor<8x65536xf16> -> tensor<8x64x1024xf16>
// CHECK: %[[P:.*]] = tcp.cast %[[H]] : tensor<8x64x1024xf16> -> tensor<8x64x1024xf32>
// CHECK: %[[T:.*]] = tcp.reduce_max %[[P]] {dims = array<i64: 2>}
// CHECK: %[[F:.*]] = tcp.select %{{.*}}, %{{.*}}, %[[T]]
// CHECK: %[[D:.*]] = tcp.sub %[[P]], %[[F]]
// CHECK: %[[E:.*]] = tcp.exp %[[D]] {tcp.narrow}
// CHECK: %[[U:.*]] = tcp.reduce_sum %[[E]] {dims = array<i64: 2>}
// CHECK: %[[R:.*]] = tcp.reduce_max %[[T]] {dims = array<i64: 1>}
// CHECK: %[[M:.*]] = tcp.reshape %[[R]] : tensor<8x1x1xf32> -> tensor<8x1xf32>
// CHECK: %[[Z:.*]] = tcp.sub %[[X]], %[[M]]
// CHECK: %[[START:.*]] = tcp.reshape %[[M]] : tensor<8x1xf32> -> tensor<8x1x1xf32>
// CHECK: %[[G:.*]] = tcp.select %{{.*}}, %{{.*}}, %[[T]]
// CHECK: %[[W:.*]] = tcp.sub %[[G]], %[[START]]
// CHECK: %[[K:.*]] = tcp.exp %[[W]] {tcp.narrow}
// CHECK: %[[V:.*]] = tcp.mul %[[U]], %[[K]]
// CHECK: %[[Q:.*]] = tcp.reduce_sum %[[V]] {dims = array<i64: 1>}
// CHECK: %[[S:.*]] = tcp.reshape %[[Q]] : tensor<8x1x1xf32> -> tensor<8x1xf32>
// CHECK: tcp.log %[[S]]
func.func @log_softmax(%arg0: tensor<8x65536xf16>) -> tensor<8x65536xf16> attributes {tcp.target = "cuda"} {
  %x = tcp.cast %arg0 : tensor<8x65536xf16> -> tensor<8x65536xf32>
  %m = tcp.reduce_max %x {dims = array<i64: 1>} : tensor<8x65536xf32> -> tensor<8x1xf32>
  %z = tcp.sub %x, %m : tensor<8x65536xf32>, tensor<8x1xf32> -> tensor<8x65536xf32>
  %e = tcp.exp %z : tensor<8x65536xf32> -> tensor<8x65536xf32>
  %s = tcp.reduce_sum %e {dims = array<i64: 1>} : tensor<8x65536xf32> -> tensor<8x1xf32>
  %l = tcp.log %s : tensor<8x1xf32> -> tensor<8x1xf32>
  %d = tcp.sub %z, %l : tensor<8x65536xf32>, tensor<8x1xf32> -> tensor<8x65536xf32>
  %y = tcp.cast %d : tensor<8x65536xf32> -> tensor<8x65536xf16>
  return %y : tensor<8x65536xf16>
}

// The largest divisor of 50257 that is at most 8192, in f32, which is not approximated.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: tcp.softmax
// CHECK: tensor<2x29x1733x1xf32>
// CHECK-NOT: tcp.narrow
// CHECK: tcp.div
func.func @softmax(%arg0: tensor<2x50257x1xf32>) -> tensor<2x50257x1xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.softmax %arg0 {dim = 1 : i64} : tensor<2x50257x1xf32> -> tensor<2x50257x1xf32>
  return %0 : tensor<2x50257x1xf32>
}

// A block has no registers for all elements of a row.
// CHECK-LABEL: func.func @softmax_of_many
// CHECK-NOT: tcp.softmax
// CHECK: tensor<512x36x3563xf16>
// CHECK: tcp.div
func.func @softmax_of_many(%arg0: tensor<512x128268xf16>) -> tensor<512x128268xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.softmax %arg0 {dim = 1 : i64} : tensor<512x128268xf16> -> tensor<512x128268xf16>
  return %0 : tensor<512x128268xf16>
}

// One kernel computes the rows if there are many, or if they are short. Others have no part of at
// least 256 elements, as prime numbers, or are not contiguous.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-4: tcp.softmax
// CHECK-NOT: tcp.reduce
func.func @stays(%many: tensor<64x65536xf16>, %short: tensor<2x16384xf16>, %prime: tensor<2x50021xf16>, %strided: tensor<65536x2xf16>) -> (tensor<64x65536xf16>, tensor<2x16384xf16>, tensor<2x50021xf16>, tensor<65536x2xf16>) attributes {tcp.target = "cuda"} {
  %0 = tcp.softmax %many {dim = 1 : i64} : tensor<64x65536xf16> -> tensor<64x65536xf16>
  %1 = tcp.softmax %short {dim = 1 : i64} : tensor<2x16384xf16> -> tensor<2x16384xf16>
  %2 = tcp.softmax %prime {dim = 1 : i64} : tensor<2x50021xf16> -> tensor<2x50021xf16>
  %3 = tcp.softmax %strided {dim = 0 : i64} : tensor<65536x2xf16> -> tensor<65536x2xf16>
  return %0, %1, %2, %3 : tensor<64x65536xf16>, tensor<2x16384xf16>, tensor<2x50021xf16>, tensor<65536x2xf16>
}

// The sum of exponentials of short rows that come from f16 is approximate.
// CHECK-LABEL: func.func @short
// CHECK: tcp.exp %{{.*}} {tcp.narrow}
// CHECK: return
func.func @short(%arg0: tensor<8x1000xf16>) -> tensor<8x1xf32> attributes {tcp.target = "cuda"} {
  %x = tcp.cast %arg0 : tensor<8x1000xf16> -> tensor<8x1000xf32>
  %m = tcp.reduce_max %x {dims = array<i64: 1>} : tensor<8x1000xf32> -> tensor<8x1xf32>
  %z = tcp.sub %x, %m : tensor<8x1000xf32>, tensor<8x1xf32> -> tensor<8x1000xf32>
  %e = tcp.exp %z : tensor<8x1000xf32> -> tensor<8x1000xf32>
  %s = tcp.reduce_sum %e {dims = array<i64: 1>} : tensor<8x1000xf32> -> tensor<8x1xf32>
  return %s : tensor<8x1xf32>
}

// It is not if another op reads the exponentials, or if the rows come from f32.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK-NOT: tcp.narrow
// CHECK: return
func.func @read_elsewhere(%arg0: tensor<8x1000xf16>) -> (tensor<8x1xf32>, tensor<8x1000xf32>) attributes {tcp.target = "cuda"} {
  %x = tcp.cast %arg0 : tensor<8x1000xf16> -> tensor<8x1000xf32>
  %m = tcp.reduce_max %x {dims = array<i64: 1>} : tensor<8x1000xf32> -> tensor<8x1xf32>
  %z = tcp.sub %x, %m : tensor<8x1000xf32>, tensor<8x1xf32> -> tensor<8x1000xf32>
  %e = tcp.exp %z : tensor<8x1000xf32> -> tensor<8x1000xf32>
  %s = tcp.reduce_sum %e {dims = array<i64: 1>} : tensor<8x1000xf32> -> tensor<8x1xf32>
  return %s, %e : tensor<8x1xf32>, tensor<8x1000xf32>
}

// CHECK-LABEL: func.func @short_f32
// CHECK-NOT: tcp.narrow
// CHECK: return
func.func @short_f32(%x: tensor<8x1000xf32>) -> tensor<8x1xf32> attributes {tcp.target = "cuda"} {
  %m = tcp.reduce_max %x {dims = array<i64: 1>} : tensor<8x1000xf32> -> tensor<8x1xf32>
  %z = tcp.sub %x, %m : tensor<8x1000xf32>, tensor<8x1xf32> -> tensor<8x1000xf32>
  %e = tcp.exp %z : tensor<8x1000xf32> -> tensor<8x1000xf32>
  %s = tcp.reduce_sum %e {dims = array<i64: 1>} : tensor<8x1000xf32> -> tensor<8x1xf32>
  return %s : tensor<8x1xf32>
}

// The maximum is of another tensor, or of another dim.
// CHECK-LABEL: func.func @other_maximum
// CHECK-NOT: tcp.reshape
// CHECK: return
func.func @other_maximum(%x: tensor<2x65536xf32>, %y: tensor<2x65536xf32>) -> tensor<2x1xf32> attributes {tcp.target = "cuda"} {
  %m = tcp.reduce_max %y {dims = array<i64: 1>} : tensor<2x65536xf32> -> tensor<2x1xf32>
  %z = tcp.sub %x, %m : tensor<2x65536xf32>, tensor<2x1xf32> -> tensor<2x65536xf32>
  %e = tcp.exp %z : tensor<2x65536xf32> -> tensor<2x65536xf32>
  %s = tcp.reduce_sum %e {dims = array<i64: 1>} : tensor<2x65536xf32> -> tensor<2x1xf32>
  return %s : tensor<2x1xf32>
}

// CHECK-LABEL: func.func @on_the_cpu
// CHECK: tcp.softmax
func.func @on_the_cpu(%arg0: tensor<2x65536xf32>) -> tensor<2x65536xf32> attributes {tcp.target = "cpu"} {
  %0 = tcp.softmax %arg0 {dim = 1 : i64} : tensor<2x65536xf32> -> tensor<2x65536xf32>
  return %0 : tensor<2x65536xf32>
}
