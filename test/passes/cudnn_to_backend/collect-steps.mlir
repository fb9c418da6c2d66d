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
