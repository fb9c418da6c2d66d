// A kernel that concatenates tensors reads vectors if a vector is in one of them, also next to an
// elementwise op; else each lane searches its tensor.
// RUN: convoy-opt %s -split-input-file --convoy-pipeline="from=group to=host target=cuda" 2>/dev/null | filecheck %s

// CHECK: gpu.func @main_concat_0(%[[OUT:.*]]: memref<262144xf16> {llvm.noalias}, %[[A:.*]]: memref<32768xf16> {llvm.noalias}, %[[B:.*]]: memref<98304xf16> {llvm.noalias}, %[[C:.*]]: memref<131072xf16> {llvm.noalias})
// CHECK: %[[FIRST:.*]] = arith.cmpi ult
// CHECK: scf.if %[[FIRST]] -> (f16, f16, f16, f16, f16, f16, f16, f16)
// CHECK: vector.load %[[A]][%{{.*}}] {alignment = 16 : i64} : memref<32768xf16>, vector<8xf16>
// CHECK: scf.if
// CHECK: vector.load %[[B]]
// CHECK: vector.load %[[C]]
// CHECK-NOT: scf.if
// CHECK: vector.store %{{.*}}, %[[OUT]]
func.func @columns(%a: tensor<2048x16xf16>, %b: tensor<2048x48xf16>, %c: tensor<2048x64xf16>) -> tensor<2048x128xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.concat %a, %b, %c {dim = 1 : i64} : tensor<2048x16xf16>, tensor<2048x48xf16>, tensor<2048x64xf16> -> tensor<2048x128xf16>
  return %0 : tensor<2048x128xf16>
}

// -----

// CHECK: gpu.func @main_concat_cast_neg_0
// CHECK: scf.if %{{.*}} {
// CHECK: scf.if %{{.*}} -> (f16, f16, f16, f16, f16, f16, f16, f16)
// CHECK: vector.load
// CHECK: vector.load
// CHECK-NOT: scf.if
// CHECK-COUNT-8: arith.negf
// CHECK: vector.store
func.func @rows(%a: tensor<1024x128xf16>, %b: tensor<1025x128xf16>) -> tensor<2049x128xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.concat %a, %b {dim = 0 : i64} : tensor<1024x128xf16>, tensor<1025x128xf16> -> tensor<2049x128xf16>
  %1 = tcp.neg %0 : tensor<2049x128xf16> -> tensor<2049x128xf16>
  return %1 : tensor<2049x128xf16>
}

// -----

// CHECK: gpu.func @main_concat_0
// CHECK-NOT: vector.load
// CHECK-COUNT-8: scf.if
// CHECK: vector.store
func.func @odd(%a: tensor<2048x15xf16>, %b: tensor<2048x113xf16>) -> tensor<2048x128xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.concat %a, %b {dim = 1 : i64} : tensor<2048x15xf16>, tensor<2048x113xf16> -> tensor<2048x128xf16>
  return %0 : tensor<2048x128xf16>
}

// -----

// A roll before a transpose: the tensor is found from indices of other dims than the last one, so
// all lanes are in the same one.
// CHECK: gpu.func @main_concat_0
// CHECK: scf.if %{{.*}} -> (f16, f16, f16, f16, f16, f16, f16, f16)
// CHECK: vector.load
// CHECK: vector.load
// CHECK-NOT: scf.if
// CHECK: vector.store
func.func @rolled(%x: tensor<2048x128xf16>) -> tensor<32x64x128xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.slice %x {sizes = array<i64: 2040, 128>, starts = array<i64: 8, 0>, strides = array<i64: 1, 1>} : tensor<2048x128xf16> -> tensor<2040x128xf16>
  %1 = tcp.slice %x {sizes = array<i64: 8, 128>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2048x128xf16> -> tensor<8x128xf16>
  %2 = tcp.concat %0, %1 {dim = 0 : i64} : tensor<2040x128xf16>, tensor<8x128xf16> -> tensor<2048x128xf16>
  %3 = tcp.reshape %2 : tensor<2048x128xf16> -> tensor<64x32x128xf16>
  %4 = tcp.transpose %3 {perm = array<i64: 1, 0, 2>} : tensor<64x32x128xf16> -> tensor<32x64x128xf16>
  return %4 : tensor<32x64x128xf16>
}
