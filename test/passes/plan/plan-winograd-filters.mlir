// RUN: convoy-opt %s --plan-winograd-filters --split-input-file | filecheck %s

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// The transform is before the region, in the entry block.

// CHECK-DAG:   #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d3, d5, d6, d7, d4)>
// CHECK-DAG:   #[[POINTS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d3, d5 * 4 + d6, d7, d4)>
// CHECK-LABEL: func.func @region
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<1x14x14x16xf32>, %[[W:[a-z0-9]+]]: memref<2x3x3x16x16xf32>
// CHECK:         %[[ALL:.*]] = memref.alloc() : memref<2x16x17x16xf32>
// CHECK:         %[[U:.*]] = memref.subview %[[ALL]][0, 0, 0, 0] [2, 16, 16, 16] [1, 1, 1, 1]
// CHECK:         memref.subview %[[W]][0, 0, 0, 0, 0] [2, 1, 1, 16, 16]
// CHECK:         memref.subview %[[W]][0, 2, 2, 0, 0] [2, 1, 1, 16, 16]
// CHECK:         memref.subview %[[U]][0, 0, 0, 0] [2, 1, 16, 16]
// CHECK:         memref.subview %[[U]][0, 15, 0, 0] [2, 1, 16, 16]
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK-COUNT-14:  arith.mulf
// CHECK-NOT:       arith.mulf
// CHECK:         scf.execute_region
// CHECK:           linalg.fill
// CHECK:           linalg.generic {indexing_maps = [#{{.*}}, #[[FILTER]], #[[POINTS]], #{{.*}}]{{.*}} ins(%{{.*}}, %[[W]], %[[U]] :
// CHECK-NEXT:      ^bb0(%[[X:.*]]: f32, %[[F:.*]]: f32, %{{.*}}: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT:        %[[P:.*]] = arith.mulf %[[X]], %[[F]]
// CHECK-NEXT:        arith.addf %[[OUT]], %[[P]]
func.func @region(%x: memref<1x14x14x16xf32>, %w: memref<2x3x3x16x16xf32> {tcp.prepared = "w"}, %y: memref<1x12x12x32xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%y : memref<1x12x12x32xf32>)
    linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : memref<1x14x14x16xf32>, memref<2x3x3x16x16xf32>) outs(%y : memref<1x12x12x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    }
    scf.yield
  }
  return
}

// -----

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// In a loop, the filter is transformed once.

// CHECK-LABEL: func.func @loop
// CHECK:         memref.alloc() : memref<2x16x17x16xf32>
// CHECK:         scf.for
// CHECK-NOT:       memref.alloc
func.func @loop(%x: memref<1x14x14x16xf32>, %w: memref<2x3x3x16x16xf32> {tcp.prepared = "w"}, %y: memref<1x12x12x32xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  scf.for %i = %zero to %four step %one {
    linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : memref<1x14x14x16xf32>, memref<2x3x3x16x16xf32>) outs(%y : memref<1x12x12x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    }
  }
  return
}

// -----

#stride = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h * 2 + r, w * 2 + s, c)>
#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// A stride of 2, 7x7 outputs, 8 input channels, and a filter that is no argument.

// CHECK-LABEL: func.func @direct
// CHECK-NOT:     memref<2x16x17x
func.func @direct(%a: memref<1x25x25x16xf32>, %b: memref<1x9x9x16xf32>, %c: memref<1x14x14x8xf32>, %d: memref<1x14x14x16xf32>, %w: memref<2x3x3x16x16xf32> {tcp.prepared = "w"},
                  %few: memref<2x3x3x8x16xf32> {tcp.prepared = "few"}, %y: memref<1x12x12x32xf32>, %z: memref<1x7x7x32xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#stride, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%a, %w : memref<1x25x25x16xf32>, memref<2x3x3x16x16xf32>) outs(%y : memref<1x12x12x32xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%b, %w : memref<1x9x9x16xf32>, memref<2x3x3x16x16xf32>) outs(%z : memref<1x7x7x32xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%c, %few : memref<1x14x14x8xf32>, memref<2x3x3x8x16xf32>) outs(%y : memref<1x12x12x32xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  %own = memref.alloc() : memref<2x3x3x16x16xf32>
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%d, %own : memref<1x14x14x16xf32>, memref<2x3x3x16x16xf32>) outs(%y : memref<1x12x12x32xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 1 + ki)>

// Blocks of one channel have no vectors.

// CHECK-LABEL: func.func @blocks_of_one
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic
func.func @blocks_of_one(%x: memref<1x14x14x16xf32>, %w: memref<2x3x3x16x1xf32> {tcp.prepared = "w"}, %y: memref<1x12x12x2xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x14x14x16xf32>, memref<2x3x3x16x1xf32>) outs(%y : memref<1x12x12x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// The program may write an argument that is no prepared weight.

// CHECK-LABEL: func.func @other_argument
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic
func.func @other_argument(%x: memref<1x14x14x16xf32>, %w: memref<2x3x3x16x16xf32>, %y: memref<1x12x12x32xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x14x14x16xf32>, memref<2x3x3x16x16xf32>) outs(%y : memref<1x12x12x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// Tensors are left alone.

// CHECK-LABEL: func.func @tensors
// CHECK-NOT:     alloc
// CHECK:         linalg.generic
func.func @tensors(%x: tensor<1x14x14x16xf32>, %w: tensor<2x3x3x16x16xf32> {tcp.prepared = "w"}, %y: tensor<1x12x12x32xf32>) -> tensor<1x12x12x32xf32> attributes {tcp.target = "cpu"} {
  %r = linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x14x14x16xf32>, tensor<2x3x3x16x16xf32>) outs(%y : tensor<1x12x12x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x12x12x32xf32>
  return %r : tensor<1x12x12x32xf32>
}

// -----

#input = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f + q, h + r, w + s, c)>
#filter = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (kb, q, r, s, c, ki)>
#output = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f, h, w, kb * 16 + ki)>
#between = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f * 2 + q * 3, h + r, w + s, c)>
#rows = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f + q, h * 2 + r, w + s, c)>

// Three spatial dims, of any stride and dilation between frames.

// CHECK-DAG:   #[[POINTS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d4, d6, d7 * 4 + d8, d9, d5)>
// CHECK-DAG:   #[[BETWEEN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d0, d1 * 2 + d6 * 3, d2 + d7, d3 + d8, d9)>
// CHECK-DAG:   #[[ROWS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d0, d1 + d6, d2 * 2 + d7, d3 + d8, d9)>
// CHECK-LABEL: func.func @frames
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x2x3x3x16x16xf32>
// CHECK:         %[[ALL:.*]] = memref.alloc() : memref<2x2x16x17x16xf32>
// CHECK:         %[[U:.*]] = memref.subview %[[ALL]][0, 0, 0, 0, 0] [2, 2, 16, 16, 16] [1, 1, 1, 1, 1]
// CHECK:         memref.subview %[[W]][0, 0, 2, 2, 0, 0] [2, 2, 1, 1, 16, 16]
// CHECK:         memref.subview %[[U]][0, 0, 15, 0, 0] [2, 2, 1, 16, 16]
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[POINTS]], #{{.*}}]{{.*}} ins(%{{.*}}, %[[W]], %[[U]] :
// CHECK:         memref.alloc() : memref<2x2x16x17x16xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[BETWEEN]], #{{.*}}, #[[POINTS]], #{{.*}}]
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {indexing_maps = [#[[ROWS]], #{{.*}}, #{{.*}}]
func.func @frames(%x: memref<1x5x8x8x16xf32>, %z: memref<1x10x8x8x16xf32>, %v: memref<1x5x13x8x16xf32>, %w: memref<2x2x3x3x16x16xf32> {tcp.prepared = "w"}, %y: memref<1x4x6x6x32xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x5x8x8x16xf32>, memref<2x2x3x3x16x16xf32>) outs(%y : memref<1x4x6x6x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#between, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%z, %w : memref<1x10x8x8x16xf32>, memref<2x2x3x3x16x16xf32>) outs(%y : memref<1x4x6x6x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#rows, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%v, %w : memref<1x5x13x8x16xf32>, memref<2x2x3x3x16x16xf32>) outs(%y : memref<1x4x6x6x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#input = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f + q, h + r, w + s, c)>
#filter = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (kb, q, r, s, c, ki)>
#output = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f, h, w, kb * 16 + ki)>

// 2 frames of 5x5 outputs are 18 tiles. 2 frames of 496 channels are too many.

// CHECK-LABEL: func.func @direct_frames
// CHECK-NOT:     memref.alloc
func.func @direct_frames(%x: memref<1x3x7x7x16xf32>, %w: memref<2x2x3x3x16x16xf32> {tcp.prepared = "w"}, %y: memref<1x2x5x5x32xf32>,
                         %many: memref<1x5x8x8x496xf32>, %v: memref<2x2x3x3x496x16xf32> {tcp.prepared = "v"}, %z: memref<1x4x6x6x32xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x3x7x7x16xf32>, memref<2x2x3x3x16x16xf32>) outs(%y : memref<1x2x5x5x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%many, %v : memref<1x5x8x8x496xf32>, memref<2x2x3x3x496x16xf32>) outs(%z : memref<1x4x6x6x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#input = affine_map<(n, g, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, g * 16 + c)>
#filter = affine_map<(n, g, h, w, kb, ki, r, s, c) -> (g, kb, r, s, c, ki)>
#output = affine_map<(n, g, h, w, kb, ki, r, s, c) -> (n, h, w, g * 16 + kb * 16 + ki)>

// Each group has a filter.

// CHECK-LABEL: func.func @groups
// CHECK:         memref.alloc() : memref<2x1x16x17x16xf32>
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<1x14x14x32xf32>, memref<2x1x3x3x16x16xf32>, memref<2x1x16x16x16xf32
func.func @groups(%x: memref<1x14x14x32xf32>, %w: memref<2x1x3x3x16x16xf32> {tcp.prepared = "w"}, %y: memref<1x12x12x32xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x14x14x32xf32>, memref<2x1x3x3x16x16xf32>) outs(%y : memref<1x12x12x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r * 2, w + s * 2, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// A tile has outputs at a distance of 2.

// CHECK-LABEL: func.func @dilation
// CHECK:         memref.alloc() : memref<2x16x17x16xf32>
func.func @dilation(%x: memref<1x18x18x16xf32>, %w: memref<2x3x3x16x16xf32> {tcp.prepared = "w"}, %y: memref<1x14x14x32xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x18x18x16xf32>, memref<2x3x3x16x16xf32>) outs(%y : memref<1x14x14x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r * 9, w + s * 9, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// 14 x 14 outputs are 7 x 7 tiles, but with dilation 9 they are 9 x 9.

// CHECK-LABEL: func.func @large_dilation
// CHECK-NOT:     memref.alloc
func.func @large_dilation(%x: memref<1x32x32x16xf32>, %w: memref<2x3x3x16x16xf32> {tcp.prepared = "w"}, %y: memref<1x14x14x32xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x32x32x16xf32>, memref<2x3x3x16x16xf32>) outs(%y : memref<1x14x14x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

#input = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, kb, ki, r, s, c) -> (kb, r, s, c, ki)>
#output = affine_map<(n, h, w, kb, ki, r, s, c) -> (n, h, w, kb * 16 + ki)>

// The transform would have 67 MB.

// CHECK-LABEL: func.func @large_filter
// CHECK-NOT:     memref.alloc
func.func @large_filter(%x: memref<1x30x30x1024xf32>, %w: memref<64x3x3x1024x16xf32> {tcp.prepared = "w"}, %y: memref<1x28x28x1024xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<1x30x30x1024xf32>, memref<64x3x3x1024x16xf32>) outs(%y : memref<1x28x28x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
