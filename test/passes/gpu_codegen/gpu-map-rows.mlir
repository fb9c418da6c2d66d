// RUN: convoy-opt %s -split-input-file -add-runtime-argument -gpu-map-kernels -canonicalize -cse | filecheck %s

// Regions of plan-group-rows.

// A warp shares a row, which it reads once. The sum has no memory. The last group of four elements
// of some threads is past the end.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @warp
// CHECK-NOT:     alloc
// CHECK:         launch_kernel {{.*}} grid [512, 1, 1] block [256, 1, 1]
// CHECK:         gpu.func @warp_rows_reduce_add_div_0
// CHECK-COUNT-2:   vector.load
// CHECK-NOT:       vector.load
// CHECK-COUNT-5:   gpu.shuffle xor
// CHECK-NOT:       gpu.barrier
// CHECK-COUNT-2:   vector.store
func.func @warp(%x: memref<4096x200xf32>, %y: memref<4096x200xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<4096xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<4096xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<4096x200xf32>) outs(%sum : memref<4096xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<4096x200xf32>, memref<4096xf32>) outs(%y : memref<4096x200xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      linalg.yield %d : f32
    }
    scf.yield
  }
  return
}

// -----

// Eight threads share a short row.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @part
// CHECK:         launch_kernel {{.*}} grid [128, 1, 1] block [256, 1, 1]
// CHECK:         gpu.func @part_rows_reduce_add_div_0
// CHECK-COUNT-3:   gpu.shuffle xor
// CHECK-NOT:       gpu.shuffle
func.func @part(%x: memref<4096x7xf32>, %y: memref<4096x7xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<4096xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<4096xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<4096x7xf32>) outs(%sum : memref<4096xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<4096x7xf32>, memref<4096xf32>) outs(%y : memref<4096x7xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      linalg.yield %d : f32
    }
    scf.yield
  }
  return
}

// -----

// A block shares a row: sums of its warps are in shared memory.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @block
// CHECK:         launch_kernel {{.*}} grid [64, 1, 1] block [512, 1, 1]
// CHECK:         gpu.func @block_rows_reduce_add_div_0
// CHECK-SAME:      workgroup({{.*}} : memref<16xf32
// CHECK:           gpu.shuffle
// CHECK:           gpu.barrier
// CHECK-NOT:       gpu.barrier
// CHECK:           vector.store
func.func @block(%x: memref<64x4096xf32>, %y: memref<64x4096xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<64xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<64x4096xf32>) outs(%sum : memref<64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<64x4096xf32>, memref<64xf32>) outs(%y : memref<64x4096xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      linalg.yield %d : f32
    }
    scf.yield
  }
  return
}

// -----

// A row that is too long for registers is read again.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @long
// CHECK:         launch_kernel {{.*}} grid [8, 1, 1] block [1024, 1, 1]
// CHECK:         gpu.func @long_rows_reduce_add_div_0
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             vector.load
// CHECK:           gpu.barrier
// CHECK:           scf.for
// CHECK:             vector.load
// CHECK:             vector.store
func.func @long(%x: memref<8x100000xf32>, %y: memref<8x100000xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<8xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<8xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<8x100000xf32>) outs(%sum : memref<8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<8x100000xf32>, memref<8xf32>) outs(%y : memref<8x100000xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      linalg.yield %d : f32
    }
    scf.yield
  }
  return
}

// -----

// Rows that are sums of four rows, one for each of four weights: a thread reads each element once,
// and computes its four results.

#row = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#head0 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#head1 = affine_map<(d0, d1, d2, d3) -> (d0, 1, d2, d3)>
#head2 = affine_map<(d0, d1, d2, d3) -> (d0, 2, d2, d3)>
#head3 = affine_map<(d0, d1, d2, d3) -> (d0, 3, d2, d3)>
#weight = affine_map<(d0, d1, d2, d3) -> (d1)>

// CHECK-LABEL: func.func @heads
// CHECK:         launch_kernel {{.*}} grid [256, 1, 1] block [256, 1, 1]
// CHECK:         gpu.func @heads_rows_add_mul_reduce_max_sub_0
// CHECK-COUNT-4:   vector.load
// CHECK-NOT:       vector.load
// CHECK-COUNT-20:  gpu.shuffle xor
// CHECK-NOT:       gpu.shuffle xor
func.func @heads(%x: memref<16x4x128x128xf32>, %w: memref<4xf32>, %y: memref<16x4x128x128xf32>) attributes {tcp.target = "cuda"} {
  %low = arith.constant 0xFF800000 : f32
  scf.execute_region no_inline {
    %z = memref.alloc() : memref<16x4x128x128xf32>
    %max = memref.alloc() : memref<16x4x128xf32>
    linalg.generic {indexing_maps = [#head0, #head1, #head2, #head3, #weight, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%x, %x, %x, %x, %w : memref<16x4x128x128xf32>, memref<16x4x128x128xf32>, memref<16x4x128x128xf32>, memref<16x4x128x128xf32>, memref<4xf32>) outs(%z : memref<16x4x128x128xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %v: f32, %o: f32):
      %0 = arith.addf %a, %b : f32
      %1 = arith.addf %0, %c : f32
      %2 = arith.addf %1, %d : f32
      %3 = arith.mulf %2, %v : f32
      linalg.yield %3 : f32
    }
    linalg.fill ins(%low : f32) outs(%max : memref<16x4x128xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%z : memref<16x4x128x128xf32>) outs(%max : memref<16x4x128xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.maximumf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%z, %max : memref<16x4x128x128xf32>, memref<16x4x128xf32>) outs(%y : memref<16x4x128x128xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.subf %p, %q : f32
      linalg.yield %d : f32
    }
    scf.yield
  }
  return
}

// -----

// Columns, of which a warp reads 32 neighboring ones. Four warps share a column.

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @across
// CHECK:         launch_kernel {{.*}} grid [256, 1, 1] block [128, 1, 1]
// CHECK:         gpu.func @across_rows_reduce_add_div_0({{.*}}) workgroup(%[[PARTS:.*]] : memref<128xf32, #gpu.address_space<workgroup>>) kernel
// CHECK-COUNT-16:  memref.load %{{.*}} : memref<524288xf32>
// CHECK-NOT:       gpu.shuffle
// CHECK:           memref.store %{{.*}}, %[[PARTS]]
// CHECK:           gpu.barrier
// CHECK-COUNT-4:   memref.load %[[PARTS]]
// CHECK-COUNT-16:  memref.store %{{.*}} : memref<524288xf32>
func.func @across(%x: memref<64x8192xf32>, %y: memref<64x8192xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<8192xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<8192xf32>)
    linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : memref<64x8192xf32>) outs(%sum : memref<8192xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<64x8192xf32>, memref<8192xf32>) outs(%y : memref<64x8192xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      linalg.yield %d : f32
    }
    scf.yield
  }
  return
}

// -----

// A group of four channels in channels-last order. A block has four neighboring groups, whose channels
// make two sectors of memory; threads of a warp exchange values with those of the same group.

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#group = affine_map<(d0, d1, d2, d3) -> (d0, d2)>

// CHECK-LABEL: func.func @runs
// CHECK:         launch_kernel {{.*}} grid [256, 1, 1] block [128, 1, 1]
// CHECK:         gpu.func @runs_rows_reduce_add_div_0({{.*}}) workgroup(%[[PARTS:.*]] : memref<16xf32, #gpu.address_space<workgroup>>) kernel
// CHECK-COUNT-8:   vector.load %{{.*}} : memref<1048576xf32>, vector<4xf32>
// CHECK-COUNT-3:   gpu.shuffle xor
// CHECK-NOT:       gpu.shuffle
// CHECK:           memref.store %{{.*}}, %[[PARTS]]
// CHECK:           gpu.barrier
// CHECK-COUNT-4:   memref.load %[[PARTS]]
// CHECK-COUNT-8:   vector.store %{{.*}} : memref<1048576xf32>, vector<4xf32>
func.func @runs(%x: memref<64x256x16x4xf32>, %y: memref<64x256x16x4xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<64x16xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x16xf32>)
    linalg.generic {indexing_maps = [#id, #group], iterator_types = ["parallel", "reduction", "parallel", "reduction"]}
        ins(%x : memref<64x256x16x4xf32>) outs(%sum : memref<64x16xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #group, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%x, %sum : memref<64x256x16x4xf32>, memref<64x16xf32>) outs(%y : memref<64x256x16x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %d = arith.divf %p, %q : f32
      linalg.yield %d : f32
    }
    scf.yield
  }
  return
}

// -----

// Running sums of rows that a block shares: 5 steps in each warp, then the totals of the warps before
// it through shared memory, for each of the four groups of a thread.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @running_sums
// CHECK:         launch_kernel {{.*}} grid [64, 1, 1] block [512, 1, 1]
// CHECK:         gpu.func @running_sums_rows_cumulative_add_0{{.*}} workgroup(%{{.*}} : memref<16xf32,
// CHECK-COUNT-5:   gpu.shuffle idx
// CHECK:           gpu.barrier
// CHECK-COUNT-16:  memref.load {{.*}}<workgroup>
// CHECK:           gpu.barrier
// CHECK:           vector.store
// CHECK-COUNT-15:  gpu.shuffle idx
// CHECK-NOT:       gpu.shuffle idx
// CHECK:           gpu.return
func.func @running_sums(%x: memref<64x8192xf32>, %y: memref<64x8192xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    %sum = memref.alloc() : memref<64xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
    linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<64x8192xf32>) outs(%y, %sum : memref<64x8192xf32>, memref<64xf32>) {
    ^bb0(%p: f32, %o: f32, %t: f32):
      %s = arith.addf %t, %p : f32
      linalg.yield %s, %s : f32, f32
    }
    scf.yield
  }
  return
}
