// RUN: convoy-opt %s --split-input-file --cpu-contractions="lanes=8 registers=16" | filecheck %s

// Reductions other than products: vectors of results stay in registers.

#window = affine_map<(n, h, w, c, r, s) -> (n, h * 2 + r, w * 2 + s, c)>
#shape = affine_map<(n, h, w, c, r, s) -> (r, s)>
#pooled = affine_map<(n, h, w, c, r, s) -> (n, h, w, c)>

// 41 channels are a tile of 4 vectors and one of 2, of which the last has one channel. The fill is part
// of the loop.

// CHECK-LABEL: func.func @max_pool
// CHECK-NOT:     linalg
// CHECK:         scf.parallel {{.*}} to (%c450)
// CHECK:           scf.if
// CHECK:             vector.load {{.*}} : memref<39401xf32>, vector<8xf32>
// CHECK:             arith.maximumf {{.*}} : vector<8xf32>
// CHECK:             vector.maskedload
// CHECK:             arith.maximumf
// CHECK:             vector.maskedstore
// CHECK:           else
// CHECK:             scf.for {{.*}} iter_args
// CHECK:               scf.for {{.*}} iter_args
// CHECK-COUNT-4:         arith.maximumf {{.*}} : vector<8xf32>
// CHECK-COUNT-4:     vector.store
// CHECK-NOT:     linalg
func.func @max_pool(%x: memref<1x31x31x41xf32>, %k: memref<3x3xf32>, %y: memref<1x15x15x41xf32>) attributes {tcp.target = "cpu"} {
  %low = arith.constant 0xFF800000 : f32
  linalg.fill ins(%low : f32) outs(%y : memref<1x15x15x41xf32>)
  linalg.generic {indexing_maps = [#window, #shape, #pooled], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %k : memref<1x31x31x41xf32>, memref<3x3xf32>) outs(%y : memref<1x15x15x41xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.maximumf %o, %a : f32
    linalg.yield %m : f32
  }
  return
}

// -----

#image = affine_map<(c, h) -> (h, c)>
#mean = affine_map<(c, h) -> (c)>

// Without a fill the results are loaded. The fill of a part of the output stays, and a small reduction
// runs on the calling thread.

// CHECK-LABEL: func.func @sum
// CHECK:         linalg.fill
// CHECK-NOT:     scf.parallel
// CHECK:         scf.for
// CHECK:           vector.load %[[Y:.*]][%{{.*}}] : memref<16xf32>, vector<8xf32>
// CHECK:           arith.addf {{.*}} : vector<8xf32>
// CHECK:           vector.store %{{.*}}, %[[Y]]
func.func @sum(%x: memref<9x16xf32>, %y: memref<16xf32>) attributes {tcp.target = "cpu"} {
  %zero = arith.constant 0.0 : f32
  %half = memref.subview %y[0] [8] [1] : memref<16xf32> to memref<8xf32>
  linalg.fill ins(%zero : f32) outs(%half : memref<8xf32>)
  linalg.generic {indexing_maps = [#image, #mean], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<9x16xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#rows = affine_map<(m, k) -> (m, k)>
#columns = affine_map<(m, k) -> (k, m)>
#result = affine_map<(m, k) -> (m)>

// Sums of rows read elements that are not neighbours, 3 results do not fill a vector, and other types
// have other vectors.

// CHECK-LABEL: func.func @other_forms
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT:     vector
func.func @other_forms(%x: memref<16x16xf32>, %y: memref<16xf32>, %few: memref<9x3xf32>, %z: memref<3xf32>, %d: memref<9x16xf64>, %e: memref<16xf64>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#rows, #result], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<16x16xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#columns, #result], iterator_types = ["parallel", "reduction"]}
      ins(%few : memref<9x3xf32>) outs(%z : memref<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#columns, #result], iterator_types = ["parallel", "reduction"]}
      ins(%d : memref<9x16xf64>) outs(%e : memref<16xf64>) {
  ^bb0(%a: f64, %o: f64):
    %s = arith.addf %o, %a : f64
    linalg.yield %s : f64
  }
  return
}

// -----

#rows = affine_map<(a, b, c) -> (a, b, c)>
#results = affine_map<(a, b, c) -> (a, b)>

// The maximum of 21 contiguous elements: three vectors of partial results, of which the last has 5
// elements. The dims of the results are one loop.

// CHECK-LABEL: func.func @row_max
// CHECK-NOT:     linalg
// CHECK:         scf.parallel {{.*}} to (%c1200)
// CHECK-NOT:       arith.remui
// CHECK-COUNT-2:   vector.load {{.*}} : memref<25200xf32>, vector<8xf32>
// CHECK:           %[[LAST:.*]] = vector.maskedload
// CHECK:           %[[MAX:.*]] = arith.maximumf %{{.*}}, %[[LAST]] : vector<8xf32>
// CHECK:           arith.select %{{.*}}, %[[MAX]], %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK-COUNT-2:   arith.maximumf {{.*}} : vector<8xf32>
// CHECK:           %[[R:.*]] = vector.reduction <maximumf>, %{{.*}}, %{{.*}} : vector<8xf32> into f32
// CHECK:           memref.store %[[R]]
// CHECK-NOT:     linalg
func.func @row_max(%x: memref<30x40x21xf32>, %y: memref<30x40xf32>) attributes {tcp.target = "cpu"} {
  %low = arith.constant 0xFF800000 : f32
  linalg.fill ins(%low : f32) outs(%y : memref<30x40xf32>)
  linalg.generic {indexing_maps = [#rows, #results], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : memref<30x40x21xf32>) outs(%y : memref<30x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %o, %a : f32
    linalg.yield %m : f32
  }
  return
}

// -----

#rows = affine_map<(a, c) -> (a, c)>
#results = affine_map<(a, c) -> (a)>

// A sum in the order of the elements has no vectors.

// CHECK-LABEL: func.func @ordered_sum
// CHECK:         linalg.generic
func.func @ordered_sum(%x: memref<30x40xf32>, %y: memref<30xf32>) attributes {tcp.target = "cpu"} {
  linalg.generic {indexing_maps = [#rows, #results], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<30x40xf32>) outs(%y : memref<30xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}
