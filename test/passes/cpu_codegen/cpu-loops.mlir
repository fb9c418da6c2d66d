// RUN: convoy-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(cpu-loops),canonicalize)" | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// With enough work the outer loop is parallel.

// CHECK-LABEL: func.func @elementwise
// CHECK:         scf.parallel
// CHECK:           scf.for
// CHECK:             memref.load
// CHECK:             memref.store
func.func @elementwise(%x: memref<128x256xf32>, %y: memref<128x256xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<128x256xf32>) outs(%y : memref<128x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @small
// CHECK-NOT:     scf.parallel
// CHECK:         scf.for
func.func @small(%x: memref<4x4xf32>, %y: memref<4x4xf32>) attributes {tcp.target = "cpu"} {
  memref.copy %x, %y : memref<4x4xf32> to memref<4x4xf32>
  return
}

// -----

// One long row is split into parts of 16384, with a shorter last one.

// CHECK-LABEL: func.func @row
// CHECK-DAG:     %[[SIZE:.*]] = arith.constant 16384 : index
// CHECK-DAG:     %[[ALL:.*]] = arith.constant 40000 : index
// CHECK:         scf.parallel (%[[I:.*]]) = (%{{.*}}) to (%{{.*}})
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[I]], %[[SIZE]]
// CHECK:           %[[NEXT:.*]] = arith.addi %[[BEGIN]], %[[SIZE]]
// CHECK:           %[[END:.*]] = arith.minui %[[NEXT]], %[[ALL]]
// CHECK:           scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
func.func @row(%x: memref<40000xf32>, %y: memref<40000xf32>) attributes {tcp.target = "cpu"} {
  memref.copy %x, %y : memref<40000xf32> to memref<40000xf32>
  return
}

// -----

// The reduction over d1 is outside the loop over d2, along which the buffers are contiguous.

// CHECK-LABEL: func.func @reduction
// CHECK:         scf.parallel (%[[I:.*]]) =
// CHECK:           scf.for %[[R:.*]] =
// CHECK:             scf.for %[[K:.*]] =
// CHECK:               memref.load %{{.*}}[%[[I]], %[[R]], %[[K]]]
// CHECK:               memref.load %{{.*}}[%[[I]], %[[K]]]
func.func @reduction(%x: memref<64x32x64xf32>, %y: memref<64x64xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                  iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : memref<64x32x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Rows are summed along the row, with the sum in a register.

// CHECK-LABEL: func.func @rows
// CHECK:         scf.parallel (%[[I:.*]]) =
// CHECK:           %[[START:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK:           %[[SUM:.*]] = scf.for %[[R:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %[[START]])
// CHECK:             %[[X:.*]] = memref.load %{{.*}}[%[[I]], %[[R]]]
// CHECK:             arith.addf %[[X]], %[[ACC]]
// CHECK-NOT:         memref.store
// CHECK:             scf.yield
// CHECK:           memref.store %[[SUM]], %{{.*}}[%[[I]]]
func.func @rows(%x: memref<256x256xf32>, %y: memref<256xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<256x256xf32>) outs(%y : memref<256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @cuda
// CHECK:         memref.copy
func.func @cuda(%x: memref<4x4xf32>, %y: memref<4x4xf32>) attributes {tcp.target = "cuda"} {
  memref.copy %x, %y : memref<4x4xf32> to memref<4x4xf32>
  return
}

// -----

#nchw = affine_map<(n, h, w, c) -> (n, c, h, w)>
#nhwc = affine_map<(n, h, w, c) -> (n, h, w, c)>

// A transpose iterates over blocks of 16 x 16 of the dims along which its buffers are contiguous; the
// last blocks are smaller. Rows and blocks are parallel.

// CHECK-LABEL: func.func @transpose
// CHECK-DAG:     %[[BLOCK:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[WIDTH:.*]] = arith.constant 40 : index
// CHECK-DAG:     %[[TASKS:.*]] = arith.constant 60 : index
// CHECK:         scf.parallel (%{{.*}}) = (%{{.*}}) to (%[[TASKS]])
// CHECK:           %[[W:.*]] = arith.muli %{{.*}}, %[[BLOCK]]
// CHECK:           scf.for %[[C:.*]] = %{{.*}} to %{{.*}} step %[[BLOCK]]
// CHECK:             scf.for %[[IN:.*]] = %[[W]] to %{{.*}} step
// CHECK:               scf.for %[[CHANNEL:.*]] = %[[C]] to
// CHECK:                 memref.load %{{.*}}[%{{.*}}, %[[CHANNEL]], %{{.*}}, %[[IN]]]
// CHECK:                 memref.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %[[IN]], %[[CHANNEL]]]
func.func @transpose(%x: memref<2x64x10x40xf32>, %y: memref<2x10x40x64xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#nchw, #nhwc], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<2x64x10x40xf32>) outs(%y : memref<2x10x40x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Each pixel has only 3 channels, which are near each other in the output: no blocks. A task has a row
// of pixels, because a loop over 3 channels alone is too short.

#nchw = affine_map<(n, h, w, c) -> (n, c, h, w)>
#nhwc = affine_map<(n, h, w, c) -> (n, h, w, c)>

// CHECK-LABEL: func.func @few_channels
// CHECK-NOT:     step %{{.*}}16
// CHECK:         scf.parallel {{.*}} to (%c200)
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK-NOT:           scf.for
func.func @few_channels(%x: memref<2x3x100x40xf32>, %y: memref<2x100x40x3xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#nchw, #nhwc], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<2x3x100x40xf32>) outs(%y : memref<2x100x40x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Neighbours of the input are in a dim of 4, and 16 rows of it are 4 cache lines: blocks of rows.

#input = affine_map<(p, n, c) -> (c, n, p)>
#output = affine_map<(p, n, c) -> (p, n, c)>

// CHECK-LABEL: func.func @few_neighbours
// CHECK-DAG:     %[[BLOCK:.*]] = arith.constant 16 : index
// CHECK:         scf.parallel
// CHECK:           %[[N:.*]] = arith.muli %{{.*}}, %[[BLOCK]]
// CHECK:           scf.for %[[C:.*]] = %{{.*}} to %{{.*}} step %[[BLOCK]]
// CHECK:             scf.for %[[ROW:.*]] = %[[N]] to %{{.*}} step
// CHECK:               scf.for %[[CHANNEL:.*]] = %[[C]] to
// CHECK:                 memref.load %{{.*}}[%[[CHANNEL]], %[[ROW]], %{{.*}}]
// CHECK:                 memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[ROW]], %[[CHANNEL]]]
func.func @few_neighbours(%x: memref<144x256x4xf32>, %y: memref<4x256x144xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #output], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<144x256x4xf32>) outs(%y : memref<4x256x144xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  }
  return
}
