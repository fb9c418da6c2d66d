// RUN: convoy-opt %s --gpu-map-kernels --canonicalize --cse | filecheck %s

// Tables whose elements are known (tcp.steps) are computed. A thread has neighboring iterations of
// loops whose indices are divided by the same number, and loads what they share once.

#all = affine_map<(h, w, c) -> (h, w, c)>
#columns = affine_map<(h, w, c) -> (w)>

// Rows and columns in pairs: 3 by 3 vectors for 4 results of two by two.
// CHECK-LABEL: gpu.func @twice_gather_add_0
// CHECK-NOT:     memref.load
// CHECK-COUNT-9: vector.load %{{.*}} {alignment = 16 : i64} : memref<16777216xf16>, vector<8xf16>
// CHECK-NOT:     load
// CHECK-COUNT-4: vector.store
// CHECK-NEXT:    gpu.return
func.func @twice(%runtime: !llvm.ptr, %x: memref<512x512x64xf16>, %low: memref<1024xi32> {tcp.steps = array<i64: -1, 2, 511>}, %high: memref<1024xi32> {tcp.steps = array<i64: 1, 2, 511>}, %y: memref<1024x1024x64xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  linalg.generic {indexing_maps = [#columns, #columns, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%low, %high : memref<1024xi32>, memref<1024xi32>) outs(%y : memref<1024x1024x64xf16>) {
  ^bb0(%l: i32, %r: i32, %o: f16):
    %h = linalg.index 0 : index
    %c = linalg.index 2 : index
    %t = memref.load %low[%h] : memref<1024xi32>
    %b = memref.load %high[%h] : memref<1024xi32>
    %left = arith.index_cast %l : i32 to index
    %right = arith.index_cast %r : i32 to index
    %top = arith.index_cast %t : i32 to index
    %bottom = arith.index_cast %b : i32 to index
    %p = memref.load %x[%top, %left, %c] : memref<512x512x64xf16>
    %q = memref.load %x[%top, %right, %c] : memref<512x512x64xf16>
    %r0 = memref.load %x[%bottom, %left, %c] : memref<512x512x64xf16>
    %s = memref.load %x[%bottom, %right, %c] : memref<512x512x64xf16>
    %0 = arith.addf %p, %q : f16
    %1 = arith.addf %r0, %s : f16
    %2 = arith.addf %0, %1 : f16
    linalg.yield %2 : f16
  }
  return %ok : i32
}

// Without the attribute, positions are read, and a thread has one pixel.
// CHECK-LABEL: gpu.func @unknown_gather_0
// CHECK:         memref.load %{{.*}} : memref<1024xi32>
// CHECK:         vector.load
// CHECK-NOT:     load
// CHECK:         vector.store
// CHECK-NEXT:    gpu.return
func.func @unknown(%runtime: !llvm.ptr, %x: memref<512x64xf16>, %at: memref<1024xi32>, %y: memref<1024x1024x64xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  linalg.generic {indexing_maps = [#columns, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%at : memref<1024xi32>) outs(%y : memref<1024x1024x64xf16>) {
  ^bb0(%i: i32, %o: f16):
    %c = linalg.index 2 : index
    %w = arith.index_cast %i : i32 to index
    %p = memref.load %x[%w, %c] : memref<512x64xf16>
    linalg.yield %p : f16
  }
  return %ok : i32
}
