// RUN: convoy-opt %s --split-input-file --cpu-contractions="lanes=8 registers=16" | filecheck %s

// 3 x 40 outputs in vectors of 8: a tile of 3 pixels times 3 vectors, and a rest of 2 vectors. With tiles
// of 2 vectors, the rest of one vector would have few sums.

// CHECK-LABEL: func.func @matmul
// CHECK-SAME:    %[[A:.*]]: memref<3x5xf32>, %[[B:.*]]: memref<5x40xf32>, %[[C:.*]]: memref<3x40xf32>
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [15], strides: [1]
// CHECK:         scf.parallel {{.*}} to (%c2)
// CHECK:           scf.if
// CHECK-COUNT-6:     vector.load {{.*}} memref<120xf32>, vector<8xf32>
// CHECK:             scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-6:       vector.fma
// CHECK-NOT:           vector.fma
// CHECK-COUNT-6:     vector.store
// CHECK:           else
// CHECK-COUNT-9:     vector.load {{.*}} memref<120xf32>, vector<8xf32>
// CHECK-COUNT-9:     vector.fma
// CHECK-NOT:         vector.fma
// CHECK-COUNT-9:     vector.store
// CHECK-NOT:     linalg
// CHECK-NOT:     scf.parallel
func.func @matmul(%a: memref<3x5xf32>, %b: memref<5x40xf32>, %c: memref<3x40xf32>) attributes {tcp.target = "cpu"} {
  linalg.matmul ins(%a, %b : memref<3x5xf32>, memref<5x40xf32>) outs(%c : memref<3x40xf32>)
  return
}

// -----

// 14 x 56 outputs: tiles of 5 pixels times 2 vectors, 5, 5 and 4 in a row. The rest of one vector is a tile
// of 14 pixels.

// CHECK-LABEL: func.func @rest
// CHECK:         scf.parallel
// CHECK:           scf.if
// CHECK-COUNT-14:    vector.fma
// CHECK-NOT:         vector.fma
// CHECK:           else
// CHECK-COUNT-10:    vector.fma
// CHECK-NOT:         vector.fma
// CHECK:             scf.yield
// CHECK-COUNT-8:     vector.fma
// CHECK-NOT:         vector.fma
// CHECK-NOT:     linalg
func.func @rest(%a: memref<2x14x5xf32>, %b: memref<2x5x56xf32>, %c: memref<2x14x56xf32>) attributes {tcp.target = "cpu"} {
  linalg.batch_matmul ins(%a, %b : memref<2x14x5xf32>, memref<2x5x56xf32>) outs(%c : memref<2x14x56xf32>)
  return
}

// -----

// Fewer channels than vector lanes: masked.

// CHECK-LABEL: func.func @masked
// CHECK:         %[[MASK:.*]] = arith.constant dense<[true, true, true, true, true, false, false, false]>
// CHECK:         vector.maskedload
// CHECK:         vector.maskedstore
func.func @masked(%a: memref<1x4xf32>, %b: memref<4x5xf32>, %c: memref<1x5xf32>) attributes {tcp.target = "cpu"} {
  linalg.matmul ins(%a, %b : memref<1x4xf32>, memref<4x5xf32>) outs(%c : memref<1x5xf32>)
  return
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#bias = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>

// The epilogue uses the sums in registers; the buffer of the product is not accessed.

// CHECK-LABEL: func.func @epilogue
// CHECK-SAME:    %[[T:.*]]: memref<1x4x4x16xf32>, %[[Y:.*]]: memref<1x4x4x16xf32>)
// CHECK-NOT:     %[[T]]
// CHECK-NOT:     scf.execute_region
// CHECK:         %[[OUT:.*]] = memref.reinterpret_cast %[[Y]]
// CHECK:         scf.parallel
// CHECK:           vector.fma
// CHECK:           %[[S:.*]] = arith.addf {{.*}} : vector<8xf32>
// CHECK:           %[[R:.*]] = arith.maximumf %[[S]], {{.*}} : vector<8xf32>
// CHECK:           vector.store %[[R]], %[[OUT]]
// CHECK-NOT:     linalg
func.func @epilogue(%x: memref<1x6x6x3xf32>, %w: memref<3x3x3x16xf32>, %b: memref<1x1x1x16xf32>, %t: memref<1x4x4x16xf32>, %y: memref<1x4x4x16xf32>)
    attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%t : memref<1x4x4x16xf32>)
    linalg.conv_2d_nhwc_hwcf ins(%x, %w : memref<1x6x6x3xf32>, memref<3x3x3x16xf32>) outs(%t : memref<1x4x4x16xf32>)
    linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%t, %b : memref<1x4x4x16xf32>, memref<1x1x1x16xf32>) outs(%y : memref<1x4x4x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      %m = arith.maximumf %s, %zero : f32
      linalg.yield %m : f32
    }
    scf.yield
  }
  return
}

// -----

// f64 has no vector kernel: the region is inlined, and loops compute it.

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @other_types
// CHECK-NOT:     scf.execute_region
// CHECK:         linalg.fill
// CHECK:         linalg.matmul
// CHECK:         linalg.generic
func.func @other_types(%a: memref<3x5xf64>, %b: memref<5x40xf64>, %t: memref<3x40xf64>, %c: memref<3x40xf64>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f64
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f64) outs(%t : memref<3x40xf64>)
    linalg.matmul ins(%a, %b : memref<3x5xf64>, memref<5x40xf64>) outs(%t : memref<3x40xf64>)
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : memref<3x40xf64>) outs(%c : memref<3x40xf64>) {
    ^bb0(%p: f64, %o: f64):
      %s = math.absf %p : f64
      linalg.yield %s : f64
    }
    scf.yield
  }
  return
}

// -----

// Each group of channels has a separate filter. The bias is added in registers.

#image = affine_map<(n, g, h, w, k, r, s, c) -> (n, h + r, w + s, g * 4 + c)>
#filter = affine_map<(n, g, h, w, k, r, s, c) -> (g, r, s, c, k)>
#groups = affine_map<(n, g, h, w, k, r, s, c) -> (n, h, w, g * 8 + k)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#bias = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>

// CHECK-LABEL: func.func @grouped
// CHECK-SAME:    %{{.*}}: memref<3x6x6x8xf32>, %{{.*}}, %[[B:[a-z0-9]+]]: memref<1x1x1x16xf32>
// CHECK:         %[[BIAS:.*]] = memref.reinterpret_cast %[[B]]
// CHECK:         scf.parallel
// CHECK:           vector.fma
// CHECK:           vector.load %[[BIAS]][%{{.*}}] : memref<16xf32>, vector<8xf32>
// CHECK:           vector.store
// CHECK-NOT:     linalg
func.func @grouped(%x: memref<3x6x6x8xf32>, %w: memref<2x3x3x4x8xf32>, %b: memref<1x1x1x16xf32>, %t: memref<3x4x4x16xf32>, %y: memref<3x4x4x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%t : memref<3x4x4x16xf32>)
    linalg.generic {indexing_maps = [#image, #filter, #groups],
                    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : memref<3x6x6x8xf32>, memref<2x3x3x4x8xf32>) outs(%t : memref<3x4x4x16xf32>) {
    ^bb0(%a: f32, %f: f32, %o: f32):
      %p = arith.mulf %a, %f : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%t, %b : memref<3x4x4x16xf32>, memref<1x1x1x16xf32>) outs(%y : memref<3x4x4x16xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      linalg.yield %s : f32
    }
    scf.yield
  }
  return
}

// -----

// CHECK-LABEL: func.func @conv3d
// CHECK:         scf.parallel
// CHECK:           vector.fma
// CHECK-NOT:     linalg
func.func @conv3d(%x: memref<1x4x6x6x4xf32>, %w: memref<3x3x3x4x8xf32>, %y: memref<1x2x4x4x8xf32>) attributes {tcp.target = "cpu"} {
  linalg.conv_3d_ndhwc_dhwcf {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>}
      ins(%x, %w : memref<1x4x6x6x4xf32>, memref<3x3x3x4x8xf32>) outs(%y : memref<1x2x4x4x8xf32>)
  return
}

// -----

#input = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f * 2 + q, h + r, w + s, c)>
#filter = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (kb, q, r, s, c, ki)>
#output = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f, h, w, kb * 16 + ki)>
#id = affine_map<(n, f, h, w, k) -> (n, f, h, w, k)>
#bias = affine_map<(n, f, h, w, k) -> (0, 0, 0, 0, k)>
#frames = affine_map<(n, f, h, w, k) -> (0, f, 0, 0, 0)>

// Three spatial dims with a packed filter. The epilogue reads a number for each frame, and writes
// into a padded buffer, whose frames are 864 elements apart.

// CHECK-LABEL: func.func @packed_3d
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<1x9x6x7x4xf32>, %[[W:[a-z0-9]+]]: memref<1x3x3x3x4x16xf32>, %[[B:[a-z0-9]+]]: {{.*}}, %[[F:[a-z0-9]+]]: memref<1x4x1x1x1xf32>, %[[P:[a-z0-9]+]]:
// CHECK-DAG:     %[[FRAMES:.*]] = memref.reinterpret_cast %[[F]] to offset: [0], sizes: [4], strides: [1]
// CHECK:         scf.parallel
// CHECK-COUNT-10:  vector.fma
// CHECK-NOT:       vector.fma
// CHECK:           %[[STRIDE:.*]] = arith.constant 864 : index
// CHECK-NEXT:      arith.muli %[[FRAME:[a-z0-9]+]], %[[STRIDE]]
// CHECK:           %[[NUMBER:.*]] = memref.load %[[FRAMES]][%[[FRAME]]]
// CHECK:           vector.broadcast %[[NUMBER]] : f32 to vector<8xf32>
// CHECK:           arith.maximumf {{.*}} : vector<8xf32>
// CHECK:           vector.store
// CHECK-NOT:     linalg
func.func @packed_3d(%x: memref<1x9x6x7x4xf32>, %w: memref<1x3x3x3x4x16xf32>, %b: memref<1x1x1x1x16xf32>, %f: memref<1x4x1x1x1xf32>,
                     %p: memref<1x4x4x5x16xf32, strided<[3456, 864, 144, 16, 1], offset: 160>>, %y: memref<1x4x4x5x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%y : memref<1x4x4x5x16xf32>)
    linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
        ins(%x, %w : memref<1x9x6x7x4xf32>, memref<1x3x3x3x4x16xf32>) outs(%y : memref<1x4x4x5x16xf32>) {
    ^bb0(%a: f32, %c: f32, %d: f32):
      %0 = arith.mulf %a, %c : f32
      %1 = arith.addf %d, %0 : f32
      linalg.yield %1 : f32
    }
    linalg.generic {indexing_maps = [#id, #bias, #frames, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%y, %b, %f : memref<1x4x4x5x16xf32>, memref<1x1x1x1x16xf32>, memref<1x4x1x1x1xf32>) outs(%p : memref<1x4x4x5x16xf32, strided<[3456, 864, 144, 16, 1], offset: 160>>) {
    ^bb0(%a: f32, %c: f32, %e: f32, %d: f32):
      %0 = arith.addf %a, %c : f32
      %1 = arith.mulf %0, %e : f32
      %2 = arith.maximumf %1, %zero : f32
      linalg.yield %2 : f32
    }
    scf.yield
  }
  return
}

// -----

// CHECK-LABEL: func.func @cuda
// CHECK:         linalg.matmul
func.func @cuda(%a: memref<3x5xf32>, %b: memref<5x40xf32>, %c: memref<3x40xf32>) attributes {tcp.target = "cuda"} {
  linalg.matmul ins(%a, %b : memref<3x5xf32>, memref<5x40xf32>) outs(%c : memref<3x40xf32>)
  return
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#rows = affine_map<(d0, d1, d2) -> (0, d1, d2)>

// A bool is a byte in memory, but a vector of i1 would be loaded and stored as bits.

// CHECK-LABEL: func.func @bools
// CHECK-SAME:    %[[M:[^:]*]]: memref<1x3x16xi1>, %[[T:[^:]*]]: memref<2x3x16xf32>, %[[Y:[^:]*]]: memref<2x3x16xi1>)
// CHECK:         %[[OUT:.*]] = builtin.unrealized_conversion_cast {{.*}} : memref<96xi1> to memref<96xi8>
// CHECK:         %[[MASK:.*]] = builtin.unrealized_conversion_cast {{.*}} : memref<48xi1> to memref<48xi8>
// CHECK:         scf.parallel
// CHECK-NOT:     vector<8xi1>
// CHECK:           %[[BYTES:.*]] = vector.load %[[MASK]]{{.*}} : memref<48xi8>, vector<8xi8>
// CHECK:           arith.cmpi ne, %[[BYTES]], {{.*}} : vector<8xi8>
// CHECK:           %[[WIDE:.*]] = arith.extui {{.*}} : vector<8xi1> to vector<8xi8>
// CHECK:           vector.store %[[WIDE]], %[[OUT]]
func.func @bools(%a: memref<2x3x4xf32>, %b: memref<2x4x16xf32>, %m: memref<1x3x16xi1>, %t: memref<2x3x16xf32>, %y: memref<2x3x16xi1>)
    attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%t : memref<2x3x16xf32>)
    linalg.batch_matmul ins(%a, %b : memref<2x3x4xf32>, memref<2x4x16xf32>) outs(%t : memref<2x3x16xf32>)
    linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : memref<2x3x16xf32>, memref<1x3x16xi1>) outs(%y : memref<2x3x16xi1>) {
    ^bb0(%v: f32, %keep: i1, %old: i1):
      %positive = arith.cmpf ogt, %v, %zero : f32
      %both = arith.andi %positive, %keep : i1
      linalg.yield %both : i1
    }
    scf.yield
  }
  return
}

// -----

// A filter that does not stay in the cache is fetched a page ahead: 16 channels are one line.

#left = affine_map<(m, kb, ki, c) -> (m, c)>
#right = affine_map<(m, kb, ki, c) -> (kb, c, ki)>
#result = affine_map<(m, kb, ki, c) -> (m, kb * 16 + ki)>

// CHECK-LABEL: func.func @large_factor
// CHECK:         scf.parallel
// CHECK:           arith.constant 1024 : index
// CHECK:           memref.prefetch %{{.*}}, read, locality<3>, data : memref<524288xf32>
// CHECK-NOT:       memref.prefetch
func.func @large_factor(%x: memref<4x512xf32>, %w: memref<64x512x16xf32>, %y: memref<4x1024xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<4x512xf32>, memref<64x512x16xf32>) outs(%y : memref<4x1024xf32>) {
  ^bb0(%a: f32, %f: f32, %o: f32):
    %p = arith.mulf %a, %f : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A long row of few channels: 41 tiles of 6 pixels are 14 parts of 3, and a tile of 4 is in the last one.

// CHECK-LABEL: func.func @long_row
// CHECK:         scf.parallel {{.*}} to (%c14)
// CHECK:           %[[PART:.*]] = arith.remui
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[PART]], %c18
// CHECK:           %[[NEXT:.*]] = arith.addi %[[BEGIN]], %c18
// CHECK:           %[[END:.*]] = arith.minui %[[NEXT]], %c246
// CHECK:           scf.for {{.*}} = %[[BEGIN]] to %[[END]] step %c6
// CHECK-COUNT-12:      vector.fma
// CHECK-NOT:           vector.fma
// CHECK:           %[[LAST:.*]] = arith.cmpi eq, %[[PART]], %c13
// CHECK:           scf.if %[[LAST]]
// CHECK-COUNT-8:       vector.fma
// CHECK-NOT:           vector.fma
func.func @long_row(%a: memref<250x5xf32>, %b: memref<1x5x16xf32>, %c: memref<250x16xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [affine_map<(m, kb, ki, c) -> (m, c)>, affine_map<(m, kb, ki, c) -> (kb, c, ki)>, affine_map<(m, kb, ki, c) -> (m, kb * 16 + ki)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<250x5xf32>, memref<1x5x16xf32>) outs(%c : memref<250x16xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The last block of a packed filter is not whole: 25 channels are 2 blocks, of which the second one has
// two vectors, the last with one channel.

// CHECK-LABEL: func.func @partial_block
// CHECK:         %[[W:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [128]
// CHECK:         scf.parallel {{.*}} to (%c2)
// CHECK:           %[[BLOCK:.*]] = arith.remui
// CHECK:           arith.muli %[[BLOCK]], %c64
// CHECK:           scf.if
// CHECK:             vector.maskedload %[[W]]
// CHECK:             vector.maskedstore
// CHECK:           else
// CHECK-NOT:         vector.masked
// CHECK:             vector.load %[[W]]
// CHECK:             vector.fma
// CHECK-NOT:     linalg
func.func @partial_block(%a: memref<3x4xf32>, %b: memref<2x4x16xf32>, %c: memref<3x25xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [affine_map<(m, k, c) -> (m, c)>, affine_map<(m, k, c) -> (k floordiv 16, c, k mod 16)>, affine_map<(m, k, c) -> (m, k)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<3x4xf32>, memref<2x4x16xf32>) outs(%c : memref<3x25xf32>) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The epilogue lacks the product's dim of one row.

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#bias = affine_map<(d0, d1, d2) -> (0, 0, d2)>

// CHECK-LABEL: func.func @without_rows
// CHECK-SAME:    %[[T:[a-z0-9]+]]: memref<1x1x8x16xf32>, %[[Y:[a-z0-9]+]]: memref<1x8x16xf32>)
// CHECK:         %[[OUT:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [128]
// CHECK:         scf.parallel
// CHECK:           vector.fma
// CHECK:           %[[S:.*]] = arith.addf {{.*}} : vector<8xf32>
// CHECK:           vector.store %[[S]], %[[OUT]]
// CHECK-NOT:     linalg
func.func @without_rows(%x: memref<1x1x10x4xf32>, %w: memref<1x3x4x16xf32>, %b: memref<1x1x16xf32>, %t: memref<1x1x8x16xf32>, %y: memref<1x8x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %u = memref.collapse_shape %t [[0, 1], [2], [3]] : memref<1x1x8x16xf32> into memref<1x8x16xf32>
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%t : memref<1x1x8x16xf32>)
    linalg.conv_2d_nhwc_hwcf ins(%x, %w : memref<1x1x10x4xf32>, memref<1x3x4x16xf32>) outs(%t : memref<1x1x8x16xf32>)
    linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%u, %b : memref<1x8x16xf32>, memref<1x1x16xf32>) outs(%y : memref<1x8x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    }
    scf.yield
  }
  return
}

// -----

// Rows 12 to 25 of the input are no padding: the taps of a row of outputs begin and end with these.

// CHECK-LABEL: func.func @input_rows
// CHECK:         scf.parallel
// CHECK:           %[[BELOW:.*]] = arith.subi %c23{{.*}}, %[[ROW:.*]] : index
// CHECK:           %[[LOW:.*]] = arith.maxsi %[[BELOW]], %c0
// CHECK:           %[[FIRST:.*]] = arith.divui %[[LOW]], %c12
// CHECK:           %[[LEFT:.*]] = arith.subi %c37{{.*}}, %[[ROW]] : index
// CHECK:           %[[HIGH:.*]] = arith.maxsi %[[LEFT]], %c0
// CHECK:           %[[ALL:.*]] = arith.divui %[[HIGH]], %c12
// CHECK:           %[[END:.*]] = arith.minui %[[ALL]], %c3
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %[[END]] step
// CHECK:             scf.for %{{.*}} = %c0{{.*}} to %c3
func.func @input_rows(%x: memref<1x38x32x5xf32>, %w: memref<3x3x5x16xf32>, %y: memref<1x14x8x16xf32>) attributes {tcp.target = "cpu"} {
  linalg.conv_2d_nhwc_hwcf {convoy.input_rows = array<i64: 12, 26>, dilations = dense<12> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : memref<1x38x32x5xf32>, memref<3x3x5x16xf32>) outs(%y : memref<1x14x8x16xf32>)
  return
}
