// RUN: convoy-opt %s --split-input-file --collect-steps | filecheck %s

// The runtime calls of @main in order; a boolean is a byte.

// CHECK: module attributes {tcp.manifest = {arena_bytes = 64 : i64, steps = [{kernel = 1 : i64}, {call = 0 : i64}, {copy = 32 : i64}, {copy = 3 : i64}, {call = 0 : i64}]}}
module attributes {tcp.manifest = {arena_bytes = 64 : i64}} {
  func.func @main(%runtime: !llvm.ptr, %x: memref<8xf32>, %y: memref<8xf32>, %b: memref<3xi1>, %c: memref<3xi1>) -> i32 {
    cudnn_backend.launch_kernel %runtime, kernel = 1 grid [1, 1, 1] block [32, 1, 1] shared 0 (%x, %y) : memref<8xf32>, memref<8xf32>
    cudnn_backend.execute_graph %runtime, call = 0 (%x, %y) : memref<8xf32>, memref<8xf32>
    cudnn_backend.copy %runtime, %y, %x : memref<8xf32>, memref<8xf32>
    cudnn_backend.copy %runtime, %c, %b : memref<3xi1>, memref<3xi1>
    cudnn_backend.execute_graph %runtime, call = 0 (%x, %y) : memref<8xf32>, memref<8xf32>
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}

// -----

// A program without runtime calls has no steps.

// CHECK: module {
func.func @main(%x: memref<8xf32>) {
  return
}

// -----

// The steps of a loop are those of all its iterations; a loop without calls has none.

// CHECK: steps = [{call = 0 : i64}, {copy = 32 : i64}, {copy = 32 : i64}, {call = 0 : i64}, {copy = 32 : i64}, {copy = 32 : i64}, {kernel = 0 : i64}]
func.func @main(%runtime: !llvm.ptr, %x: memref<8xf32>, %y: memref<8xf32>) -> i32 {
  %ok = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    cudnn_backend.execute_graph %runtime, call = 0 (%x, %y) : memref<8xf32>, memref<8xf32>
    scf.for %j = %c0 to %c2 step %c1 {
      cudnn_backend.copy %runtime, %y, %x : memref<8xf32>, memref<8xf32>
    }
  }
  scf.for %i = %c0 to %c2 step %c1 {
  }
  cudnn_backend.launch_kernel %runtime, kernel = 0 grid [1, 1, 1] block [32, 1, 1] shared 0 (%x, %y) : memref<8xf32>, memref<8xf32>
  return %ok : i32
}

// -----

// A buffer lives from the first step that uses it, also through a view, to the last one; in a loop during all of its steps.
// Buffers with the same bytes are apart. Hand-written views of the arena are unknown, so there are no gaps.

// CHECK-NOT: gap_
// CHECK: live = [16, 48, 32, 32, 32, 16], steps = [{kernel = 0 : i64}, {kernel = 1 : i64}, {copy = 32 : i64}, {copy = 32 : i64}, {kernel = 2 : i64}, {kernel = 3 : i64}]
func.func @main(%runtime: !llvm.ptr, %x: memref<8xf32>, %arena: memref<48xi8> {tcp.arena}) -> i32 {
  %ok = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %a = memref.view %arena[%c0][] {tcp.buffer = array<i64: 0, 0, 16>} : memref<48xi8> to memref<4xf32>
  %flat = memref.reinterpret_cast %a to offset: [0], sizes: [2, 2], strides: [2, 1] : memref<4xf32> to memref<2x2xf32>
  %b = memref.view %arena[%c16][] {tcp.buffer = array<i64: 1, 16, 32>} : memref<48xi8> to memref<8xf32>
  %c = memref.view %arena[%c0][] {tcp.buffer = array<i64: 2, 0, 16>} : memref<48xi8> to memref<4xf32>
  %other = memref.view %arena[%c0][] : memref<48xi8> to memref<4xf32>
  cudnn_backend.launch_kernel %runtime, kernel = 0 grid [1, 1, 1] block [32, 1, 1] shared 0 (%x, %a) : memref<8xf32>, memref<4xf32>
  cudnn_backend.launch_kernel %runtime, kernel = 1 grid [1, 1, 1] block [32, 1, 1] shared 0 (%flat, %b) : memref<2x2xf32>, memref<8xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    cudnn_backend.copy %runtime, %x, %b : memref<8xf32>, memref<8xf32>
  }
  cudnn_backend.launch_kernel %runtime, kernel = 2 grid [1, 1, 1] block [32, 1, 1] shared 0 (%b, %x, %other) : memref<8xf32>, memref<8xf32>, memref<4xf32>
  cudnn_backend.launch_kernel %runtime, kernel = 3 grid [1, 1, 1] block [32, 1, 1] shared 0 (%c) : memref<4xf32>
  return %ok : i32
}

// -----

// Outputs that are in the arena live from their first step to the end.

// CHECK: gap_bytes = [32, 0, 0], gap_offsets = [0, 0, 0], live = [16, 48, 32], output_offsets = [0], steps = [{kernel = 0 : i64}, {kernel = 1 : i64}, {kernel = 2 : i64}]
module attributes {tcp.manifest = {output_offsets = [0]}} {
  func.func @main(%runtime: !llvm.ptr, %x: memref<8xf32>, %y: memref<8xf32> {tcp.output = "0"}, %arena: memref<48xi8> {tcp.arena}) -> i32 {
    %ok = arith.constant 0 : i32
    %c32 = arith.constant 32 : index
    %a = memref.view %arena[%c32][] {tcp.buffer = array<i64: 0, 32, 16>} : memref<48xi8> to memref<4xf32>
    cudnn_backend.launch_kernel %runtime, kernel = 0 grid [1, 1, 1] block [32, 1, 1] shared 0 (%x, %a) : memref<8xf32>, memref<4xf32>
    cudnn_backend.launch_kernel %runtime, kernel = 1 grid [1, 1, 1] block [32, 1, 1] shared 0 (%a, %y) : memref<4xf32>, memref<8xf32>
    cudnn_backend.launch_kernel %runtime, kernel = 2 grid [1, 1, 1] block [32, 1, 1] shared 0 (%x) : memref<8xf32>
    return %ok : i32
  }
}

// -----

// The largest gap is behind, between or before the live buffers, and begins at a multiple of 256. An unused buffer is not live.

// CHECK: gap_bytes = [1024, 768, 768, 512, 1024], gap_offsets = [512, 768, 768, 0, 0], live = [300, 556, 556, 768, 512]
module attributes {tcp.manifest = {}} {
  func.func @main(%runtime: !llvm.ptr, %x: memref<8xf32>, %arena: memref<1536xi8> {tcp.arena}) -> i32 {
    %ok = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c512 = arith.constant 512 : index
    %c1024 = arith.constant 1024 : index
    %a = memref.view %arena[%c0][] {tcp.buffer = array<i64: 0, 0, 300>} : memref<1536xi8> to memref<75xf32>
    %b = memref.view %arena[%c512][] {tcp.buffer = array<i64: 1, 512, 256>} : memref<1536xi8> to memref<64xf32>
    %c = memref.view %arena[%c1024][] {tcp.buffer = array<i64: 2, 1024, 512>} : memref<1536xi8> to memref<128xf32>
    %unused = memref.view %arena[%c0][] {tcp.buffer = array<i64: 3, 0, 300>} : memref<1536xi8> to memref<75xf32>
    cudnn_backend.launch_kernel %runtime, kernel = 0 grid [1, 1, 1] block [32, 1, 1] shared 0 (%x, %a) : memref<8xf32>, memref<75xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      cudnn_backend.launch_kernel %runtime, kernel = 1 grid [1, 1, 1] block [32, 1, 1] shared 0 (%a, %b) : memref<75xf32>, memref<64xf32>
    }
    cudnn_backend.launch_kernel %runtime, kernel = 2 grid [1, 1, 1] block [32, 1, 1] shared 0 (%b, %c) : memref<64xf32>, memref<128xf32>
    cudnn_backend.launch_kernel %runtime, kernel = 3 grid [1, 1, 1] block [32, 1, 1] shared 0 (%c, %x) : memref<128xf32>, memref<8xf32>
    return %ok : i32
  }
}
