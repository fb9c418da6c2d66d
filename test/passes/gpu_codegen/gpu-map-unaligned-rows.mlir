// RUN: convoy-opt %s -split-input-file -add-runtime-argument -gpu-map-kernels -canonicalize -cse | filecheck %s

// Rows that begin and end between aligned groups of elements.

// A thread has two groups of eight elements and one of the elements outside of groups, which are
// at most seven before and seven after. Loads are clamped to the row.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @odd(
// CHECK:         launch_kernel {{.*}} grid [512, 1, 1] block [128, 1, 1]
// CHECK:         gpu.func @odd_rows
// CHECK-DAG:       %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG:       %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:       %[[LENGTH:.*]] = arith.constant 2051 : index
// CHECK:           %[[ROW:.*]] = arith.muli %{{.*}}, %[[LENGTH]] : index
// CHECK:           %[[LAST:.*]] = arith.addi %[[ROW]], %[[C7]] : index
// CHECK:           %[[AFTER:.*]] = arith.remui %[[LAST]], %[[C8]] : index
// CHECK:           %[[FIRST:.*]] = arith.subi %[[C7]], %[[AFTER]] : index
// CHECK:           %[[REST:.*]] = arith.addi %[[AFTER]], %{{.*}} : index
// CHECK:           %[[GROUPS:.*]] = arith.divui %[[REST]], %[[C8]] : index
// CHECK:           arith.cmpi ult, %{{.*}}, %[[GROUPS]] : index
// CHECK:           arith.minui
// CHECK:           %[[BEFORE:.*]] = arith.cmpi ult, %[[SHARER:.*]], %[[FIRST]] : index
// CHECK:           arith.select %[[BEFORE]], %[[SHARER]], %{{.*}} : index
// CHECK-COUNT-2:   vector.load %{{.*}} {alignment = 16 : i64} : memref<1050112xf16>, vector<8xf16>
// CHECK-NOT:       vector.load
// CHECK:           memref.load %{{.*}} : memref<1050112xf16>
// CHECK-NOT:       {{(vector|memref)}}.load %{{.*}} : memref<1050112xf16>
// CHECK:           gpu.barrier
// CHECK-COUNT-2:   vector.store %{{.*}} {alignment = 16 : i64} : memref<1050112xf16>, vector<8xf16>
// CHECK-NOT:       vector.store
// CHECK:           memref.store %{{.*}} : memref<1050112xf16>
// CHECK-NOT:       memref.store
// CHECK:           gpu.return
func.func @odd(%x: memref<512x2051xf16>, %y: memref<512x2051xf16>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f16
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<512xf16>
    linalg.fill ins(%zero : f16) outs(%sum : memref<512xf16>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x2051xf16>) outs(%sum : memref<512xf16>) {
    ^bb0(%p: f16, %o: f16):
      %s = arith.addf %o, %p : f16
      linalg.yield %s : f16
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<512x2051xf16>, memref<512xf16>) outs(%y : memref<512x2051xf16>) {
    ^bb0(%p: f16, %q: f16, %o: f16):
      %d = arith.divf %p, %q : f16
      linalg.yield %d : f16
    }
    scf.yield
  }
  return
}

// -----

// Rows that registers do not hold: the elements outside of groups follow the loop over groups, and
// stay in registers.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @long(
// CHECK:         gpu.func @long_rows
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             vector.load %{{.*}} : memref<799992xf32>, vector<4xf32>
// CHECK:             scf.yield
// CHECK:           memref.load %{{.*}} : memref<799992xf32>
// CHECK:           gpu.barrier
// CHECK:           scf.for
// CHECK-NOT:         memref.load %{{.*}} : memref<799992xf32>
// CHECK:             vector.store %{{.*}} : memref<799992xf32>, vector<4xf32>
// CHECK:           memref.store %{{.*}} : memref<799992xf32>
// CHECK:           gpu.return
func.func @long(%x: memref<8x99999xf32>, %y: memref<8x99999xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<8xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<8xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<8x99999xf32>) outs(%sum : memref<8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<8x99999xf32>, memref<8xf32>) outs(%y : memref<8x99999xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      linalg.yield %d : f32
    }
    scf.yield
  }
  return
}

// -----

// Rows of slices that begin three elements after those of a slice of the other one: groups of both
// are aligned if the distance is a multiple of four elements.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @slices(
// CHECK:         gpu.func @slices_rows
// CHECK:           vector.load %{{.*}} : memref<73728xf32>, vector<4xf32>
// CHECK:           vector.store %{{.*}} : memref<131584xf32>, vector<4xf32>
// CHECK:           gpu.return
// CHECK:         gpu.func @slices_rows
// CHECK-NOT:       vector
// CHECK:           gpu.return
func.func @slices(%a: memref<64x1152xf32>, %b: memref<64x2056xf32>, %c: memref<64x2056xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %x = memref.subview %a[0, 3] [64, 1025] [1, 1] : memref<64x1152xf32> to memref<64x1025xf32, strided<[1152, 1], offset: 3>>
  %y = memref.subview %b[0, 1031] [64, 1025] [1, 1] : memref<64x2056xf32> to memref<64x1025xf32, strided<[2056, 1], offset: 1031>>
  %z = memref.subview %c[0, 2] [64, 1025] [1, 1] : memref<64x2056xf32> to memref<64x1025xf32, strided<[2056, 1], offset: 2>>
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<64xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<64x1025xf32, strided<[1152, 1], offset: 3>>) outs(%sum : memref<64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<64x1025xf32, strided<[1152, 1], offset: 3>>, memref<64xf32>) outs(%y : memref<64x1025xf32, strided<[2056, 1], offset: 1031>>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      linalg.yield %d : f32
    }
    scf.yield
  }
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<64xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<64x1025xf32, strided<[1152, 1], offset: 3>>) outs(%sum : memref<64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<64x1025xf32, strided<[1152, 1], offset: 3>>, memref<64xf32>) outs(%z : memref<64x1025xf32, strided<[2056, 1], offset: 2>>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      linalg.yield %d : f32
    }
    scf.yield
  }
  return
}

// -----

// Weights of a norm begin at multiples of the width, so that threads read single elements.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#element = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @weights(
// CHECK:         gpu.func @weights_rows
// CHECK-NOT:       vector
// CHECK:           gpu.return
func.func @weights(%x: memref<512x2051xf32>, %w: memref<2051xf32>, %y: memref<512x2051xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<512xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<512xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x2051xf32>) outs(%sum : memref<512xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #element, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum, %w : memref<512x2051xf32>, memref<512xf32>, memref<2051xf32>) outs(%y : memref<512x2051xf32>) {
    ^bb0(%p: f32, %q: f32, %r: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      %m = arith.mulf %d, %r : f32
      linalg.yield %m : f32
    }
    scf.yield
  }
  return
}
