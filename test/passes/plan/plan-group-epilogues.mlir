// RUN: convoy-opt %s --plan-group-epilogues --split-input-file | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#bias = affine_map<(d0, d1) -> (0, d1)>

// CHECK-LABEL: func.func @grouped
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.matmul
// CHECK-NEXT:      linalg.generic
// CHECK:           scf.yield
func.func @grouped(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %b: memref<1x16xf32>, %y: memref<4x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4x16xf32>)
  linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%a : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#id, #bias, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<4x16xf32>, memref<1x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Another op writes an operand of the product before the elementwise op runs: moving the product
// there would change its result.

// CHECK-LABEL: func.func @written_between
// CHECK-NOT:     scf.execute_region
func.func @written_between(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %y: memref<4x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4x16xf32>)
  linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%a : memref<4x16xf32>)
  linalg.fill ins(%zero : f32) outs(%x : memref<4x8xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.absf %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The product has two uses, so it must be in memory.

// CHECK-LABEL: func.func @two_readers
// CHECK-NOT:     scf.execute_region
func.func @two_readers(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %y: memref<4x16xf32>, %z: memref<4x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4x16xf32>)
  linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%a : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.absf %p : f32
    linalg.yield %s : f32
  }
  memref.copy %a, %z : memref<4x16xf32> to memref<4x16xf32>
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The elementwise op overwrites an operand of the product.

// CHECK-LABEL: func.func @written_after
// CHECK-NOT:     scf.execute_region
func.func @written_after(%x: memref<4x4xf32>, %w: memref<4x4xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4x4xf32>)
  linalg.matmul ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x4xf32>) outs(%x : memref<4x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.absf %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The product is a result of the function: the caller reads it.

// CHECK-LABEL: func.func @is_output
// CHECK-NOT:     scf.execute_region
func.func @is_output(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %a: memref<4x16xf32>, %y: memref<4x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<4x16xf32>)
  linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%a : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.absf %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// A view of the product is one as well.

// CHECK-LABEL: func.func @view_of_output
// CHECK-NOT:     scf.execute_region
func.func @view_of_output(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %flat: memref<64xf32>, %y: memref<4x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.expand_shape %flat [[0, 1]] output_shape [4, 16] : memref<64xf32> into memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4x16xf32>)
  linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%a : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.absf %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// An output that the elementwise op overwrites holds its result.

// CHECK-LABEL: func.func @overwritten_output
// CHECK:         scf.execute_region
func.func @overwritten_output(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %a: memref<4x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<4x16xf32>)
  linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%a : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x16xf32>) outs(%a : memref<4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.absf %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>

// On a GPU any reduction has an epilogue, on a CPU only a product; without a target no op has one.

// CHECK-LABEL: func.func @reduction
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:           linalg.generic
// CHECK:           scf.yield
// CHECK-LABEL: func.func @reduction_cpu
// CHECK-NOT:     scf.execute_region
// CHECK-LABEL: func.func @no_target
// CHECK-NOT:     scf.execute_region
func.func @reduction(%x: memref<4x9xf32>, %y: memref<4xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  return
}
func.func @reduction_cpu(%x: memref<4x9xf32>, %y: memref<4xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  return
}
func.func @no_target(%x: memref<4x9xf32>, %y: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>

// On a GPU the result may be read without its unit dims.

// CHECK-LABEL: func.func @unit_dims
// CHECK:         memref.expand_shape
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:           linalg.generic
// CHECK:           scf.yield
func.func @unit_dims(%x: memref<4x9xf32>, %y: memref<4x1xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  %v = memref.expand_shape %a [[0, 1]] output_shape [4, 1] : memref<4xf32> into memref<4x1xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%v : memref<4x1xf32>) outs(%y : memref<4x1xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>

// Other reads of what the reduction reads may come between; the region stands where the epilogue was.

// CHECK-LABEL: func.func @read_between
// CHECK:         memref.copy
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:           linalg.generic
// CHECK:           scf.yield
func.func @read_between(%x: memref<4x9xf32>, %y: memref<4xf32>, %z: memref<4x9xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  memref.copy %x, %z : memref<4x9xf32> to memref<4x9xf32>
  linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>

// Writes may not, unless they write other bytes.

// CHECK-LABEL: func.func @slice_written_between
// CHECK-NOT:     scf.execute_region
// CHECK-LABEL: func.func @other_slice_written_between
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:           linalg.generic
// CHECK:           scf.yield
func.func @slice_written_between(%x: memref<8x9xf32>, %y: memref<4xf32>, %z: memref<4x9xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  %s = memref.subview %x[0, 0] [4, 9] [1, 1] : memref<8x9xf32> to memref<4x9xf32, strided<[9, 1]>>
  %t = memref.subview %x[3, 0] [4, 9] [1, 1] : memref<8x9xf32> to memref<4x9xf32, strided<[9, 1], offset: 27>>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%s : memref<4x9xf32, strided<[9, 1]>>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  memref.copy %z, %t : memref<4x9xf32> to memref<4x9xf32, strided<[9, 1], offset: 27>>
  linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  return
}
func.func @other_slice_written_between(%x: memref<8x9xf32>, %y: memref<4xf32>, %z: memref<4x9xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  %s = memref.subview %x[0, 0] [4, 9] [1, 1] : memref<8x9xf32> to memref<4x9xf32, strided<[9, 1]>>
  %t = memref.subview %x[4, 0] [4, 9] [1, 1] : memref<8x9xf32> to memref<4x9xf32, strided<[9, 1], offset: 36>>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%s : memref<4x9xf32, strided<[9, 1]>>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  memref.copy %z, %t : memref<4x9xf32> to memref<4x9xf32, strided<[9, 1], offset: 36>>
  linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>

// The epilogue may overwrite the result, which later ops then read, but not what the reduction reads.

// CHECK-LABEL: func.func @in_place
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:           linalg.generic
// CHECK:           scf.yield
// CHECK:         memref.copy
// CHECK-LABEL: func.func @overwritten_input
// CHECK-NOT:     scf.execute_region
func.func @in_place(%x: memref<4x9xf32>, %y: memref<4xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  memref.copy %a, %y : memref<4xf32> to memref<4xf32>
  return
}
func.func @overwritten_input(%x: memref<36xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  %m = memref.expand_shape %x [[0, 1]] output_shape [4, 9] : memref<36xf32> into memref<4x9xf32>
  %y = memref.subview %x[8] [4] [1] : memref<36xf32> to memref<4xf32, strided<[1], offset: 8>>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%m : memref<4x9xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%y : memref<4xf32, strided<[1], offset: 8>>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>

// An epilogue of two reductions belongs to the first one.

// CHECK-LABEL: func.func @two_reductions
// CHECK:         linalg.fill {{.*}} outs(%[[B:.*]] :
// CHECK-NEXT:    linalg.generic {{.*}} outs(%[[B]] :
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:           linalg.generic
// CHECK:           scf.yield
// CHECK-NOT:     scf.execute_region
func.func @two_reductions(%x: memref<4x9xf32>, %y: memref<4xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%b : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#vec, #vec, #vec], iterator_types = ["parallel"]} ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>

// What is no region: a result that is read in another order, that starts from no constant, or that the epilogue only indexes.

// CHECK-LABEL: func.func @transposed
// CHECK-NOT:     scf.execute_region
// CHECK-LABEL: func.func @unknown_start
// CHECK-NOT:     scf.execute_region
// CHECK-LABEL: func.func @gathered
// CHECK-NOT:     scf.execute_region
func.func @transposed(%x: memref<4x4x9xf32>, %y: memref<4x4xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4x4xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                  iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : memref<4x4x9xf32>) outs(%a : memref<4x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x4xf32>) outs(%y : memref<4x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  return
}
func.func @unknown_start(%zero: f32, %x: memref<4x9xf32>, %y: memref<4xf32>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = math.exp %p : f32
    linalg.yield %r : f32
  }
  return
}
func.func @gathered(%x: memref<4x9xf32>, %i: memref<4xindex>, %y: memref<4xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x9xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %q, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]} ins(%i : memref<4xindex>) outs(%y : memref<4xf32>) {
  ^bb0(%p: index, %q: f32):
    %r = memref.load %a[%p] : memref<4xf32>
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// In the body of a loop. Slices of two buffers do not overlap, whatever the step is; those of one
// may.

// CHECK-LABEL: func.func @in_loop
// CHECK:         scf.for
// CHECK:           scf.execute_region no_inline {
// CHECK-NEXT:        linalg.fill
// CHECK-NEXT:        linalg.matmul
// CHECK-NEXT:        linalg.generic
// CHECK:         scf.for
// CHECK-NOT:       scf.execute_region
// CHECK:         return
func.func @in_loop(%w: memref<8x8xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %x = memref.alloc() : memref<6x4x8xf32>
  %y = memref.alloc() : memref<6x4x8xf32>
  %a = memref.alloc() : memref<4x8xf32>
  %b = memref.alloc() : memref<4x8xf32>
  scf.for %i = %c0 to %c5 step %c1 {
    %from = memref.subview %x[%i, 0, 0] [1, 4, 8] [1, 1, 1] : memref<6x4x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    %to = memref.subview %y[%i, 0, 0] [1, 4, 8] [1, 1, 1] : memref<6x4x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%a : memref<4x8xf32>)
    linalg.matmul ins(%from, %w : memref<4x8xf32, strided<[8, 1], offset: ?>>, memref<8x8xf32>) outs(%a : memref<4x8xf32>)
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : memref<4x8xf32>) outs(%to : memref<4x8xf32, strided<[8, 1], offset: ?>>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %p, %p : f32
      linalg.yield %s : f32
    }
  }
  scf.for %i = %c0 to %c5 step %c1 {
    %next = arith.addi %i, %c1 : index
    %from = memref.subview %x[%i, 0, 0] [1, 4, 8] [1, 1, 1] : memref<6x4x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    %to = memref.subview %x[%next, 0, 0] [1, 4, 8] [1, 1, 1] : memref<6x4x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%b : memref<4x8xf32>)
    linalg.matmul ins(%from, %w : memref<4x8xf32, strided<[8, 1], offset: ?>>, memref<8x8xf32>) outs(%b : memref<4x8xf32>)
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%b : memref<4x8xf32>) outs(%to : memref<4x8xf32, strided<[8, 1], offset: ?>>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.addf %p, %p : f32
      linalg.yield %s : f32
    }
  }
  return
}

// -----

#input = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f + q, h + r, w + s, c)>
#filter = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (kb, q, r, s, c, ki)>
#output = affine_map<(n, f, h, w, kb, ki, q, r, s, c) -> (n, f, h, w, kb * 16 + ki)>
#id = affine_map<(n, f, h, w, k) -> (n, f, h, w, k)>

// Convolutions with three spatial dims, with and without a packed filter.

// CHECK-LABEL: func.func @three_spatial_dims
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.conv_3d_ndhwc_dhwcf
// CHECK-NEXT:      linalg.generic
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.generic {{.*}} "reduction"
// CHECK:           linalg.generic
func.func @three_spatial_dims(%x: memref<1x4x6x6x4xf32>, %w: memref<3x3x3x4x16xf32>, %packed: memref<1x3x3x3x4x16xf32>, %y: memref<1x2x4x4x16xf32>, %z: memref<1x2x4x4x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<1x2x4x4x16xf32>
  %b = memref.alloc() : memref<1x2x4x4x16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<1x2x4x4x16xf32>)
  linalg.conv_3d_ndhwc_dhwcf ins(%x, %w : memref<1x4x6x6x4xf32>, memref<3x3x3x4x16xf32>) outs(%a : memref<1x2x4x4x16xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%a : memref<1x2x4x4x16xf32>) outs(%y : memref<1x2x4x4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.maximumf %p, %zero : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%b : memref<1x2x4x4x16xf32>)
  linalg.generic {indexing_maps = [#input, #filter, #output], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %packed : memref<1x4x6x6x4xf32>, memref<1x3x3x3x4x16xf32>) outs(%b : memref<1x2x4x4x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%b : memref<1x2x4x4x16xf32>) outs(%z : memref<1x2x4x4x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.maximumf %p, %zero : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#left = affine_map<(m, kb, ki, c) -> (m, c)>
#right = affine_map<(m, kb, ki, c) -> (kb, c, ki)>
#result = affine_map<(m, kb, ki, c) -> (m, kb * 16 + ki)>

// A product with a packed factor.

// CHECK-LABEL: func.func @packed_product
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.generic
// CHECK:           linalg.generic
// CHECK:           scf.yield
func.func @packed_product(%x: memref<4x8xf32>, %w: memref<2x8x16xf32>, %y: memref<4x32xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x32xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4x32xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<4x8xf32>, memref<2x8x16xf32>) outs(%a : memref<4x32xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x32xf32>) outs(%y : memref<4x32xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.negf %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A convolution along one dim has a row of pixels, and the op after it does not.

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-LABEL: func.func @without_rows
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.conv_2d_nhwc_hwcf
// CHECK-NEXT:      linalg.generic
func.func @without_rows(%x: memref<1x1x10x4xf32>, %w: memref<1x3x4x16xf32>, %y: memref<1x8x16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<1x1x8x16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<1x1x8x16xf32>)
  linalg.conv_2d_nhwc_hwcf ins(%x, %w : memref<1x1x10x4xf32>, memref<1x3x4x16xf32>) outs(%a : memref<1x1x8x16xf32>)
  %b = memref.collapse_shape %a [[0, 1], [2], [3]] : memref<1x1x8x16xf32> into memref<1x8x16xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : memref<1x8x16xf32>) outs(%y : memref<1x8x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.absf %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A product with a packed right factor whose last block is not whole.

#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @partial_block
// CHECK:         scf.execute_region no_inline {
func.func @partial_block(%x: memref<4x8xf32>, %w: memref<2x8x16xf32>, %y: memref<4x30xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x30xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4x30xf32>)
  linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<4x8xf32>, memref<2x8x16xf32>) outs(%a : memref<4x30xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x30xf32>) outs(%y : memref<4x30xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.absf %p : f32
    linalg.yield %s : f32
  }
  return
}
