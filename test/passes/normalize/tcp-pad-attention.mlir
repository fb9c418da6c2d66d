// RUN: convoy-opt %s --split-input-file --tcp-pad-attention --cse | filecheck %s

// Heads of 36 elements, 72 bytes: query, key and value are slices of one product, whose weight and
// bias get zero columns. The weight of the product after attention gets zero rows. The scale stays.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[X:.*]]: tensor<64x72xf16>, %[[W:.*]]: tensor<72x216xf16>{{.*}}, %[[B:.*]]: tensor<1x216xf16>{{.*}}, %[[O:.*]]: tensor<72x72xf16>
// CHECK-DAG: %[[W0:.*]] = tcp.reshape %[[W]] : tensor<72x216xf16> -> tensor<72x6x36xf16>
// CHECK-DAG: %[[W1:.*]] = tcp.pad %[[W0]] {high = array<i64: 0, 0, 4>, {{.*}}value = 0.0{{.*}}-> tensor<72x6x40xf16>
// CHECK-DAG: %[[W2:.*]] = tcp.reshape %[[W1]] : tensor<72x6x40xf16> -> tensor<72x240xf16>
// CHECK-DAG: %[[P:.*]] = tcp.matmul %[[X]], %[[W2]] : {{.*}} -> tensor<64x240xf16>
// CHECK-DAG: %[[B0:.*]] = tcp.reshape %[[B]] : tensor<1x216xf16> -> tensor<1x6x36xf16>
// CHECK-DAG: %[[B1:.*]] = tcp.pad %[[B0]] {high = array<i64: 0, 0, 4>
// CHECK-DAG: %[[B2:.*]] = tcp.reshape %[[B1]] : tensor<1x6x40xf16> -> tensor<1x240xf16>
// CHECK: %[[S:.*]] = tcp.add %[[P]], %[[B2]]
// CHECK: %[[R:.*]] = tcp.reshape %[[S]] : tensor<64x240xf16> -> tensor<1x64x3x2x40xf16>
// CHECK: %[[T:.*]] = tcp.transpose %[[R]]
// CHECK: tcp.slice %[[T]] {sizes = array<i64: 1, 1, 2, 64, 40>, starts = array<i64: 0, 0, 0, 0, 0>
// CHECK: tcp.slice %[[T]] {sizes = array<i64: 1, 1, 2, 64, 40>, starts = array<i64: 1, 0, 0, 0, 0>
// CHECK: tcp.slice %[[T]] {sizes = array<i64: 1, 1, 2, 64, 40>, starts = array<i64: 2, 0, 0, 0, 0>
// CHECK-NOT: tcp.pad
// CHECK: %[[A:.*]] = tcp.attention {{.*}} {scale = 0.16666666666666666 : f64} : {{.*}} -> tensor<1x2x64x40xf16>
// CHECK: %[[AT:.*]] = tcp.transpose %[[A]]
// CHECK: %[[AR:.*]] = tcp.reshape %[[AT]] : tensor<1x64x2x40xf16> -> tensor<64x80xf16>
// CHECK: %[[O0:.*]] = tcp.reshape %[[O]] : tensor<72x72xf16> -> tensor<2x36x72xf16>
// CHECK: %[[O1:.*]] = tcp.pad %[[O0]] {high = array<i64: 0, 4, 0>
// CHECK: %[[O2:.*]] = tcp.reshape %[[O1]] : tensor<2x40x72xf16> -> tensor<80x72xf16>
// CHECK: tcp.matmul %[[AR]], %[[O2]] : {{.*}} -> tensor<64x72xf16>
func.func @packed(%x: tensor<64x72xf16>, %w: tensor<72x216xf16> {tcp.weight = "w"}, %b: tensor<1x216xf16> {tcp.weight = "b"}, %o: tensor<72x72xf16> {tcp.weight = "o"}) -> tensor<64x72xf16> attributes {tcp.target = "cuda"} {
  %p = tcp.matmul %x, %w : tensor<64x72xf16>, tensor<72x216xf16> -> tensor<64x216xf16>
  %s = tcp.add %p, %b : tensor<64x216xf16>, tensor<1x216xf16> -> tensor<64x216xf16>
  %0 = tcp.reshape %s : tensor<64x216xf16> -> tensor<1x64x3x2x36xf16>
  %1 = tcp.transpose %0 {perm = array<i64: 2, 0, 3, 1, 4>} : tensor<1x64x3x2x36xf16> -> tensor<3x1x2x64x36xf16>
  %2 = tcp.slice %1 {sizes = array<i64: 1, 1, 2, 64, 36>, starts = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>} : tensor<3x1x2x64x36xf16> -> tensor<1x1x2x64x36xf16>
  %q = tcp.reshape %2 : tensor<1x1x2x64x36xf16> -> tensor<1x2x64x36xf16>
  %3 = tcp.slice %1 {sizes = array<i64: 1, 1, 2, 64, 36>, starts = array<i64: 1, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>} : tensor<3x1x2x64x36xf16> -> tensor<1x1x2x64x36xf16>
  %k = tcp.reshape %3 : tensor<1x1x2x64x36xf16> -> tensor<1x2x64x36xf16>
  %4 = tcp.slice %1 {sizes = array<i64: 1, 1, 2, 64, 36>, starts = array<i64: 2, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>} : tensor<3x1x2x64x36xf16> -> tensor<1x1x2x64x36xf16>
  %v = tcp.reshape %4 : tensor<1x1x2x64x36xf16> -> tensor<1x2x64x36xf16>
  %a = tcp.attention %q, %k, %v {scale = 0.16666666666666666 : f64} : tensor<1x2x64x36xf16>, tensor<1x2x64x36xf16>, tensor<1x2x64x36xf16> -> tensor<1x2x64x36xf16>
  %t = tcp.transpose %a {perm = array<i64: 0, 2, 1, 3>} : tensor<1x2x64x36xf16> -> tensor<1x64x2x36xf16>
  %r = tcp.reshape %t : tensor<1x64x2x36xf16> -> tensor<64x72xf16>
  %y = tcp.matmul %r, %o : tensor<64x72xf16>, tensor<72x72xf16> -> tensor<64x72xf16>
  return %y : tensor<64x72xf16>
}

// -----

// Arguments are copied. The slice is after the transpose, which the group has.
// CHECK-LABEL: func.func @arguments
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x256x33xbf16>, %[[K:.*]]: tensor<1x2x256x33xbf16>, %[[V:.*]]: tensor<1x2x256x64xbf16>, %[[M:.*]]: tensor<1x1x1x256xbf16>
// CHECK: %[[QP:.*]] = tcp.pad %[[Q]] {high = array<i64: 0, 0, 0, 7>
// CHECK: %[[KP:.*]] = tcp.pad %[[K]] {high = array<i64: 0, 0, 0, 7>
// CHECK: %[[A:.*]] = tcp.attention %[[QP]], %[[KP]], %[[V]] mask %[[M]] {causal, scale = 2.500000e-01 : f64} : tensor<1x4x256x40xbf16>, tensor<1x2x256x40xbf16>, tensor<1x2x256x64xbf16>, {{.*}} -> tensor<1x4x256x64xbf16>
// CHECK: return %[[A]]
func.func @arguments(%q: tensor<1x4x256x33xbf16>, %k: tensor<1x2x256x33xbf16>, %v: tensor<1x2x256x64xbf16>, %m: tensor<1x1x1x256xbf16>) -> tensor<1x4x256x64xbf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.attention %q, %k, %v mask %m {causal, scale = 0.25 : f64} : tensor<1x4x256x33xbf16>, tensor<1x2x256x33xbf16>, tensor<1x2x256x64xbf16>, tensor<1x1x1x256xbf16> -> tensor<1x4x256x64xbf16>
  return %0 : tensor<1x4x256x64xbf16>
}

// -----

// CHECK-LABEL: func.func @value
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x256x64xf16>, %[[V:.*]]: tensor<1x4x256x1xf16>
// CHECK: %[[P:.*]] = tcp.pad %[[V]] {high = array<i64: 0, 0, 0, 7>
// CHECK: %[[A:.*]] = tcp.attention %[[Q]], %[[Q]], %[[P]]
// CHECK: %[[T:.*]] = tcp.transpose %[[A]] {{.*}} -> tensor<1x256x4x8xf16>
// CHECK: %[[S:.*]] = tcp.slice %[[T]] {sizes = array<i64: 1, 256, 4, 1>, starts = array<i64: 0, 0, 0, 0>
// CHECK: return %[[S]]
func.func @value(%q: tensor<1x4x256x64xf16>, %v: tensor<1x4x256x1xf16>) -> tensor<1x256x4x1xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.attention %q, %q, %v {scale = 0.125 : f64} : tensor<1x4x256x64xf16>, tensor<1x4x256x64xf16>, tensor<1x4x256x1xf16> -> tensor<1x4x256x1xf16>
  %1 = tcp.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : tensor<1x4x256x1xf16> -> tensor<1x256x4x1xf16>
  return %1 : tensor<1x256x4x1xf16>
}

// -----

// Heads of one element. A view has no dim for them, or has others of size 1 after them.
// CHECK-LABEL: func.func @one
// CHECK: tcp.pad %{{.*}} {high = array<i64: 0, 0, 7>{{.*}} : tensor<4x4x1xf16> -> tensor<4x4x8xf16>
// CHECK: %[[P:.*]] = tcp.matmul %{{.*}} -> tensor<64x32xf16>
// CHECK: %[[T:.*]] = tcp.transpose %[[P]] {perm = array<i64: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
// CHECK: %[[R:.*]] = tcp.reshape %[[T]] : tensor<32x64xf16> -> tensor<1x4x8x64xf16>
// CHECK: %[[Q:.*]] = tcp.transpose %[[R]] {perm = array<i64: 0, 1, 3, 2>}
// CHECK: tcp.attention %[[Q]], %[[Q]], %[[Q]]
// CHECK: tcp.matmul %{{.*}} : tensor<64x32xf16>, tensor<32x4xf16> -> tensor<64x4xf16>
func.func @one(%x: tensor<64x4xf16>, %w: tensor<4x4xf16> {tcp.weight = "w"}) -> tensor<64x4xf16> attributes {tcp.target = "cuda"} {
  %p = tcp.matmul %x, %w : tensor<64x4xf16>, tensor<4x4xf16> -> tensor<64x4xf16>
  %t = tcp.transpose %p {perm = array<i64: 1, 0>} : tensor<64x4xf16> -> tensor<4x64xf16>
  %r = tcp.reshape %t : tensor<4x64xf16> -> tensor<1x4x1x64xf16>
  %q = tcp.transpose %r {perm = array<i64: 0, 1, 3, 2>} : tensor<1x4x1x64xf16> -> tensor<1x4x64x1xf16>
  %a = tcp.attention %q, %q, %q {scale = 1.0 : f64} : tensor<1x4x64x1xf16>, tensor<1x4x64x1xf16>, tensor<1x4x64x1xf16> -> tensor<1x4x64x1xf16>
  %b = tcp.transpose %a {perm = array<i64: 0, 2, 1, 3>} : tensor<1x4x64x1xf16> -> tensor<1x64x4x1xf16>
  %c = tcp.reshape %b : tensor<1x64x4x1xf16> -> tensor<64x4xf16>
  %y = tcp.matmul %c, %w : tensor<64x4xf16>, tensor<4x4xf16> -> tensor<64x4xf16>
  return %y : tensor<64x4xf16>
}

// -----

// The product has another use, its sum is with one number, or its columns are not whole heads.
// CHECK-LABEL: func.func @copied
// CHECK-COUNT-3: tcp.pad {{.*}} : tensor<1x1x128x36xf16> -> tensor<1x1x128x40xf16>
// CHECK: tcp.attention
// CHECK: tcp.slice
func.func @copied(%x: tensor<128x36xf16>, %w: tensor<36x36xf16> {tcp.weight = "w"}, %n: tensor<1x1xf16> {tcp.weight = "n"}, %u: tensor<36x37xf16> {tcp.weight = "u"}) -> (tensor<1x1x128x36xf16>, tensor<128x36xf16>) attributes {tcp.target = "cuda"} {
  %0 = tcp.matmul %x, %w : tensor<128x36xf16>, tensor<36x36xf16> -> tensor<128x36xf16>
  %q = tcp.reshape %0 : tensor<128x36xf16> -> tensor<1x1x128x36xf16>
  %1 = tcp.matmul %x, %w : tensor<128x36xf16>, tensor<36x36xf16> -> tensor<128x36xf16>
  %2 = tcp.add %1, %n : tensor<128x36xf16>, tensor<1x1xf16> -> tensor<128x36xf16>
  %k = tcp.reshape %2 : tensor<128x36xf16> -> tensor<1x1x128x36xf16>
  %3 = tcp.matmul %x, %u : tensor<128x36xf16>, tensor<36x37xf16> -> tensor<128x37xf16>
  %4 = tcp.slice %3 {sizes = array<i64: 128, 36>, starts = array<i64: 0, 1>, strides = array<i64: 1, 1>} : tensor<128x37xf16> -> tensor<128x36xf16>
  %v = tcp.reshape %4 : tensor<128x36xf16> -> tensor<1x1x128x36xf16>
  %a = tcp.attention %q, %k, %v {scale = 0.25 : f64} : tensor<1x1x128x36xf16>, tensor<1x1x128x36xf16>, tensor<1x1x128x36xf16> -> tensor<1x1x128x36xf16>
  return %a, %0 : tensor<1x1x128x36xf16>, tensor<128x36xf16>
}

// -----

// Attention with few columns whose operands would be copied, f32, heads that are too long, and
// attention that cuDNN computes stay.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: tcp.pad
// CHECK: return
func.func @kept(%few: tensor<1x4x16x36xf16>, %float: tensor<1x4x256x36xf32>, %long: tensor<1x1x2048x260xf16>, %whole: tensor<1x4x256x40xf16>) -> (tensor<1x4x16x36xf16>, tensor<1x4x256x36xf32>, tensor<1x1x2048x260xf16>, tensor<1x4x256x40xf16>) attributes {tcp.target = "cuda"} {
  %0 = tcp.attention %few, %few, %few {scale = 0.25 : f64} : tensor<1x4x16x36xf16>, tensor<1x4x16x36xf16>, tensor<1x4x16x36xf16> -> tensor<1x4x16x36xf16>
  %1 = tcp.attention %float, %float, %float {scale = 0.25 : f64} : tensor<1x4x256x36xf32>, tensor<1x4x256x36xf32>, tensor<1x4x256x36xf32> -> tensor<1x4x256x36xf32>
  %2 = tcp.attention %long, %long, %long {scale = 0.25 : f64} : tensor<1x1x2048x260xf16>, tensor<1x1x2048x260xf16>, tensor<1x1x2048x260xf16> -> tensor<1x1x2048x260xf16>
  %3 = tcp.attention %whole, %whole, %whole {scale = 0.25 : f64} : tensor<1x4x256x40xf16>, tensor<1x4x256x40xf16>, tensor<1x4x256x40xf16> -> tensor<1x4x256x40xf16>
  return %0, %1, %2, %3 : tensor<1x4x16x36xf16>, tensor<1x4x256x36xf32>, tensor<1x1x2048x260xf16>, tensor<1x4x256x40xf16>
}

// -----

// The softcap and the window stay.
// CHECK-LABEL: func.func @softcap
// CHECK: tcp.attention {{.*}} {causal, scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64, window = 16 : i64} : tensor<1x2x256x40xf16>
func.func @softcap(%x: tensor<1x2x256x36xf16>) -> tensor<1x2x256x36xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.attention %x, %x, %x {causal, scale = 0.125 : f64, softcap = 50.0 : f64, window = 16 : i64} : tensor<1x2x256x36xf16>, tensor<1x2x256x36xf16>, tensor<1x2x256x36xf16> -> tensor<1x2x256x36xf16>
  return %0 : tensor<1x2x256x36xf16>
}
