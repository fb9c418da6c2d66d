// RUN: convoy-opt %s -split-input-file -add-runtime-argument -gpu-map-kernels -canonicalize -cse | filecheck %s

// Contiguous loops are collapsed into one loop; a thread processes 16 bytes.
// CHECK-LABEL: func @pointwise
// CHECK-SAME: %[[RUNTIME:.*]]: !llvm.ptr, %[[A:.*]]: memref<8x56x56x64xf16>, %[[B:.*]]: memref<8x56x56x64xf16>, %[[C:.*]]: memref<8x56x56x64xf16>)
// CHECK: cudnn_backend.launch_kernel %[[RUNTIME]], kernel = 0 grid [784, 1, 1] block [256, 1, 1] shared 0(%[[A]], %[[B]], %[[C]])
// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80">] attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>}
// CHECK: gpu.func @pointwise_add_max_0(%[[X:.*]]: memref<1605632xf16> {llvm.noalias}, %[[Y:.*]]: memref<1605632xf16> {llvm.noalias}, %[[OUT:.*]]: memref<1605632xf16> {llvm.noalias}) kernel
// CHECK-NOT: divui
// CHECK: vector.load %[[X]][%{{.*}}] {alignment = 16 : i64} : memref<1605632xf16>, vector<8xf16>
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: vector.store %{{.*}}, %[[OUT]][%{{.*}}] {alignment = 16 : i64} : memref<1605632xf16>, vector<8xf16>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @pointwise(%x: memref<8x56x56x64xf16>, %y: memref<8x56x56x64xf16>, %out: memref<8x56x56x64xf16>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f16
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %y : memref<8x56x56x64xf16>, memref<8x56x56x64xf16>) outs(%out : memref<8x56x56x64xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %s = arith.addf %a, %b : f16
    %r = arith.maximumf %s, %zero : f16
    linalg.yield %r : f16
  }
  return
}

// -----

// Two results, of which one replaces an operand: every thread loads before it stores.
// CHECK-LABEL: func @two_results
// CHECK-SAME: %[[RUNTIME:.*]]: !llvm.ptr, %[[A:.*]]: memref<8x512xf16>, %[[S:.*]]: memref<8x512xf16>, %[[C:.*]]: memref<8x512xf16>)
// CHECK: cudnn_backend.launch_kernel %[[RUNTIME]], kernel = 0 grid [16, 1, 1] block [256, 1, 1] shared 0(%[[A]], %[[S]], %[[C]])
// CHECK: gpu.func @two_results_add_mul_0(%[[X:.*]]: memref<4096xf16> {llvm.noalias}, %[[STATE:.*]]: memref<4096xf16> {llvm.noalias}, %[[OUT:.*]]: memref<4096xf16> {llvm.noalias}) kernel
// CHECK-DAG: %[[P:.*]] = memref.load %[[X]][%[[AT:.*]]]
// CHECK-DAG: %[[Q:.*]] = memref.load %[[STATE]][%[[AT]]]
// CHECK: %[[SUM:.*]] = arith.addf %[[P]], %[[Q]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[SUM]], %[[P]]
// CHECK: memref.store %[[SUM]], %[[STATE]][%[[AT]]]
// CHECK: memref.store %[[PRODUCT]], %[[OUT]][%[[AT]]]
#plane = affine_map<(d0, d1) -> (d0, d1)>
func.func @two_results(%x: memref<8x512xf16>, %state: memref<8x512xf16>, %out: memref<8x512xf16>) attributes {tcp.target = "cuda"} {
  linalg.generic {indexing_maps = [#plane, #plane, #plane, #plane], iterator_types = ["parallel", "parallel"]}
      ins(%x, %state : memref<8x512xf16>, memref<8x512xf16>) outs(%state, %out : memref<8x512xf16>, memref<8x512xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16, %p: f16):
    %s = arith.addf %a, %b : f16
    %r = arith.mulf %s, %a : f16
    linalg.yield %s, %r : f16, f16
  }
  return
}

// -----

// The input of a channels-last model: a thread processes one pixel. The padding channel is known at
// compile time, and the fill needs no kernel.
// CHECK-LABEL: func @input
// CHECK: memref.view
// CHECK: cudnn_backend.launch_kernel
// CHECK-NOT: cudnn_backend.launch_kernel
// CHECK: gpu.func @input_transpose_cast_0(%[[X:.*]]: memref<150528xf32> {llvm.noalias}, %[[OUT:.*]]: memref<200704xf16> {llvm.noalias})
// CHECK-COUNT-3: memref.load %[[X]]
// CHECK-NOT: memref.load
// CHECK: vector.store %{{.*}}, %[[OUT]][%{{.*}}] {alignment = 8 : i64} : memref<200704xf16>, vector<4xf16>
// CHECK-NOT: vector.store
func.func @input(%x: memref<1x3x224x224xf32>, %arena: memref<401664xi8>) attributes {tcp.target = "cuda"} {
  %c0 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f16
  %v = memref.view %arena[%c0][] : memref<401664xi8> to memref<1x224x224x4xf16>
  linalg.fill ins(%zero : f16) outs(%v : memref<1x224x224x4xf16>)
  %s = memref.subview %v[0, 0, 0, 0] [1, 224, 224, 3] [1, 1, 1, 1] : memref<1x224x224x4xf16> to memref<1x224x224x3xf16, strided<[200704, 896, 4, 1]>>
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<1x3x224x224xf32>) outs(%s : memref<1x224x224x3xf16, strided<[200704, 896, 4, 1]>>) {
  ^bb0(%a: f32, %o: f16):
    %r = arith.truncf %a : f32 to f16
    linalg.yield %r : f16
  }
  return
}

// -----

// Padding of an outer dim becomes a branch.
// CHECK: bytes = 364 : i64, location = "{{.*}}", name = "pad_rows_{{.*}}"
// CHECK-LABEL: func @pad_rows
// CHECK: cudnn_backend.launch_kernel
// CHECK-NOT: cudnn_backend.launch_kernel
// CHECK: gpu.func
// CHECK: scf.if
// CHECK: memref.load
// CHECK: else
// CHECK: memref.store
func.func @pad_rows(%x: memref<5x7xf32>, %out: memref<8x7xf32>) attributes {tcp.target = "cuda"} {
  %pad = arith.constant -1.0 : f32
  linalg.fill ins(%pad : f32) outs(%out : memref<8x7xf32>)
  %s = memref.subview %out[2, 0] [5, 7] [1, 1] : memref<8x7xf32> to memref<5x7xf32, strided<[7, 1], offset: 14>>
  memref.copy %x, %s : memref<5x7xf32> to memref<5x7xf32, strided<[7, 1], offset: 14>>
  return
}

// -----

// A reduction: the fill is the initial value. The threads of a block share a row, of which each reads
// 16 bytes at a time. Their sums are added in shared memory. The initial value of a sum is not in
// memory, so it is not counted.
// CHECK: bytes = 128128 : i64, location = "{{.*}}", name = "row_sums_reduce_add_0"
// CHECK-LABEL: func @row_sums
// CHECK: cudnn_backend.launch_kernel {{.*}} grid [32, 1, 1] block [256, 1, 1]
// CHECK-NOT: cudnn_backend.launch_kernel
// CHECK: gpu.func @row_sums_reduce_add_0({{.*}}) workgroup(%[[SUMS:.*]] : memref<8xf32, #gpu.address_space<workgroup>>)
// CHECK-NOT: scf.for
// CHECK: vector.load %arg0{{.*}} : memref<32000xf32>, vector<4xf32>
// CHECK-NOT: load %arg0
// CHECK: arith.select
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: memref.store %{{.*}}, %[[SUMS]]
// CHECK: gpu.barrier
// CHECK: memref.load %[[SUMS]]
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: memref.store %{{.*}}, %arg1
func.func @row_sums(%x: memref<32x1000xf32>, %out: memref<32xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<32xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<32x1000xf32>) outs(%out : memref<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// Rows of 64 elements of f16: eight threads share one, each of which reads 16 bytes. The mean is the
// epilogue of one of them.
// CHECK-LABEL: func @short_rows
// CHECK: cudnn_backend.launch_kernel {{.*}} grid [32, 1, 1] block [256, 1, 1]
// CHECK: gpu.func @short_rows_reduce_cast_add_mul_cast_0
// CHECK: vector.load %arg0{{.*}} : memref<65536xf16>, vector<8xf16>
// CHECK-COUNT-3: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK: scf.if
// CHECK-NEXT: memref.store %{{.*}}, %arg1
func.func @short_rows(%x: memref<1024x64xf16>, %out: memref<1024xf16>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %part = arith.constant 0.015625 : f32
  %sums = memref.alloc() : memref<1024xf32>
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%sums : memref<1024xf32>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<1024x64xf16>) outs(%sums : memref<1024xf32>) {
    ^bb0(%a: f16, %o: f32):
      %w = arith.extf %a : f16 to f32
      %r = arith.addf %o, %w : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%sums : memref<1024xf32>) outs(%out : memref<1024xf16>) {
    ^bb0(%a: f32, %o: f16):
      %m = arith.mulf %a, %part : f32
      %r = arith.truncf %m : f32 to f16
      linalg.yield %r : f16
    }
    scf.yield
  }
  return
}

// -----

// A convolution that cuDNN does not support: eight threads for an output element, along the
// channels of the window.
// CHECK-LABEL: func @conv
// CHECK: cudnn_backend.launch_kernel
// CHECK: gpu.func
// CHECK: arith.select
// CHECK-COUNT-3: gpu.shuffle xor
func.func @conv(%x: memref<1x9x9x3xf32>, %w: memref<8x3x3x3xf32>, %out: memref<1x7x7x8xf32>) attributes {tcp.target = "cuda"} {
  linalg.conv_2d_nhwc_fhwc ins(%x, %w : memref<1x9x9x3xf32>, memref<8x3x3x3xf32>) outs(%out : memref<1x7x7x8xf32>)
  return
}

// -----

// Equal kernels are shared. A fill that is read before the reduction remains. The manifest lists
// kernels by index.
// CHECK: module attributes {tcp.manifest = {kernels = [
// CHECK-SAME: {arguments = [{bytes = 128 : i64, role = "input"}, {bytes = 128 : i64, role = "output"}], bytes = 256 : i64, location = "{{.*}}gpu-map-kernels.mlir:{{[0-9]+}}", name = "shared_transpose_0"},
// CHECK-SAME: {arguments = [{bytes = 128 : i64, role = "output"}], bytes = 128 : i64, location = "{{.*}}", name = "shared_fill_0"}]}}
// CHECK: func @shared
// CHECK-COUNT-2: cudnn_backend.launch_kernel {{.*}} kernel = 1

// CHECK-NOT: gpu.func @shared_fill_1
func.func @shared(%a: memref<4x8xf32>, %b: memref<4x8xf32>, %c: memref<8x4xf32>) attributes {tcp.target = "cuda"} {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%a : memref<4x8xf32>)
  linalg.fill ins(%one : f32) outs(%b : memref<4x8xf32>)
  linalg.transpose ins(%a : memref<4x8xf32>) outs(%c : memref<8x4xf32>) permutation = [1, 0]
  return
}

// -----

// The runtime copies whole buffers; functions for the CPU are unchanged.
// CHECK-LABEL: func @plain
// CHECK-SAME: %[[RUNTIME:.*]]: !llvm.ptr, %[[X:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>
// CHECK: cudnn_backend.copy %[[RUNTIME]], %[[OUT]], %[[X]]
// CHECK-LABEL: func @cpu
// CHECK: linalg.fill
// CHECK-NOT: gpu.module
func.func @plain(%x: memref<4xf32>, %out: memref<4xf32>) attributes {tcp.target = "cuda"} {
  memref.copy %x, %out : memref<4xf32> to memref<4xf32>
  return
}
func.func @cpu(%out: memref<4xf32>) attributes {tcp.target = "cpu"} {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%out : memref<4xf32>)
  return
}

// -----

// A region of plan-group-epilogues is one kernel, and the result of its reduction has no buffer.
// CHECK: {arguments = [{bytes = 1152 : i64, role = "input"}, {bytes = 32 : i64, role = "input"}, {bytes = 128 : i64, role = "output"}], bytes = 1312 : i64
// CHECK-LABEL: func @mean_bias
// CHECK-SAME: %[[RUNTIME:.*]]: !llvm.ptr, %[[X:.*]]: memref<4x9x16xf16>, %[[BIAS:.*]]: memref<16xf16>, %[[OUT:.*]]: memref<4x16xf16>
// CHECK: cudnn_backend.launch_kernel %[[RUNTIME]], kernel = 0 grid [1, 1, 1] block [256, 1, 1] shared 0(%[[X]], %[[BIAS]], %[[OUT]])
// CHECK-NOT: cudnn_backend.launch_kernel
// CHECK: gpu.func @mean_bias_transpose_reduce_cast_add_mul_cast_add_0
// CHECK: scf.for
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: store
#row = affine_map<(d0, d1) -> (d0, d1)>
func.func @mean_bias(%x: memref<4x9x16xf16>, %bias: memref<16xf16>, %out: memref<4x16xf16>, %arena: memref<256xi8>) attributes {tcp.target = "cuda"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %ninth = arith.constant 0.111111111 : f32
  %sums = memref.view %arena[%c0][] : memref<256xi8> to memref<4x16xf32>
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%sums : memref<4x16xf32>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x : memref<4x9x16xf16>) outs(%sums : memref<4x16xf32>) {
    ^bb0(%a: f16, %o: f32):
      %w = arith.extf %a : f16 to f32
      %r = arith.addf %o, %w : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [#row, affine_map<(d0, d1) -> (d1)>, #row], iterator_types = ["parallel", "parallel"]}
        ins(%sums, %bias : memref<4x16xf32>, memref<16xf16>) outs(%out : memref<4x16xf16>) {
    ^bb0(%a: f32, %b: f16, %o: f16):
      %m = arith.mulf %a, %ninth : f32
      %c = arith.truncf %m : f32 to f16
      %r = arith.addf %c, %b : f16
      linalg.yield %r : f16
    }
    scf.yield
  }
  return
}

// -----

// A transpose of large dims uses shared memory, so that loads and stores are both along rows, of two
// 16-bit elements at once.
// CHECK-LABEL: func @transposed
// CHECK: cudnn_backend.launch_kernel {{.*}} grid [98, 1, 1] block [256, 1, 1]
// CHECK: gpu.func @transposed_transpose_add_0(%[[X:.*]]: memref<401408xf16> {llvm.noalias}, %[[BIAS:.*]]: memref<64xf16> {llvm.noalias}, %[[OUT:.*]]: memref<401408xf16> {llvm.noalias}) workgroup(%[[SQUARE:.*]] : memref<64x65xf16, #gpu.address_space<workgroup>>)
// CHECK-NOT: memref.load
// CHECK: vector.load %[[X]]{{.*}} {alignment = 4 : i64} : memref<401408xf16>, vector<2xf16>
// CHECK-NOT: memref.load
// CHECK-COUNT-16: memref.store %{{.*}}, %[[SQUARE]]
// CHECK: gpu.barrier
// CHECK: memref.load %[[SQUARE]]
// CHECK-NEXT: memref.load %[[SQUARE]]
// CHECK: memref.load %[[BIAS]]
// CHECK: vector.store %{{.*}}, %[[OUT]]{{.*}} {alignment = 4 : i64} : memref<401408xf16>, vector<2xf16>
func.func @transposed(%x: memref<2x3136x64xf16>, %bias: memref<64xf16>, %out: memref<2x64x3136xf16>) attributes {tcp.target = "cuda"} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %bias : memref<2x3136x64xf16>, memref<64xf16>) outs(%out : memref<2x64x3136xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %r = arith.addf %a, %b : f16
    linalg.yield %r : f16
  }
  return
}

// -----

// Elements of an odd number of rows are stored alone, and loaded alone.
// CHECK-LABEL: func.func @unpaired(
// CHECK: gpu.func
// CHECK-NOT: vector.
// CHECK: gpu.barrier
// CHECK-NOT: vector.
// CHECK: gpu.return
func.func @unpaired(%x: memref<151x64xf16>, %out: memref<64x151xf16>) attributes {tcp.target = "cuda"} {
  linalg.transpose ins(%x : memref<151x64xf16>) outs(%out : memref<64x151xf16>) permutation = [1, 0]
  return
}

// -----

// Tiles that cross the edge are guarded.
// CHECK-LABEL: func @transposed_odd
// CHECK: cudnn_backend.launch_kernel {{.*}} grid [4, 1, 1]
// CHECK: gpu.func
// CHECK: scf.if
// CHECK: gpu.barrier
// CHECK: scf.if
func.func @transposed_odd(%x: memref<33x40xf32>, %out: memref<40x33xf32>) attributes {tcp.target = "cuda"} {
  linalg.transpose ins(%x : memref<33x40xf32>) outs(%out : memref<40x33xf32>) permutation = [1, 0]
  return
}

// -----

// A mean over pixels of few channels-last images: 16 threads per channel, sectors of 16 channels,
// all loads at once; the two of a warp add by a shuffle, and one thread the sums in shared memory.
// CHECK-LABEL: func @mean_pixels
// CHECK: cudnn_backend.launch_kernel {{.*}} grid [128, 1, 1] block [256, 1, 1]
// CHECK-NOT: cudnn_backend.launch_kernel
// CHECK: gpu.func @mean_pixels_reduce_cast_add_mul_cast_0({{.*}}) workgroup(%[[ROWS:.*]] : memref<8x16xf32, #gpu.address_space<workgroup>>)
// CHECK-NOT: scf.for
// CHECK-COUNT-4: memref.load %arg0
// CHECK: arith.select
// CHECK: gpu.shuffle xor
// CHECK: memref.store %{{.*}}, %[[ROWS]]
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-COUNT-8: memref.load %[[ROWS]]
// CHECK: arith.mulf
// CHECK: memref.store
func.func @mean_pixels(%x: memref<1x7x7x2048xf16>, %out: memref<1x2048xf16>, %arena: memref<8192xi8>) attributes {tcp.target = "cuda"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %part = arith.constant 0.02 : f32
  %sums = memref.view %arena[%c0][] : memref<8192xi8> to memref<1x2048xf32>
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%sums : memref<1x2048xf32>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3)>],
                    iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
        ins(%x : memref<1x7x7x2048xf16>) outs(%sums : memref<1x2048xf32>) {
    ^bb0(%a: f16, %o: f32):
      %wide = arith.extf %a : f16 to f32
      %r = arith.addf %o, %wide : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%sums : memref<1x2048xf32>) outs(%out : memref<1x2048xf16>) {
    ^bb0(%a: f32, %o: f16):
      %r = arith.mulf %a, %part : f32
      %narrow = arith.truncf %r : f32 to f16
      linalg.yield %narrow : f16
    }
    scf.yield
  }
  return
}

// -----

// Outputs that fill no block: threads past the end repeat the last one, and store nothing. Blocks are
// large enough for all loads to be in flight at once, because there are few.
// CHECK-LABEL: func @column_max
// CHECK: cudnn_backend.launch_kernel {{.*}} grid [4, 1, 1] block [1024, 1, 1]
// CHECK: gpu.func @column_max_transpose_reduce_max_0({{.*}}) workgroup(%{{.*}} : memref<32x8xf32, #gpu.address_space<workgroup>>)
// CHECK: arith.minui
// CHECK-NOT: scf.for
// CHECK-COUNT-8: memref.load %arg0
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: arith.cmpi ult
// CHECK: memref.load %arg1
// CHECK: memref.store %{{.*}}, %arg1
func.func @column_max(%x: memref<1000x30xf32>, %out: memref<30xf32>) attributes {tcp.target = "cuda"} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1000x30xf32>) outs(%out : memref<30xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// Eight threads share a row of 49; its mean has a view without the unit dims.
// CHECK-LABEL: func @mean_rows
// CHECK: cudnn_backend.launch_kernel {{.*}} grid [1, 1, 1] block [256, 1, 1]
// CHECK-NOT: cudnn_backend.launch_kernel
// CHECK: gpu.func @mean_rows_reduce_add_mul_0
// CHECK: arith.minui
// CHECK-COUNT-3: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK: memref.store
func.func @mean_rows(%x: memref<2x3x7x7xf32>, %out: memref<2x3xf32>, %arena: memref<64xi8>) attributes {tcp.target = "cuda"} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %part = arith.constant 0.02 : f32
  %sums = memref.view %arena[%c0][] : memref<64xi8> to memref<2x3x1x1xf32>
  %flat = memref.collapse_shape %sums [[0], [1, 2, 3]] : memref<2x3x1x1xf32> into memref<2x3xf32>
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%sums : memref<2x3x1x1xf32>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>],
                    iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x : memref<2x3x7x7xf32>) outs(%sums : memref<2x3x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %o, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%flat : memref<2x3xf32>) outs(%out : memref<2x3xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %part : f32
      linalg.yield %r : f32
    }
    scf.yield
  }
  return
}

// -----

// Constants are data in the module of the kernels. Copying one is a kernel, because the GPU cannot
// access the copy on the host.
// CHECK-LABEL: func @constants
// CHECK-SAME: %[[RUNTIME:.*]]: !llvm.ptr, %[[X:.*]]: memref<3xf32>, %[[SUM:.*]]: memref<3xf32>, %[[COPY:.*]]: memref<3xf32>
// CHECK: cudnn_backend.launch_kernel %[[RUNTIME]], kernel = 0 grid [1, 1, 1] block [256, 1, 1] shared 0(%[[X]], %[[SUM]])
// CHECK: cudnn_backend.launch_kernel %[[RUNTIME]], kernel = 1 grid [1, 1, 1] block [256, 1, 1] shared 0(%[[COPY]])
// CHECK: gpu.module @kernels
// CHECK: memref.global "private" constant @primes : memref<3xf32> = dense<[2.000000e+00, 3.000000e+00, 5.000000e+00]>
// CHECK-COUNT-2: memref.get_global @primes
memref.global "private" constant @primes : memref<3xf32> = dense<[2.0, 3.0, 5.0]>
func.func @constants(%x: memref<3xf32>, %sum: memref<3xf32>, %copy: memref<3xf32>) attributes {tcp.target = "cuda"} {
  %primes = memref.get_global @primes : memref<3xf32>
  linalg.add ins(%x, %primes : memref<3xf32>, memref<3xf32>) outs(%sum : memref<3xf32>)
  memref.copy %primes, %copy : memref<3xf32> to memref<3xf32>
  return
}

// -----

// A constant that a nested block and a later op use is defined before the block.
// CHECK-LABEL: func @nested
// CHECK: gpu.func
// CHECK: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK: scf.while
// CHECK: arith.shrsi %{{.*}}, %[[ONE]]
// CHECK: arith.addi %{{.*}}, %[[ONE]]
func.func @nested(%x: memref<3xi64>, %y: memref<3xi64>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<3xi64>) outs(%y : memref<3xi64>) {
  ^bb0(%a: i64, %o: i64):
    %half = scf.while (%b = %a) : (i64) -> i64 {
      %more = arith.cmpi sgt, %b, %zero : i64
      scf.condition(%more) %b : i64
    } do {
    ^bb0(%b: i64):
      %next = arith.shrsi %b, %one : i64
      scf.yield %next : i64
    }
    %r = arith.addi %half, %one : i64
    linalg.yield %r : i64
  }
  return
}

// -----

// A reduction with two results: the threads of a block share both.
// CHECK-LABEL: func @two_sums
// CHECK: cudnn_backend.launch_kernel {{.*}} grid [2, 1, 1] block [1024, 1, 1]
// CHECK: gpu.func @two_sums_transpose_reduce_cast_add_0({{.*}}) workgroup(%[[SUMS:.*]] : memref<32x16xf32, #gpu.address_space<workgroup>>, %[[SQUARES:.*]] : memref<32x16xf32, #gpu.address_space<workgroup>>)
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32)
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK: memref.store %{{.*}}, %[[SUMS]]
// CHECK: memref.store %{{.*}}, %[[SQUARES]]
// CHECK: gpu.barrier
// CHECK-COUNT-32: memref.load %[[SUMS]]
// CHECK-COUNT-32: memref.load %[[SQUARES]]
// CHECK: memref.store %{{.*}}, %arg1
// CHECK: memref.store %{{.*}}, %arg2
func.func @two_sums(%x: memref<2000x32xf16>, %sum: memref<32xf32>, %square: memref<32xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<32xf32>)
  linalg.fill ins(%zero : f32) outs(%square : memref<32xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<2000x32xf16>) outs(%sum, %square : memref<32xf32>, memref<32xf32>) {
  ^bb0(%a: f16, %s: f32, %q: f32):
    %wide = arith.extf %a : f16 to f32
    %r = arith.addf %s, %wide : f32
    %p = arith.mulf %wide, %wide : f32
    %t = arith.addf %q, %p : f32
    linalg.yield %r, %t : f32, f32
  }
  return
}
