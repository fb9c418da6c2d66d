// RUN: convoy-opt %s --split-input-file --lower-to-llvm --llvm-entry-points | filecheck %s

// CHECK-LABEL: llvm.func internal @main(
// CHECK-NOT:   tcp.input
// CHECK-NOT:   tcp.bytes
// CHECK-LABEL: llvm.func @convoy_main(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[IN:.*]]: !llvm.ptr, %[[PREPARED:.*]]: !llvm.ptr, %[[OUT:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr) -> i32
// CHECK:         %[[S0:.*]] = llvm.getelementptr %[[IN]][0]
// CHECK:         %[[X:.*]] = llvm.load %[[S0]]
// CHECK:         %[[S1:.*]] = llvm.getelementptr %[[IN]][1]
// CHECK:         %[[Z:.*]] = llvm.load %[[S1]]
// CHECK:         %[[S2:.*]] = llvm.getelementptr %[[PREPARED]][0]
// CHECK:         %[[W:.*]] = llvm.load %[[S2]]
// CHECK:         %[[S3:.*]] = llvm.getelementptr %[[OUT]][0]
// CHECK:         %[[Y:.*]] = llvm.load %[[S3]]
// CHECK:         llvm.call @main(%[[X]], %[[Z]], %[[W]], %[[Y]], %[[ARENA]])
// CHECK:         llvm.return %{{.*}} : i32
// CHECK-LABEL: llvm.func @convoy_prepare_weights(
// CHECK-SAME:    !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK:         llvm.call @prepare_weights
// CHECK-LABEL: llvm.func @convoy_abi_version() -> i32
// CHECK:         llvm.mlir.constant(5 : i32)
// CHECK-LABEL: llvm.mlir.global internal constant @convoy_sizes_data(dense<[11, 0, 0, 2, 16, 16, 1, 16, 1, 16, 1, 16]> : tensor<12xi64>)
// CHECK-LABEL: llvm.func @convoy_sizes() -> !llvm.ptr
// CHECK:         %[[SIZES:.*]] = llvm.mlir.addressof @convoy_sizes_data
// CHECK:         llvm.return %[[SIZES]]
func.func @main(%x: memref<4xf32> {tcp.input = "x"}, %z: memref<4xf32> {tcp.input = "z"}, %w: memref<4xf32> {tcp.prepared = "w"},
                %y: memref<4xf32> {tcp.output = "0"}, %arena: memref<0xi8> {tcp.arena}) attributes {tcp.target = "cpu"} {
  return
}
func.func @prepare_weights(%w: memref<4xf32> {tcp.weight = "w"}, %p: memref<4xf32> {tcp.prepared = "w"}, %arena: memref<0xi8> {tcp.arena})
    attributes {tcp.target = "cpu"} {
  return
}

// -----

// A program for cuda gets the runtime's table and returns its status. A model without weights has
// all entry points.

// CHECK-LABEL: llvm.func @convoy_main(
// CHECK-SAME:    %[[RUNTIME:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr) -> i32
// CHECK:         %[[STATUS:.*]] = llvm.call @main(%[[RUNTIME]], %[[ARENA]])
// CHECK:         llvm.return %[[STATUS]]
// CHECK-LABEL: llvm.func @convoy_prepare_weights(
// CHECK:         llvm.return
// CHECK-LABEL: llvm.mlir.global internal constant @convoy_sizes_data(dense<[6, 16, 0, 0, 0, 0, 0]> : tensor<7xi64>)
func.func @main(%runtime: !llvm.ptr, %arena: memref<16xi8> {tcp.arena}) -> i32 attributes {tcp.target = "cuda"} {
  %status = arith.constant 0 : i32
  return %status : i32
}
