// RUN: convoy-opt %s --collect-manifest | filecheck %s

// CHECK: module attributes {tcp.manifest = {
// CHECK-SAME: arena_bytes = 512 : i64
// CHECK-SAME: inputs = [{dtype = "float32", name = "x", shape = array<i64: 4>}, {dtype = "float32", name = "image", shape = array<i64: 1, 3, 5, 7>, strides = array<i64: 105, 1, 21, 3>}]
// CHECK-SAME: live_bytes = 500 : i64
// CHECK-SAME: output_offsets = [256], outputs = [{dtype = "bool", name = "0", shape = array<i64: 2, 2>}]
// CHECK-SAME: prepare_arena_bytes = 16 : i64
// CHECK-SAME: prepared = [{dtype = "float16", name = "w", origin = "0a1b", shape = array<i64: 3>}, {dtype = "bfloat16", name = "v", shape = array<i64>}]
// CHECK-SAME: target = "cuda"
// CHECK-SAME: weights = [{dtype = "float64", name = "w", shape = array<i64: 3>}, {dtype = "int64", name = "v", shape = array<i64>}]
// CHECK-NOT: tcp.dim_order
// CHECK-NOT: tcp.origin
// CHECK-NOT: tcp.live_bytes
// CHECK-NOT: tcp.arena_offset
func.func @main(%x: memref<4xf32> {tcp.input = "x"}, %i: memref<1x5x7x3xf32> {tcp.dim_order = array<i64: 0, 2, 3, 1>, tcp.input = "image"}, %w: memref<3xf16> {tcp.origin = "0a1b", tcp.prepared = "w"}, %v: memref<bf16> {tcp.prepared = "v"},
                %y: memref<2x2xi1> {tcp.arena_offset = 256 : i64, tcp.output = "0"}, %arena: memref<512xi8> {tcp.arena, tcp.live_bytes = 500 : i64}) attributes {tcp.target = "cuda"} {
  return
}
func.func @prepare_weights(%w: memref<3xf64> {tcp.weight = "w"}, %v: memref<i64> {tcp.weight = "v"}, %0: memref<3xf16> {tcp.origin = "0a1b", tcp.prepared = "w"},
                           %1: memref<bf16> {tcp.prepared = "v"}, %arena: memref<16xi8> {tcp.arena}) attributes {tcp.target = "cpu"} {
  return
}
