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

// Another op writes what the product reads before the elementwise op runs: moving the product there would change it.

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

// The product is read twice, so it must be in memory.

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

// The elementwise op writes over what the product reads.

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

// So is a view of one.

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
