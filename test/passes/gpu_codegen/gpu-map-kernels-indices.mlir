// RUN: convoy-opt %s --gpu-map-kernels --cse --canonicalize | filecheck %s

// Rows of 34 elements are not aligned to more than two. If only addresses differ between the
// iterations of a loop, threads compute some of them, which share the arithmetic on other indices.

#all = affine_map<(n, c, w) -> (n, c, w)>

// Iterations of the second loop: the elements of four of its indices.
// CHECK-LABEL: gpu.func @pad_gather_select_0
// CHECK:         arith.minsi
// CHECK:         memref.load
// CHECK:         arith.minsi
// CHECK:         memref.load
// CHECK-NOT:     arith.minsi
// CHECK-COUNT-4: vector.store %{{.*}} {alignment = 4 : i64} : memref<4456448xf16>, vector<2xf16>
// CHECK-NEXT:    gpu.return
func.func @pad(%runtime: !llvm.ptr, %x: memref<64x2048x32xf16>, %y: memref<64x2048x34xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %zero = arith.constant 0.0 : f16
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]} outs(%y : memref<64x2048x34xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %w = linalg.index 2 : index
    %from = arith.subi %w, %c1 : index
    %inside = arith.cmpi ule, %from, %c31 : index
    %low = arith.minsi %from, %c31 : index
    %at = arith.maxsi %low, %c0 : index
    %p = memref.load %x[%n, %c, %at] : memref<64x2048x32xf16>
    %s = arith.select %inside, %p, %zero : f16
    linalg.yield %s : f16
  }
  return %ok : i32
}

// The second loop moves elements along itself, so the iterations are those of the first one.
// CHECK-LABEL: gpu.func @shift_gather_0
// CHECK:         arith.minsi
// CHECK-NOT:     arith.minsi
// CHECK-COUNT-4: vector.store
// CHECK-NEXT:    gpu.return
func.func @shift(%runtime: !llvm.ptr, %x: memref<64x2048x34xf16>, %y: memref<64x2048x34xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  %c1 = arith.constant 1 : index
  %c2047 = arith.constant 2047 : index
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]} outs(%y : memref<64x2048x34xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %w = linalg.index 2 : index
    %next = arith.addi %c, %c1 : index
    %at = arith.minsi %next, %c2047 : index
    %p = memref.load %x[%n, %at, %w] : memref<64x2048x34xf16>
    linalg.yield %p : f16
  }
  return %ok : i32
}

// Threads that store 16 bytes share it between the elements of a row.
// CHECK-LABEL: gpu.func @aligned_gather_0
// CHECK:         vector.store %{{.*}} {alignment = 16 : i64} : memref<4194304xf16>, vector<8xf16>
// CHECK-NEXT:    gpu.return
func.func @aligned(%runtime: !llvm.ptr, %x: memref<64x2048x32xf16>, %y: memref<64x2048x32xf16>) -> i32 attributes {tcp.target = "cuda"} {
  %ok = arith.constant 0 : i32
  %c31 = arith.constant 31 : index
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]} outs(%y : memref<64x2048x32xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %w = linalg.index 2 : index
    %at = arith.subi %c31, %w : index
    %p = memref.load %x[%n, %c, %at] : memref<64x2048x32xf16>
    linalg.yield %p : f16
  }
  return %ok : i32
}
