// RUN: convoy-opt %s --gpu-map-kernels --canonicalize | filecheck %s

// If the innermost loop is short, threads have elements of several iterations of the loop before it,
// so that they store 16 bytes.

#resized = affine_map<(n, a, w, b) -> (n, w)>
#shuffled = affine_map<(n, w, b) -> (n, b, w)>
#all = affine_map<(n, w, b) -> (n, w, b)>
#out = affine_map<(n, a, w, b) -> (n, a, w, b)>

// Lanes in pairs share the elements of one load.
// CHECK-LABEL: gpu.func @resize_copy_0
// CHECK:         %[[X:.*]] = vector.load %{{.*}} {alignment = 8 : i64} : memref<131072xf16>, vector<4xf16>
// CHECK-DAG:     %[[A:.*]] = vector.extract %[[X]][0]
// CHECK-DAG:     %[[B:.*]] = vector.extract %[[X]][1]
// CHECK-DAG:     %[[C:.*]] = vector.extract %[[X]][2]
// CHECK-DAG:     %[[D:.*]] = vector.extract %[[X]][3]
// CHECK:         %[[Y:.*]] = vector.from_elements %[[A]], %[[A]], %[[B]], %[[B]], %[[C]], %[[C]], %[[D]], %[[D]] : vector<8xf16>
// CHECK:         vector.store %[[Y]], %{{.*}} {alignment = 16 : i64}
// CHECK-NEXT:    gpu.return
func.func @resize(%runtime: !llvm.ptr, %x: memref<2048x64xf16>, %y: memref<2048x2x64x2xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  linalg.generic {indexing_maps = [#resized, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<2048x64xf16>) outs(%y : memref<2048x2x64x2xf16>) {
  ^bb0(%p: f16, %o: f16):
    linalg.yield %p : f16
  }
  return %ok : i32
}

// A slice of a concat, of which only every 4 elements are aligned.
// CHECK-LABEL: gpu.func @slice_copy_0
// CHECK:         vector.load %{{.*}} {alignment = 4 : i64} : memref<131072xf16>, vector<2xf16>
// CHECK:         vector.store %{{.*}} {alignment = 8 : i64} : memref<532480xf16>, vector<4xf16>
// CHECK-NEXT:    gpu.return
func.func @slice(%runtime: !llvm.ptr, %x: memref<2048x64xf16>, %all: memref<2048x260xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  %y = memref.reinterpret_cast %all to offset: [4], sizes: [2048, 2, 64, 2], strides: [260, 128, 2, 1] : memref<2048x260xf16> to memref<2048x2x64x2xf16, strided<[260, 128, 2, 1], offset: 4>>
  linalg.generic {indexing_maps = [#resized, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<2048x64xf16>) outs(%y : memref<2048x2x64x2xf16, strided<[260, 128, 2, 1], offset: 4>>) {
  ^bb0(%p: f16, %o: f16):
    linalg.yield %p : f16
  }
  return %ok : i32
}

// Each iteration of the innermost loop has a load of its own.
// CHECK-LABEL: gpu.func @shuffle_transpose_0
// CHECK:         %[[X:.*]] = vector.load %{{.*}} {alignment = 8 : i64} : memref<262144xf16>, vector<4xf16>
// CHECK-DAG:     %[[A:.*]] = vector.extract %[[X]][0]
// CHECK-DAG:     %[[C:.*]] = vector.extract %[[X]][1]
// CHECK:         %[[Z:.*]] = vector.load %{{.*}} {alignment = 8 : i64} : memref<262144xf16>, vector<4xf16>
// CHECK-DAG:     %[[B:.*]] = vector.extract %[[Z]][0]
// CHECK-DAG:     %[[D:.*]] = vector.extract %[[Z]][1]
// CHECK:         vector.from_elements %[[A]], %[[B]], %[[C]], %[[D]], %{{.*}} : vector<8xf16>
// CHECK:         vector.store %{{.*}} {alignment = 16 : i64}
// CHECK-NEXT:    gpu.return
func.func @shuffle(%runtime: !llvm.ptr, %x: memref<2048x2x64xf16>, %y: memref<2048x64x2xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  linalg.generic {indexing_maps = [#shuffled, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<2048x2x64xf16>) outs(%y : memref<2048x64x2xf16>) {
  ^bb0(%p: f16, %o: f16):
    linalg.yield %p : f16
  }
  return %ok : i32
}

// A row has an odd number of pairs, so threads store one.
// CHECK-LABEL: gpu.func @odd_copy_0
// CHECK:         memref.load
// CHECK-NOT:     load
// CHECK:         vector.store %{{.*}} {alignment = 4 : i64} : memref<270336xf16>, vector<2xf16>
func.func @odd(%runtime: !llvm.ptr, %x: memref<2048x33xf16>, %y: memref<2048x2x33x2xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  linalg.generic {indexing_maps = [#resized, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<2048x33xf16>) outs(%y : memref<2048x2x33x2xf16>) {
  ^bb0(%p: f16, %o: f16):
    linalg.yield %p : f16
  }
  return %ok : i32
}
