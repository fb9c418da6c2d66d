// RUN: convoy-opt %s --split-input-file --plan-arena | filecheck %s

// Buffers with disjoint live ranges share bytes: %a is dead when %c begins.

// CHECK-LABEL: func.func @reuse
// CHECK-SAME:    %[[X:.*]]: memref<64xf32>, %[[Y:.*]]: memref<64xf32>, %[[ARENA:.*]]: memref<512xi8> {tcp.arena, tcp.live_bytes = 512 : i64}
// CHECK:         %[[O0:.*]] = arith.constant 0 : index
// CHECK:         %[[A:.*]] = memref.view %[[ARENA]][%[[O0]]][]
// CHECK:         %[[O1:.*]] = arith.constant 256 : index
// CHECK:         %[[B:.*]] = memref.view %[[ARENA]][%[[O1]]][]
// CHECK:         %[[O2:.*]] = arith.constant 0 : index
// CHECK:         %[[C:.*]] = memref.view %[[ARENA]][%[[O2]]][]
// CHECK-NOT:     memref.alloc
func.func @reuse(%x: memref<64xf32>, %y: memref<64xf32>) {
  %a = memref.alloc() : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  memref.copy %a, %b : memref<64xf32> to memref<64xf32>
  %c = memref.alloc() : memref<64xf32>
  memref.copy %b, %c : memref<64xf32> to memref<64xf32>
  memref.copy %c, %y : memref<64xf32> to memref<64xf32>
  return
}

// -----

// A view keeps its buffer alive: %v reads %a when %c is written, so %c must not overlap it.

// CHECK-LABEL: func.func @views_keep_alive
// CHECK-SAME:    memref<768xi8> {tcp.arena, tcp.live_bytes = 768 : i64}
// CHECK:         arith.constant 0 : index
// CHECK:         arith.constant 256 : index
// CHECK:         arith.constant 512 : index
func.func @views_keep_alive(%x: memref<64xf32>, %y: memref<8x8xf32>) {
  %a = memref.alloc() : memref<64xf32>
  %v = memref.expand_shape %a [[0, 1]] output_shape [8, 8] : memref<64xf32> into memref<8x8xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  memref.copy %a, %b : memref<64xf32> to memref<64xf32>
  %c = memref.alloc() : memref<64xf32>
  memref.copy %b, %c : memref<64xf32> to memref<64xf32>
  memref.copy %v, %y : memref<8x8xf32> to memref<8x8xf32>
  memref.copy %c, %x : memref<64xf32> to memref<64xf32>
  return
}

// -----

// An op with a region counts as one op: its operands and results are live together.

// CHECK-LABEL: func.func @regions
// CHECK-SAME:    memref<512xi8> {tcp.arena, tcp.live_bytes = 512 : i64}
func.func @regions(%x: memref<64xf32>) {
  %a = memref.alloc() : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  scf.execute_region no_inline {
    memref.copy %a, %x : memref<64xf32> to memref<64xf32>
    memref.copy %x, %b : memref<64xf32> to memref<64xf32>
    scf.yield
  }
  memref.copy %b, %x : memref<64xf32> to memref<64xf32>
  return
}

// -----

// A small buffer is put into the smallest gap that holds it; booleans take a byte; unused buffers
// take none.

// CHECK-LABEL: func.func @bytes
// CHECK-SAME:    memref<300xi8> {tcp.arena, tcp.live_bytes = 300 : i64}
// CHECK:         memref.view {{.*}} to memref<300xi1>
// CHECK-NOT:     memref.view
func.func @bytes(%x: memref<300xi1>) {
  %a = memref.alloc() : memref<300xi1>
  %unused = memref.alloc() : memref<99xf32>
  memref.dealloc %unused : memref<99xf32>
  memref.copy %x, %a : memref<300xi1> to memref<300xi1>
  memref.dealloc %a : memref<300xi1>
  return
}

// -----

// With the largest buffers first, %a and %b would lie behind %d, in an arena of 2048 bytes. With the
// largest products of size and lifetime first, no byte is wasted.

// CHECK-LABEL: func.func @lifetimes
// CHECK-SAME:    memref<1792xi8> {tcp.arena, tcp.live_bytes = 1792 : i64}
func.func @lifetimes(%v: f32, %i: index) {
  %a = memref.alloc() : memref<128xf32>
  %b = memref.alloc() : memref<128xf32>
  %c = memref.alloc() : memref<192xf32>
  %d = memref.alloc() : memref<256xf32>
  memref.store %v, %a[%i] : memref<128xf32>
  memref.store %v, %b[%i] : memref<128xf32>
  memref.store %v, %c[%i] : memref<192xf32>
  memref.store %v, %b[%i] : memref<128xf32>
  memref.store %v, %c[%i] : memref<192xf32>
  memref.store %v, %d[%i] : memref<256xf32>
  memref.store %v, %a[%i] : memref<128xf32>
  return
}

// -----

// %a is the largest, lives longest and lives first. If it is at the start of the arena, %b is behind it,
// and %d, which does not fit between %c and %b, is behind both, in an arena of 1792 bytes. If %d, at the
// end, is placed first, no byte is wasted.

// CHECK-LABEL: func.func @end_first
// CHECK-SAME:    memref<1536xi8> {tcp.arena, tcp.live_bytes = 1536 : i64}
func.func @end_first(%v: f32, %i: index) {
  %a = memref.alloc() : memref<192xf32>
  %b = memref.alloc() : memref<128xf32>
  %c = memref.alloc() : memref<128xf32>
  %d = memref.alloc() : memref<128xf32>
  memref.store %v, %a[%i] : memref<192xf32>
  memref.store %v, %a[%i] : memref<192xf32>
  memref.store %v, %a[%i] : memref<192xf32>
  memref.store %v, %b[%i] : memref<128xf32>
  memref.store %v, %a[%i] : memref<192xf32>
  memref.store %v, %c[%i] : memref<128xf32>
  memref.store %v, %d[%i] : memref<128xf32>
  memref.store %v, %b[%i] : memref<128xf32>
  memref.store %v, %c[%i] : memref<128xf32>
  memref.store %v, %d[%i] : memref<128xf32>
  return
}

// -----

// The output is in the arena, where %a is until the output is written. %b lives with it.

// CHECK-LABEL: func.func @outputs
// CHECK-SAME:    %{{.*}}: memref<128xf32> {tcp.arena_offset = 0 : i64, tcp.output = "0"}, %[[ARENA:.*]]: memref<768xi8> {tcp.arena, tcp.live_bytes = 768 : i64}
// CHECK:         arith.constant 0 : index
// CHECK:         memref.view {{.*}} to memref<64xf32>
// CHECK:         arith.constant 512 : index
// CHECK:         memref.view {{.*}} to memref<64xf32>
func.func @outputs(%x: memref<64xf32> {tcp.input = "x"}, %y: memref<128xf32> {tcp.output = "0"}) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  memref.copy %a, %b : memref<64xf32> to memref<64xf32>
  %v = memref.subview %y[64] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 64>>
  memref.copy %b, %v : memref<64xf32> to memref<64xf32, strided<[1], offset: 64>>
  memref.copy %b, %x : memref<64xf32> to memref<64xf32>
  return
}

// -----

// On the CPU a call writes into the caller's memory.

// CHECK-LABEL: func.func @cpu_outputs
// CHECK-NOT:     tcp.arena_offset
// CHECK:         memref<0xi8> {tcp.arena
func.func @cpu_outputs(%x: memref<64xf32> {tcp.input = "x"}, %y: memref<64xf32> {tcp.output = "0"}) attributes {tcp.target = "cpu"} {
  memref.copy %x, %y : memref<64xf32> to memref<64xf32>
  return
}
