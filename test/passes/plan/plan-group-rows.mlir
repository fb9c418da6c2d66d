// RUN: convoy-opt %s --plan-group-rows --split-input-file | filecheck %s

// A softmax. Its exponentials and sums have no other use, so they move too.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @softmax
// CHECK:         scf.execute_region no_inline {
// CHECK-COUNT-3:   memref.alloc
// CHECK:           linalg.fill
// CHECK-NEXT:      linalg.generic
// CHECK:           linalg.generic
// CHECK:           linalg.fill
// CHECK-NEXT:      linalg.generic
// CHECK:           linalg.generic
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @softmax(%x: memref<4x64xf32>, %y: memref<4x64xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %top = memref.alloc() : memref<4xf32>
  linalg.fill ins(%lowest : f32) outs(%top : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x64xf32>) outs(%top : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %m = arith.maximumf %o, %p : f32
    linalg.yield %m : f32
  }
  %e = memref.alloc() : memref<4x64xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %top : memref<4x64xf32>, memref<4xf32>) outs(%e : memref<4x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  }
  %sum = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<4x64xf32>) outs(%sum : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<4x64xf32>, memref<4xf32>) outs(%y : memref<4x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  }
  return
}

// -----

// Reshapes and transposes between the ops: the norm of groups of an image whose channels are last.
// The output has the same layout, so the rows are contiguous in groups of 4 channels.

#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#last = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
#first = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @groups
// CHECK:         scf.execute_region no_inline {
// CHECK-COUNT-4:   linalg.generic
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @groups(%x: memref<2x6x6x16xf32>, %y: memref<2x6x6x16xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<2x16x6x6xf32>
  linalg.generic {indexing_maps = [#last, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<2x6x6x16xf32>) outs(%a : memref<2x16x6x6xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  %flat = memref.collapse_shape %a [[0, 1, 2, 3]] : memref<2x16x6x6xf32> into memref<1152xf32>
  %g = memref.expand_shape %flat [[0, 1, 2]] output_shape [2, 4, 144] : memref<1152xf32> into memref<2x4x144xf32>
  %sum = memref.alloc() : memref<2x4xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<2x4xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g : memref<2x4x144xf32>) outs(%sum : memref<2x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  %n = memref.alloc() : memref<2x4x144xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%g, %sum : memref<2x4x144xf32>, memref<2x4xf32>) outs(%n : memref<2x4x144xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  }
  %flat2 = memref.collapse_shape %n [[0, 1, 2]] : memref<2x4x144xf32> into memref<1152xf32>
  %b = memref.expand_shape %flat2 [[0, 1, 2, 3]] output_shape [2, 16, 6, 6] : memref<1152xf32> into memref<2x16x6x6xf32>
  linalg.generic {indexing_maps = [#first, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : memref<2x16x6x6xf32>) outs(%y : memref<2x6x6x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// The sums of rows are divided columnwise: a row depends on other rows.

// CHECK-LABEL: func.func @other_rows
// CHECK-NOT:     scf.execute_region
func.func @other_rows(%x: memref<64x64xf32>, %y: memref<64x64xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x64xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<64x64xf32>, memref<64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Another op overwrites the rows between the two: the sum cannot be computed after it.

// CHECK-LABEL: func.func @written_between
// CHECK-NOT:     scf.execute_region
func.func @written_between(%x: memref<4x64xf32>, %y: memref<4x64xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x64xf32>) outs(%sum : memref<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%x : memref<4x64xf32>)
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<4x64xf32>, memref<4xf32>) outs(%y : memref<4x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The output overwrites its input, which is read again if a row does not fit in registers.

// CHECK-LABEL: func.func @overwritten
// CHECK-NOT:     scf.execute_region
func.func @overwritten(%x: memref<64x64xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x64xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<64x64xf32>, memref<64xf32>) outs(%x : memref<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  }
  return
}

// -----

// Columns are rows that are not contiguous. A kernel reads few elements in any order, as those of the
// statistics of parts of long rows, or many columns, each of which is contiguous with its neighbors.

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @few_columns
// CHECK:         scf.execute_region no_inline {
// CHECK-COUNT-3:   linalg.generic
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @few_columns(%x: memref<64x32xf32>, %y: memref<64x32xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %e = memref.alloc() : memref<64x32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x32xf32>) outs(%e : memref<64x32xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  %sum = memref.alloc() : memref<32xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<32xf32>)
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%e : memref<64x32xf32>) outs(%sum : memref<32xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<64x32xf32>, memref<32xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  }
  return
}

// CHECK-LABEL: func.func @many_columns
// CHECK-NOT: scf.execute_region
func.func @many_columns(%x: memref<64x1024xf32>, %y: memref<64x1024xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %e = memref.alloc() : memref<64x1024xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x1024xf32>) outs(%e : memref<64x1024xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  %sum = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<1024xf32>)
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%e : memref<64x1024xf32>) outs(%sum : memref<1024xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<64x1024xf32>, memref<1024xf32>) outs(%y : memref<64x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  }
  return
}

// CHECK-LABEL: func.func @across
// CHECK:         scf.execute_region no_inline {
// CHECK-COUNT-3:   linalg.generic
// CHECK:           scf.yield
func.func @across(%x: memref<64x8192xf32>, %y: memref<64x8192xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %e = memref.alloc() : memref<64x8192xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x8192xf32>) outs(%e : memref<64x8192xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  %sum = memref.alloc() : memref<8192xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8192xf32>)
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%e : memref<64x8192xf32>) outs(%sum : memref<8192xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<64x8192xf32>, memref<8192xf32>) outs(%y : memref<64x8192xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  }
  return
}
