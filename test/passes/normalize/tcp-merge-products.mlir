// RUN: convoy-opt %s --tcp-merge-products | filecheck %s

// Key and value of a sequence, with biases. The query has another left factor.
// CHECK-LABEL: func.func @cross(
// CHECK-SAME: %[[X:[^:]*]]: tensor<16x8xf16> {{.*}}, %[[M:[^:]*]]: tensor<24x8xf16>
// CHECK-DAG: %[[Q:.*]] = tcp.matmul %[[X]], %{{.*}} -> tensor<16x16xf16>
// CHECK-DAG: %[[W:.*]] = tcp.concat %{{.*}}, %{{.*}} {dim = 1 : i64} : tensor<8x16xf16>, tensor<8x16xf16> -> tensor<8x32xf16>
// CHECK-DAG: %[[B:.*]] = tcp.concat %{{.*}}, %{{.*}} {dim = 1 : i64} : tensor<1x16xf16>, tensor<1x16xf16> -> tensor<1x32xf16>
// CHECK: %[[P:.*]] = tcp.matmul %[[M]], %[[W]] : {{.*}} -> tensor<24x32xf16>
// CHECK: %[[S:.*]] = tcp.add %[[P]], %[[B]]
// CHECK: tcp.slice %[[S]] {sizes = array<i64: 24, 16>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>}
// CHECK: tcp.slice %[[S]] {sizes = array<i64: 24, 16>, starts = array<i64: 0, 16>, strides = array<i64: 1, 1>}
// CHECK-NOT: tcp.matmul
// CHECK: tcp.attention
func.func @cross(%x: tensor<16x8xf16> {tcp.input = "x"}, %m: tensor<24x8xf16> {tcp.input = "m"}, %wq: tensor<8x16xf16> {tcp.weight = "q"}, %wk: tensor<8x16xf16> {tcp.weight = "k"}, %bk: tensor<1x16xf16> {tcp.weight = "bk"}, %wv: tensor<16x8xf16> {tcp.weight = "v"}, %bv: tensor<1x16xf16> {tcp.weight = "bv"}) -> (tensor<1x2x16x8xf16> {tcp.output = "0"}) {
  %0 = tcp.matmul %x, %wq : tensor<16x8xf16>, tensor<8x16xf16> -> tensor<16x16xf16>
  %q = tcp.reshape %0 : tensor<16x16xf16> -> tensor<1x16x2x8xf16>
  %qt = tcp.transpose %q {perm = array<i64: 0, 2, 1, 3>} : tensor<1x16x2x8xf16> -> tensor<1x2x16x8xf16>
  %1 = tcp.matmul %m, %wk : tensor<24x8xf16>, tensor<8x16xf16> -> tensor<24x16xf16>
  %2 = tcp.add %1, %bk : tensor<24x16xf16>, tensor<1x16xf16> -> tensor<24x16xf16>
  %k = tcp.reshape %2 : tensor<24x16xf16> -> tensor<1x24x2x8xf16>
  %kt = tcp.transpose %k {perm = array<i64: 0, 2, 1, 3>} : tensor<1x24x2x8xf16> -> tensor<1x2x24x8xf16>
  // A weight that is computed after the first product.
  %w = tcp.transpose %wv {perm = array<i64: 1, 0>} : tensor<16x8xf16> -> tensor<8x16xf16>
  %3 = tcp.matmul %m, %w : tensor<24x8xf16>, tensor<8x16xf16> -> tensor<24x16xf16>
  %4 = tcp.add %bv, %3 : tensor<1x16xf16>, tensor<24x16xf16> -> tensor<24x16xf16>
  %v = tcp.reshape %4 : tensor<24x16xf16> -> tensor<1x24x2x8xf16>
  %vt = tcp.transpose %v {perm = array<i64: 0, 2, 1, 3>} : tensor<1x24x2x8xf16> -> tensor<1x2x24x8xf16>
  %y = tcp.attention %qt, %kt, %vt {scale = 1.0 : f64} : tensor<1x2x16x8xf16>, tensor<1x2x24x8xf16>, tensor<1x2x24x8xf16> -> tensor<1x2x16x8xf16>
  return %y : tensor<1x2x16x8xf16>
}

// An elementwise op on query and key, e.g. of rotary embeddings, reads slices too.
// CHECK-LABEL: func.func @rotated
// CHECK: tcp.matmul %{{.*}} -> tensor<16x24xf16>
// CHECK-NOT: tcp.matmul
func.func @rotated(%x: tensor<16x8xf16> {tcp.input = "x"}, %c: tensor<1x1x16x8xf16> {tcp.input = "c"}, %wq: tensor<8x8xf16> {tcp.weight = "q"}, %wk: tensor<8x8xf16> {tcp.weight = "k"}, %wv: tensor<8x8xf16> {tcp.weight = "v"}) -> (tensor<1x1x16x8xf16> {tcp.output = "0"}) {
  %0 = tcp.matmul %x, %wq : tensor<16x8xf16>, tensor<8x8xf16> -> tensor<16x8xf16>
  %1 = tcp.matmul %x, %wk : tensor<16x8xf16>, tensor<8x8xf16> -> tensor<16x8xf16>
  %2 = tcp.matmul %x, %wv : tensor<16x8xf16>, tensor<8x8xf16> -> tensor<16x8xf16>
  %3 = tcp.reshape %0 : tensor<16x8xf16> -> tensor<1x1x16x8xf16>
  %4 = tcp.reshape %1 : tensor<16x8xf16> -> tensor<1x1x16x8xf16>
  %5 = tcp.reshape %2 : tensor<16x8xf16> -> tensor<1x1x16x8xf16>
  %q = tcp.mul %3, %c : tensor<1x1x16x8xf16>, tensor<1x1x16x8xf16> -> tensor<1x1x16x8xf16>
  %k = tcp.mul %4, %c : tensor<1x1x16x8xf16>, tensor<1x1x16x8xf16> -> tensor<1x1x16x8xf16>
  %y = tcp.attention %q, %k, %5 {scale = 1.0 : f64} : tensor<1x1x16x8xf16>, tensor<1x1x16x8xf16>, tensor<1x1x16x8xf16> -> tensor<1x1x16x8xf16>
  return %y : tensor<1x1x16x8xf16>
}

// So does a concat, of the halves of a rotary embedding.
// CHECK-LABEL: func.func @rotated_halves
// CHECK: tcp.matmul %{{.*}} -> tensor<16x24xf16>
// CHECK-NOT: tcp.matmul
func.func @rotated_halves(%x: tensor<16x8xf16> {tcp.input = "x"}, %wq: tensor<8x8xf16> {tcp.weight = "q"}, %wk: tensor<8x8xf16> {tcp.weight = "k"}, %wv: tensor<8x8xf16> {tcp.weight = "v"}) -> (tensor<1x1x16x8xf16> {tcp.output = "0"}) {
  %0 = tcp.matmul %x, %wq : tensor<16x8xf16>, tensor<8x8xf16> -> tensor<16x8xf16>
  %1 = tcp.matmul %x, %wk : tensor<16x8xf16>, tensor<8x8xf16> -> tensor<16x8xf16>
  %2 = tcp.matmul %x, %wv : tensor<16x8xf16>, tensor<8x8xf16> -> tensor<16x8xf16>
  %3 = tcp.reshape %0 : tensor<16x8xf16> -> tensor<1x1x16x8xf16>
  %4 = tcp.reshape %1 : tensor<16x8xf16> -> tensor<1x1x16x8xf16>
  %5 = tcp.reshape %2 : tensor<16x8xf16> -> tensor<1x1x16x8xf16>
  %6 = tcp.slice %3 {sizes = array<i64: 1, 1, 16, 4>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : tensor<1x1x16x8xf16> -> tensor<1x1x16x4xf16>
  %7 = tcp.slice %3 {sizes = array<i64: 1, 1, 16, 4>, starts = array<i64: 0, 0, 0, 4>, strides = array<i64: 1, 1, 1, 1>} : tensor<1x1x16x8xf16> -> tensor<1x1x16x4xf16>
  %8 = tcp.neg %7 : tensor<1x1x16x4xf16> -> tensor<1x1x16x4xf16>
  %q = tcp.concat %8, %6 {dim = 3 : i64} : tensor<1x1x16x4xf16>, tensor<1x1x16x4xf16> -> tensor<1x1x16x8xf16>
  %y = tcp.attention %q, %4, %5 {scale = 1.0 : f64} : tensor<1x1x16x8xf16>, tensor<1x1x16x8xf16>, tensor<1x1x16x8xf16> -> tensor<1x1x16x8xf16>
  return %y : tensor<1x1x16x8xf16>
}

// An activation is part of the product's group, and another product would copy a slice.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: tcp.matmul
// CHECK-NOT: tcp.slice
func.func @others(%x: tensor<16x8xf16> {tcp.input = "x"}, %a: tensor<8x8xf16> {tcp.weight = "a"}, %b: tensor<8x8xf16> {tcp.weight = "b"}, %c: tensor<8x8xf16> {tcp.weight = "c"}) -> (tensor<16x8xf16> {tcp.output = "0"}) {
  %0 = tcp.matmul %x, %a : tensor<16x8xf16>, tensor<8x8xf16> -> tensor<16x8xf16>
  %1 = tcp.silu %0 : tensor<16x8xf16> -> tensor<16x8xf16>
  %2 = tcp.matmul %x, %b : tensor<16x8xf16>, tensor<8x8xf16> -> tensor<16x8xf16>
  %3 = tcp.mul %1, %2 : tensor<16x8xf16>, tensor<16x8xf16> -> tensor<16x8xf16>
  %4 = tcp.matmul %3, %c : tensor<16x8xf16>, tensor<8x8xf16> -> tensor<16x8xf16>
  return %4 : tensor<16x8xf16>
}

// A slice of 4 halves is not aligned to 16 bytes.
// CHECK-LABEL: func.func @narrow
// CHECK-COUNT-2: tcp.matmul
// CHECK-NOT: tcp.slice
func.func @narrow(%x: tensor<16x8xf16> {tcp.input = "x"}, %wk: tensor<8x4xf16> {tcp.weight = "k"}, %wv: tensor<8x4xf16> {tcp.weight = "v"}, %q: tensor<1x1x16x4xf16> {tcp.input = "q"}) -> (tensor<1x1x16x4xf16> {tcp.output = "0"}) {
  %0 = tcp.matmul %x, %wk : tensor<16x8xf16>, tensor<8x4xf16> -> tensor<16x4xf16>
  %1 = tcp.matmul %x, %wv : tensor<16x8xf16>, tensor<8x4xf16> -> tensor<16x4xf16>
  %k = tcp.reshape %0 : tensor<16x4xf16> -> tensor<1x1x16x4xf16>
  %v = tcp.reshape %1 : tensor<16x4xf16> -> tensor<1x1x16x4xf16>
  %y = tcp.attention %q, %k, %v {scale = 1.0 : f64} : tensor<1x1x16x4xf16>, tensor<1x1x16x4xf16>, tensor<1x1x16x4xf16> -> tensor<1x1x16x4xf16>
  return %y : tensor<1x1x16x4xf16>
}
