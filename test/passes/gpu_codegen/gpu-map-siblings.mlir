// RUN: convoy-opt %s -split-input-file -add-runtime-argument -gpu-map-kernels -canonicalize -cse | filecheck %s

// Three ops in one kernel. The first has block 0, the second blocks 1 and 2, and the third the last one.
// Each computes its index from the number of its own block.

// CHECK-LABEL: func @three
// CHECK-SAME: %[[RUNTIME:.*]]: !llvm.ptr, %[[X:.*]]: memref<100xf32>, %[[Y:.*]]: memref<300xf32>, %[[A:.*]]: memref<100xf32>, %[[B:.*]]: memref<300xf32>, %[[C:.*]]: memref<100xf32>)
// CHECK: cudnn_backend.launch_kernel %[[RUNTIME]], kernel = 0 grid [4, 1, 1] block [256, 1, 1] shared 0(%[[X]], %[[A]], %[[Y]], %[[B]], %[[C]])
// CHECK-NEXT: return
// CHECK: gpu.func @three_siblings_exp_tanh_0(%[[X:.*]]: memref<100xf32> {llvm.noalias}, %[[A:.*]]: memref<100xf32> {llvm.noalias}, %[[Y:.*]]: memref<300xf32> {llvm.noalias}, %[[B:.*]]: memref<300xf32> {llvm.noalias}, %[[C:.*]]: memref<100xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 256, 1, 1>}
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[SIZE:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[BLOCK:.*]] = gpu.block_id x
// CHECK-DAG: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[BLOCK]], %[[ONE]]
// CHECK: scf.if %[[FIRST]] {
// CHECK:   math.exp
// CHECK:   memref.store %{{.*}}, %[[A]]
// CHECK: } else {
// CHECK:   %[[SECOND:.*]] = arith.cmpi ult, %[[BLOCK]], %[[THREE]]
// CHECK:   scf.if %[[SECOND]] {
// CHECK:     %[[OWN:.*]] = arith.addi %[[BLOCK]], %{{.*}}
// CHECK:     %[[BEGIN:.*]] = arith.muli %[[OWN]], %[[SIZE]]
// CHECK:     %[[AT:.*]] = arith.addi %[[BEGIN]], %[[THREAD]]
// CHECK:     memref.load %[[Y]][%[[AT]]]
// CHECK:     math.tanh
// CHECK:     memref.store %{{.*}}, %[[B]][%[[AT]]]
// CHECK:   } else {
// CHECK:     math.sqrt
// CHECK:     memref.store %{{.*}}, %[[C]]
func.func @three(%x: memref<100xf32>, %y: memref<300xf32>, %a: memref<100xf32>, %b: memref<300xf32>, %c: memref<100xf32>) attributes {tcp.target = "cuda"} {
  scf.execute_region no_inline {
    linalg.exp ins(%x : memref<100xf32>) outs(%a : memref<100xf32>)
    linalg.tanh ins(%y : memref<300xf32>) outs(%b : memref<300xf32>)
    linalg.sqrt ins(%x : memref<100xf32>) outs(%c : memref<100xf32>)
    scf.yield
  }
  return
}

// -----

// Slices of one buffer: the kernel has one argument for it. An op without elements has no blocks.

// CHECK-LABEL: func @slices
// CHECK: cudnn_backend.launch_kernel %{{.*}}, kernel = 0 grid [2, 1, 1] block [256, 1, 1] shared 0(%{{[^,]*}}, %{{[^,]*}}) :
// CHECK-NEXT: return
// CHECK: gpu.func @slices_siblings_exp_tanh_0(%[[X:.*]]: memref<192xf32> {llvm.noalias}, %[[OUT:.*]]: memref<384xf32> {llvm.noalias})
func.func @slices(%x: memref<64x3xf32>, %out: memref<64x6xf32>, %none: memref<0xf32>) attributes {tcp.target = "cuda"} {
  %a = memref.subview %out[0, 0] [64, 3] [1, 1] : memref<64x6xf32> to memref<64x3xf32, strided<[6, 1]>>
  %b = memref.subview %out[0, 3] [64, 3] [1, 1] : memref<64x6xf32> to memref<64x3xf32, strided<[6, 1], offset: 3>>
  scf.execute_region no_inline {
    linalg.exp ins(%x : memref<64x3xf32>) outs(%a : memref<64x3xf32, strided<[6, 1]>>)
    linalg.sqrt ins(%none : memref<0xf32>) outs(%none : memref<0xf32>)
    linalg.tanh ins(%x : memref<64x3xf32>) outs(%b : memref<64x3xf32, strided<[6, 1], offset: 3>>)
    scf.yield
  }
  return
}

// -----

// A row of 8192 elements is shared by a block of 1024 threads, so it has a kernel of its own.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func @blocks
// CHECK: cudnn_backend.launch_kernel %{{.*}}, kernel = 0 grid [2, 1, 1] block [256, 1, 1]
// CHECK: cudnn_backend.launch_kernel %{{.*}}, kernel = 1 grid [8, 1, 1] block [{{512|1024}}, 1, 1]
// CHECK-NEXT: return
// CHECK: gpu.func @blocks_siblings_tanh_exp_0
// CHECK: gpu.func @blocks_rows_
func.func @blocks(%x: memref<8x8192xf32>, %y: memref<8x8192xf32>, %z: memref<100xf32>, %a: memref<100xf32>, %b: memref<100xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    linalg.tanh ins(%z : memref<100xf32>) outs(%a : memref<100xf32>)
    scf.execute_region no_inline {
      %sum = memref.alloc() : memref<8xf32>
      linalg.fill ins(%zero : f32) outs(%sum : memref<8xf32>)
      linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x8192xf32>) outs(%sum : memref<8xf32>) {
      ^bb0(%in: f32, %out: f32):
        %0 = arith.addf %in, %out : f32
        linalg.yield %0 : f32
      }
      linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : memref<8x8192xf32>, memref<8xf32>) outs(%y : memref<8x8192xf32>) {
      ^bb0(%in: f32, %s: f32, %out: f32):
        %0 = arith.divf %in, %s : f32
        linalg.yield %0 : f32
      }
      scf.yield
    }
    linalg.exp ins(%z : memref<100xf32>) outs(%b : memref<100xf32>)
    scf.yield
  }
  return
}

// -----

// Squares of 64 x 65 elements of two transposes would need more shared memory than a block should have.

#plane = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func @shared
// CHECK-COUNT-2: cudnn_backend.launch_kernel
// CHECK-NEXT: return
func.func @shared(%x: memref<128x128xf32>, %a: memref<128x128xf32>, %b: memref<128x128xf32>) attributes {tcp.target = "cuda"} {
  scf.execute_region no_inline {
    linalg.generic {indexing_maps = [#turned, #plane], iterator_types = ["parallel", "parallel"]} ins(%x : memref<128x128xf32>) outs(%a : memref<128x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = math.exp %in : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#turned, #plane], iterator_types = ["parallel", "parallel"]} ins(%x : memref<128x128xf32>) outs(%b : memref<128x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = math.tanh %in : f32
      linalg.yield %0 : f32
    }
    scf.yield
  }
  return
}
