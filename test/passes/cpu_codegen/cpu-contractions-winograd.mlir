// RUN: convoy-opt %s --split-input-file --cpu-contractions="lanes=8 registers=16" | filecheck %s
// RUN: convoy-opt %s --split-input-file --cpu-contractions="lanes=8 registers=16" --cpu-parallel | filecheck %s --check-prefix=TASK

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#points = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r * 4 + s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// 7 x 12 outputs are 4 x 6 tiles. 4 blocks of 16 channels are one part, and a task has 6 tiles.

// CHECK-LABEL: func.func @odd_rows
// CHECK:         scf.parallel {{.*}} to (%c4)
// CHECK-DAG:       %[[V:.*]] = memref.alloca() {alignment = 64 : i64} : memref<3072xf32>
// CHECK-DAG:       %[[M:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1536xf32>
// CHECK-DAG:       %[[Y:.*]] = memref.alloca() {alignment = 64 : i64} : memref<384xf32>
// The transform of the inputs.
// CHECK-COUNT-32:  arith.{{addf|subf}} {{.*}} : vector<8xf32>
// CHECK-NOT:       arith.{{addf|subf}}
// CHECK:           vector.store {{.*}}, %[[V]]
// 6 tiles times 2 vectors of channels.
// CHECK-COUNT-12:  vector.fma
// CHECK-NOT:       vector.fma
// CHECK:           vector.store {{.*}}, %[[M]]
// The transform of the sums checks them, and results that are not finite are computed directly.
// CHECK-COUNT-8:   vector.fma
// CHECK:           vector.reduction <add>
// CHECK:           arith.cmpf uno
// CHECK:           scf.if
// CHECK-COUNT-2:     vector.fma
// CHECK-NOT:       vector.fma
// The second row of the last tiles is beyond the edge.
// CHECK:           vector.load %[[Y]]
// CHECK:           scf.if
// CHECK-NOT:     linalg

// Iterations share the scratch buffers.
// TASK-LABEL:    func.func private @odd_rows_parallel_0
// TASK-COUNT-3:    memref.alloca
// TASK-NOT:        memref.alloca
// TASK:            scf.for
func.func @odd_rows(%x: memref<1x9x14x32xf32>, %w: memref<4x3x3x32x16xf32>, %u: memref<4x16x32x16xf32>, %y: memref<1x7x12x64xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #points, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w, %u : memref<1x9x14x32xf32>, memref<4x3x3x32x16xf32>, memref<4x16x32x16xf32>) outs(%y : memref<1x7x12x64xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// 4 input channels do not fill a vector: direct.

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#points = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r * 4 + s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// CHECK-LABEL: func.func @few_channels
// CHECK-NOT:     memref.alloca
// CHECK-NOT:     linalg
// TASK-LABEL:  func.func private @few_channels_parallel_0
func.func @few_channels(%x: memref<1x9x14x4xf32>, %w: memref<4x3x3x4x16xf32>, %u: memref<4x16x4x16xf32>, %y: memref<1x7x12x64xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #points, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w, %u : memref<1x9x14x4xf32>, memref<4x3x3x4x16xf32>, memref<4x16x4x16xf32>) outs(%y : memref<1x7x12x64xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// The transforms of one tile of 16384 input channels take 1 MB: direct.

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#points = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r * 4 + s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// CHECK-LABEL: func.func @many_channels
// CHECK-NOT:     memref.alloca
// CHECK-NOT:     linalg
// TASK-LABEL:  func.func private @many_channels_parallel_0
func.func @many_channels(%x: memref<1x9x14x16384xf32>, %w: memref<4x3x3x16384x16xf32>, %u: memref<4x16x16384x16xf32>, %y: memref<1x7x12x64xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #points, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w, %u : memref<1x9x14x16384xf32>, memref<4x3x3x16384x16xf32>, memref<4x16x16384x16xf32>) outs(%y : memref<1x7x12x64xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A body that uses a third input is no product.

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#points = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r * 4 + s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// CHECK-LABEL: func.func @used
// CHECK-NOT:     memref.alloca
// CHECK-NOT:     vector.fma
// CHECK:         arith.addf
// TASK-LABEL:  func.func @used
func.func @used(%x: memref<1x9x14x32xf32>, %w: memref<4x3x3x32x16xf32>, %u: memref<4x16x32x16xf32>, %y: memref<1x7x12x64xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #points, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w, %u : memref<1x9x14x32xf32>, memref<4x3x3x32x16xf32>, memref<4x16x32x16xf32>) outs(%y : memref<1x7x12x64xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %t, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A window of 3 frames. A task has 3 of the 9 frames of outputs, for which it transforms 5 frames of
// inputs, and 4 of the 8 tiles of a frame.

#input = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f + q, h + r, w + s, c)>
#filter = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (kb, q, r, s, c, ki)>
#output = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f, h, w, kb * 16 + ki)>
#points = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (kb, q, r * 4 + s, c, ki)>

// CHECK-LABEL: func.func @frames
// CHECK:         scf.parallel {{.*}} to (%c6)
// CHECK-DAG:       memref.alloca() {alignment = 64 : i64} : memref<10240xf32>
// CHECK-DAG:       memref.alloca() {alignment = 64 : i64} : memref<3072xf32>
// CHECK-DAG:       memref.alloca() {alignment = 64 : i64} : memref<256xf32>
// CHECK-COUNT-32:  arith.{{addf|subf}} {{.*}} : vector<8xf32>
// Sums over the frames of the window, then over channels.
// CHECK:           %[[TAPS:.*]]:8 = scf.for
// CHECK:             scf.for {{.*}} iter_args
// CHECK-COUNT-8:       vector.fma
// CHECK-NOT:       vector.fma
// CHECK:           vector.store %[[TAPS]]#7
// CHECK-COUNT-8:   vector.fma
// CHECK:           arith.cmpf uno
// CHECK:           scf.if
// CHECK-COUNT-2:     vector.fma
// CHECK-NOT:     linalg
func.func @frames(%x: memref<1x11x6x10x32xf32>, %w: memref<4x3x3x3x32x16xf32>, %u: memref<4x3x16x32x16xf32>, %y: memref<1x9x4x8x64xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #points, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w, %u : memref<1x11x6x10x32xf32>, memref<4x3x3x3x32x16xf32>, memref<4x3x16x32x16xf32>) outs(%y : memref<1x9x4x8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
