// RUN: convoy-opt %s --tcp-share-concats | filecheck %s
// RUN: convoy-opt %s --pass-pipeline="builtin.module(func.func(tcp-share-concats,convert-tcp-to-linalg),canonicalize,eliminate-empty-tensors,plan-bufferize,canonicalize,cse,canonicalize)" | filecheck %s --check-prefix=PLAN

// A dense block: every concat begins with the inputs of the one before.
// CHECK-LABEL: func.func @dense(
// CHECK-SAME: %[[A:.*]]: tensor<1x4x4x8xf32>, %[[W:.*]]: tensor<4x3x3x8xf32>, %[[V:.*]]: tensor<4x3x3x12xf32>)
// CHECK-NEXT: %[[B:.*]] = tcp.conv2d %[[A]], %[[W]]
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<1x4x4x16xf32>
// CHECK-NEXT: %[[D0:.*]] = tensor.insert_slice %[[A]] into %[[E]][0, 0, 0, 0] [1, 4, 4, 8]
// CHECK-NEXT: %[[D1:.*]] = tensor.insert_slice %[[B]] into %[[D0]][0, 0, 0, 8] [1, 4, 4, 4]
// CHECK-NEXT: %[[C:.*]] = tensor.extract_slice %[[D1]][0, 0, 0, 0] [1, 4, 4, 12]
// CHECK-NEXT: %[[R:.*]] = tcp.tanh %[[C]]
// CHECK-NEXT: %[[N:.*]] = tcp.conv2d %[[R]], %[[V]]
// CHECK-NEXT: %[[D2:.*]] = tensor.insert_slice %[[N]] into %[[D1]][0, 0, 0, 12] [1, 4, 4, 4]
// CHECK-NEXT: tcp.exp %[[D2]]
// Both convolutions write into the tensor. Only the input of the block is copied.
// PLAN-LABEL: func.func @dense(
// PLAN-COUNT-1: memref.copy %{{.*}} : memref<1x4x4x8xf32> to memref<1x4x4x8xf32, strided<[256, 64, 16, 1]>>
// PLAN: linalg.conv_2d_nhwc_hwcf {{.*}} outs(%{{.*}} : memref<1x4x4x4xf32, strided<[256, 64, 16, 1], offset: 8>>)
// PLAN: linalg.conv_2d_nhwc_hwcf {{.*}} outs(%{{.*}} : memref<1x4x4x4xf32, strided<[256, 64, 16, 1], offset: 12>>)
// PLAN-NOT: memref.copy
// PLAN: return
func.func @dense(%a: tensor<1x4x4x8xf32>, %w: tensor<4x3x3x8xf32>, %v: tensor<4x3x3x12xf32>) -> tensor<1x4x4x16xf32> attributes {tcp.target = "cpu"} {
  %b = tcp.conv2d %a, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x4x4x8xf32>, tensor<4x3x3x8xf32> -> tensor<1x4x4x4xf32>
  %c = tcp.concat %a, %b {dim = 3 : i64} : tensor<1x4x4x8xf32>, tensor<1x4x4x4xf32> -> tensor<1x4x4x12xf32>
  %r = tcp.tanh %c : tensor<1x4x4x12xf32> -> tensor<1x4x4x12xf32>
  %d = tcp.conv2d %r, %v {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x4x4x12xf32>, tensor<4x3x3x12xf32> -> tensor<1x4x4x4xf32>
  %e = tcp.concat %a, %b, %d {dim = 3 : i64} : tensor<1x4x4x8xf32>, tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32> -> tensor<1x4x4x16xf32>
  %y = tcp.exp %e : tensor<1x4x4x16xf32> -> tensor<1x4x4x16xf32>
  return %y : tensor<1x4x4x16xf32>
}

// The new inputs are in front, and the last concat reads the result of the one before.
// CHECK-LABEL: func.func @front(
// CHECK-SAME: %[[A:.*]]: tensor<4x2xf32>, %[[B:.*]]: tensor<4x3xf32>)
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<4x15xf32>
// CHECK-NEXT: %[[D0:.*]] = tensor.insert_slice %[[A]] into %[[E]][0, 8] [4, 2]
// CHECK-NEXT: %[[D1:.*]] = tensor.insert_slice %[[B]] into %[[D0]][0, 10] [4, 3]
// CHECK-NEXT: %[[C0:.*]] = tensor.extract_slice %[[D1]][0, 8] [4, 5]
// CHECK-NEXT: %[[X:.*]] = tcp.exp %[[C0]]
// CHECK-NEXT: %[[D2:.*]] = tensor.insert_slice %[[X]] into %[[D1]][0, 3] [4, 5]
// CHECK-NEXT: %[[C1:.*]] = tensor.extract_slice %[[D2]][0, 3] [4, 10]
// CHECK-NEXT: tcp.exp %[[C1]]
// CHECK-NEXT: %[[D3:.*]] = tensor.insert_slice %[[B]] into %[[D2]][0, 0] [4, 3]
// CHECK-NEXT: %[[D4:.*]] = tensor.insert_slice %[[A]] into %[[D3]][0, 13] [4, 2]
// CHECK: return %{{.*}}, %[[D4]]
func.func @front(%a: tensor<4x2xf32>, %b: tensor<4x3xf32>) -> (tensor<4x10xf32>, tensor<4x15xf32>) attributes {tcp.target = "cpu"} {
  %c0 = tcp.concat %a, %b {dim = 1 : i64} : tensor<4x2xf32>, tensor<4x3xf32> -> tensor<4x5xf32>
  %x = tcp.exp %c0 : tensor<4x5xf32> -> tensor<4x5xf32>
  %c1 = tcp.concat %x, %a, %b {dim = 1 : i64} : tensor<4x5xf32>, tensor<4x2xf32>, tensor<4x3xf32> -> tensor<4x10xf32>
  %y = tcp.exp %c1 : tensor<4x10xf32> -> tensor<4x10xf32>
  %c2 = tcp.concat %b, %c1, %a {dim = 1 : i64} : tensor<4x3xf32>, tensor<4x10xf32>, tensor<4x2xf32> -> tensor<4x15xf32>
  return %y, %c2 : tensor<4x10xf32>, tensor<4x15xf32>
}

// Concats stay of which the earlier one, or a view of it, is read later, along other dims, with the inputs in another
// order, and on the GPU, where concats are parts of kernels.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
func.func @stays(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<12x4xf32>, tensor<32xf32>, tensor<4x12xf32>, tensor<12x4xf32>) attributes {tcp.target = "cpu"} {
  %c0 = tcp.concat %a, %b {dim = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<8x4xf32>
  %c1 = tcp.concat %a, %b, %a {dim = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32> -> tensor<12x4xf32>
  %d0 = tcp.concat %a, %b {dim = 1 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x8xf32>
  %r = tcp.reshape %d0 : tensor<4x8xf32> -> tensor<32xf32>
  %d1 = tcp.concat %a, %b, %a {dim = 1 : i64} : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x12xf32>
  %z = tcp.exp %r : tensor<32xf32> -> tensor<32xf32>
  %e = tcp.concat %b, %a, %b {dim = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32> -> tensor<12x4xf32>
  %y = tcp.exp %c0 : tensor<8x4xf32> -> tensor<8x4xf32>
  return %y, %c1, %z, %d1, %e : tensor<8x4xf32>, tensor<12x4xf32>, tensor<32xf32>, tensor<4x12xf32>, tensor<12x4xf32>
}

// CHECK-LABEL: func.func @gpu(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
func.func @gpu(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<12x4xf32> attributes {tcp.target = "cuda"} {
  %c0 = tcp.concat %a, %b {dim = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<8x4xf32>
  %x = tcp.slice %c0 {sizes = array<i64: 4, 4>, starts = array<i64: 2, 0>, strides = array<i64: 1, 1>} : tensor<8x4xf32> -> tensor<4x4xf32>
  %c1 = tcp.concat %a, %b, %x {dim = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32> -> tensor<12x4xf32>
  return %c1 : tensor<12x4xf32>
}
