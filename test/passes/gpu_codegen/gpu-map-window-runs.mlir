// RUN: convoy-opt %s --gpu-map-kernels --canonicalize | filecheck %s

// Windows that slide along rows: a thread loads the elements of eight neighboring windows together.

#window = affine_map<(n, y, x, i, j) -> (i, j)>
#out = affine_map<(n, y, x, i, j) -> (n, y, x)>

// Two groups of eight elements in each of two rows, and no loop.
// CHECK-LABEL: gpu.func @pairs_reduce_gather_max_0
// CHECK-NOT:     scf.for
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 16 : i64} : memref<4194304xf16>, vector<8xf16>
// CHECK-NOT:     load
// CHECK:         vector.store %{{.*}} {alignment = 16 : i64} : memref<1048576xf16>, vector<8xf16>
// CHECK-NEXT:    gpu.return
func.func @pairs(%runtime: !llvm.ptr, %x: memref<1024x64x64xf16>, %window: memref<2x2xf16>, %y: memref<1024x32x32xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  %lowest = arith.constant 0xFC00 : f16
  %c2 = arith.constant 2 : index
  linalg.fill ins(%lowest : f16) outs(%y : memref<1024x32x32xf16>)
  linalg.generic {indexing_maps = [#window, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%window : memref<2x2xf16>) outs(%y : memref<1024x32x32xf16>) {
  ^bb0(%w: f16, %most: f16):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = arith.muli %1, %c2 : index
    %3 = linalg.index 3 : index
    %4 = arith.addi %2, %3 : index
    %5 = linalg.index 2 : index
    %6 = arith.muli %5, %c2 : index
    %7 = linalg.index 4 : index
    %8 = arith.addi %6, %7 : index
    %9 = memref.load %x[%0, %4, %8] : memref<1024x64x64xf16>
    %10 = arith.maximumf %most, %9 : f16
    linalg.yield %10 : f16
  }
  return %ok : i32
}

// Windows of three share elements, and the first and last element of a thread may be beyond the row:
// these are loaded on their own.
// CHECK-LABEL: gpu.func @clamped_reduce_gather_max_0
// CHECK-NOT:     scf.for
// CHECK:         memref.load %{{.*}} : memref<4194304xf16>
// CHECK:         vector.load %{{.*}} {alignment = 16 : i64} : memref<4194304xf16>, vector<8xf16>
// CHECK:         memref.load %{{.*}} : memref<4194304xf16>
// CHECK-NOT:     load
// CHECK:         vector.store %{{.*}} {alignment = 16 : i64} : memref<4194304xf16>, vector<8xf16>
// CHECK-NEXT:    gpu.return
func.func @clamped(%runtime: !llvm.ptr, %x: memref<1024x64x64xf16>, %window: memref<1x3xf16>, %y: memref<1024x64x64xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  %lowest = arith.constant 0xFC00 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  linalg.fill ins(%lowest : f16) outs(%y : memref<1024x64x64xf16>)
  linalg.generic {indexing_maps = [#window, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%window : memref<1x3xf16>) outs(%y : memref<1024x64x64xf16>) {
  ^bb0(%w: f16, %most: f16):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = linalg.index 2 : index
    %3 = linalg.index 4 : index
    %4 = arith.addi %2, %3 : index
    %5 = arith.subi %4, %c1 : index
    %6 = arith.maxsi %5, %c0 : index
    %7 = arith.minsi %6, %c63 : index
    %8 = memref.load %x[%0, %1, %7] : memref<1024x64x64xf16>
    %9 = arith.maximumf %most, %8 : f16
    linalg.yield %9 : f16
  }
  return %ok : i32
}

// Rows of 63 elements are not aligned, and windows share none: the loops remain.
// CHECK-LABEL: gpu.func @unaligned_reduce_gather_max_0
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         memref.load
func.func @unaligned(%runtime: !llvm.ptr, %x: memref<1024x63x63xf16>, %window: memref<2x2xf16>, %y: memref<1024x31x31xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  %lowest = arith.constant 0xFC00 : f16
  %c2 = arith.constant 2 : index
  linalg.fill ins(%lowest : f16) outs(%y : memref<1024x31x31xf16>)
  linalg.generic {indexing_maps = [#window, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%window : memref<2x2xf16>) outs(%y : memref<1024x31x31xf16>) {
  ^bb0(%w: f16, %most: f16):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = arith.muli %1, %c2 : index
    %3 = linalg.index 3 : index
    %4 = arith.addi %2, %3 : index
    %5 = linalg.index 2 : index
    %6 = arith.muli %5, %c2 : index
    %7 = linalg.index 4 : index
    %8 = arith.addi %6, %7 : index
    %9 = memref.load %x[%0, %4, %8] : memref<1024x63x63xf16>
    %10 = arith.maximumf %most, %9 : f16
    linalg.yield %10 : f16
  }
  return %ok : i32
}
