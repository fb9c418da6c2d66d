// RUN: convoy-opt %s -split-input-file -add-runtime-argument -gpu-map-kernels -canonicalize -cse | filecheck %s

// Long rows that stay in registers as they are in memory, two elements in each.

// Two blocks, of 64 elements per thread, run at a time on a multiprocessor. LLVM does not see that
// the second pass converts the same elements as the first one.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @packed(
// CHECK:         launch_kernel {{.*}} grid [1024, 1, 1] block [512, 1, 1]
// CHECK:         gpu.func @packed_rows
// CHECK-SAME:      nvvm.minctasm = 2 : i32
// CHECK-COUNT-8:   vector.load %{{.*}} {alignment = 16 : i64} : memref<33554432xf16>, vector<8xf16>
// CHECK-NOT:       vector.load
// CHECK:           gpu.barrier
// CHECK:           %[[WORDS:.*]] = vector.bitcast %{{.*}} : vector<8xf16> to vector<4xi32>
// CHECK-NEXT:      %[[WORD:.*]] = vector.extract %[[WORDS]][0] : i32 from vector<4xi32>
// CHECK-NEXT:      %[[COPY:.*]] = llvm.inline_asm has_side_effects {{.*}} "mov.b32 $0, $1;", "=r,r" %[[WORD]] : (i32) -> i32
// CHECK-COUNT-3:   llvm.inline_asm
// CHECK:           %[[COPIES:.*]] = vector.from_elements %[[COPY]], {{.*}} : vector<4xi32>
// CHECK-NEXT:      %[[ELEMENTS:.*]] = vector.bitcast %[[COPIES]] : vector<4xi32> to vector<8xf16>
// CHECK-NEXT:      %[[ELEMENT:.*]] = vector.extract %[[ELEMENTS]][0] : f16 from vector<8xf16>
// CHECK:           arith.extf %[[ELEMENT]] : f16 to f32
// CHECK:           vector.store
// CHECK-COUNT-28:  llvm.inline_asm
// CHECK-NOT:       llvm.inline_asm
// CHECK:           gpu.return
func.func @packed(%x: memref<1024x32768xf16>, %y: memref<1024x32768xf16>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<1024xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<1024xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<1024x32768xf16>) outs(%sum : memref<1024xf32>) {
    ^bb0(%p: f16, %o: f32):
      %e = arith.extf %p : f16 to f32
      %s = arith.addf %o, %e : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<1024x32768xf16>, memref<1024xf32>) outs(%y : memref<1024x32768xf16>) {
    ^bb0(%p: f16, %q: f32, %o: f16):
      %e = arith.extf %p : f16 to f32
      %d = arith.divf %e, %q : f32
      %t = arith.truncf %d : f32 to f16
      linalg.yield %t : f16
    }
    scf.yield
  }
  return
}

// -----

// Two blocks of shorter rows run at a time anyway.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @shorter(
// CHECK:         launch_kernel {{.*}} grid [1024, 1, 1] block [512, 1, 1]
// CHECK:         gpu.func @shorter_rows
// CHECK-NOT:       minctasm
// CHECK-NOT:       llvm.inline_asm
// CHECK:           gpu.return
func.func @shorter(%x: memref<1024x16384xf16>, %y: memref<1024x16384xf16>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<1024xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<1024xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<1024x16384xf16>) outs(%sum : memref<1024xf32>) {
    ^bb0(%p: f16, %o: f32):
      %e = arith.extf %p : f16 to f32
      %s = arith.addf %o, %e : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<1024x16384xf16>, memref<1024xf32>) outs(%y : memref<1024x16384xf16>) {
    ^bb0(%p: f16, %q: f32, %o: f16):
      %e = arith.extf %p : f16 to f32
      %d = arith.divf %e, %q : f32
      %t = arith.truncf %d : f32 to f16
      linalg.yield %t : f16
    }
    scf.yield
  }
  return
}
