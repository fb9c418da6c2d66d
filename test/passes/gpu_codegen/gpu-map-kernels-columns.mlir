// RUN: convoy-opt %s --gpu-map-kernels --cse --canonicalize | filecheck %s

// Threads that read 16-bit elements along the results of a reduction have two neighboring results,
// so that a warp reads 128 bytes of a row.

#in = affine_map<(r, c) -> (r, c)>
#out = affine_map<(r, c) -> (c)>

// A block has 32 columns of threads, and shared memory for 64 results of each warp.
// CHECK-LABEL: gpu.func @pairs_reduce_cast_add_0
// CHECK-SAME:    workgroup(%[[SHARED:.*]] : memref<8x64xf32, #gpu.address_space<workgroup>>)
// CHECK-COUNT-8: vector.load %{{.*}} {alignment = 4 : i64} : memref<1048576xf16>, vector<2xf16>
// CHECK-NOT:     load
// CHECK-COUNT-2: memref.store %{{.*}}, %[[SHARED]]
// CHECK:         gpu.barrier
// CHECK-COUNT-16: memref.load %[[SHARED]]
// CHECK:         vector.store %{{.*}} {alignment = 8 : i64} : memref<16384xf32>, vector<2xf32>
// CHECK:         gpu.return
func.func @pairs(%runtime: !llvm.ptr, %x: memref<64x16384xf16>, %y: memref<16384xf32>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<16384xf32>)
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]} ins(%x : memref<64x16384xf16>) outs(%y : memref<16384xf32>) {
  ^bb0(%p: f16, %o: f32):
    %wide = arith.extf %p : f16 to f32
    %s = arith.addf %o, %wide : f32
    linalg.yield %s : f32
  }
  return %ok : i32
}

// Half as many blocks would leave multiprocessors idle.
// CHECK-LABEL: gpu.func @few_reduce_cast_add_0
// CHECK-COUNT-8: memref.load %{{.*}} : memref<262144xf16>
// CHECK:         gpu.barrier
// CHECK-NOT:     vector
// CHECK:         gpu.return
func.func @few(%runtime: !llvm.ptr, %x: memref<64x4096xf16>, %y: memref<4096xf32>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4096xf32>)
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel"]} ins(%x : memref<64x4096xf16>) outs(%y : memref<4096xf32>) {
  ^bb0(%p: f16, %o: f32):
    %wide = arith.extf %p : f16 to f32
    %s = arith.addf %o, %wide : f32
    linalg.yield %s : f32
  }
  return %ok : i32
}
