// RUN: convoy-opt %s --plan-group-siblings --split-input-file | filecheck %s

// The first op stays where its result is needed, and the second one moves up to it, with the view that
// it writes. The copy between accesses other buffers.

// CHECK-LABEL: func.func @frequencies
// CHECK-SAME:    %[[X:[^:]*]]: memref<64x3xf32>
// CHECK:         %[[OUT:.*]] = memref.alloc() : memref<64x6xf32>
// CHECK:         %[[A:.*]] = memref.subview %[[OUT]][0, 0]
// CHECK:         %[[B:.*]] = memref.subview %[[OUT]][0, 3]
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      linalg.exp ins(%[[X]] : {{.*}}) outs(%[[A]] :
// CHECK-NEXT:      linalg.tanh ins(%[[X]] : {{.*}}) outs(%[[B]] :
// CHECK-NEXT:      scf.yield
// CHECK:         memref.copy %{{.*}}, %{{.*}} : memref<8xf32>
// CHECK-NOT:     linalg
func.func @frequencies(%x: memref<64x3xf32>, %y: memref<8xf32>, %z: memref<8xf32>, %result: memref<64x6xf32>) attributes {tcp.target = "cuda"} {
  %out = memref.alloc() : memref<64x6xf32>
  %a = memref.subview %out[0, 0] [64, 3] [1, 1] : memref<64x6xf32> to memref<64x3xf32, strided<[6, 1]>>
  linalg.exp ins(%x : memref<64x3xf32>) outs(%a : memref<64x3xf32, strided<[6, 1]>>)
  memref.copy %y, %z : memref<8xf32> to memref<8xf32>
  %b = memref.subview %out[0, 3] [64, 3] [1, 1] : memref<64x6xf32> to memref<64x3xf32, strided<[6, 1], offset: 3>>
  linalg.tanh ins(%x : memref<64x3xf32>) outs(%b : memref<64x3xf32, strided<[6, 1], offset: 3>>)
  memref.copy %out, %result : memref<64x6xf32> to memref<64x6xf32>
  return
}

// -----

// The second op needs the copy, so the first one moves down to it.

// CHECK-LABEL: func.func @down
// CHECK:         memref.copy %{{.*}} : memref<8xf32>
// CHECK-NEXT:    scf.execute_region no_inline {
// CHECK-NEXT:      linalg.exp
// CHECK-NEXT:      linalg.tanh
// CHECK-NEXT:      scf.yield
func.func @down(%x: memref<8xf32>, %y: memref<8xf32>, %a: memref<8xf32>, %b: memref<8xf32>) attributes {tcp.target = "cuda"} {
  %z = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  memref.copy %y, %z : memref<8xf32> to memref<8xf32>
  linalg.tanh ins(%z : memref<8xf32>) outs(%b : memref<8xf32>)
  return
}

// -----

// The second op reads what the first one writes.

// CHECK-LABEL: func.func @dependent
// CHECK-NOT:     scf.execute_region
func.func @dependent(%x: memref<8xf32>, %a: memref<8xf32>, %b: memref<8xf32>) attributes {tcp.target = "cuda"} {
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.tanh ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  return
}

// -----

// The second op depends on the first one by an op between them.

// CHECK-LABEL: func.func @dependent_indirectly
// CHECK-NOT:     scf.execute_region
func.func @dependent_indirectly(%x: memref<8xf32>, %y: memref<8xf32>, %a: memref<8xf32>, %b: memref<8xf32>) attributes {tcp.target = "cuda"} {
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  linalg.tanh ins(%y : memref<8xf32>) outs(%b : memref<8xf32>)
  return
}

// -----

// The second op overwrites what the first one reads.

// CHECK-LABEL: func.func @overwritten
// CHECK-NOT:     scf.execute_region
func.func @overwritten(%x: memref<8xf32>, %y: memref<8xf32>, %a: memref<8xf32>) attributes {tcp.target = "cuda"} {
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.tanh ins(%y : memref<8xf32>) outs(%x : memref<8xf32>)
  return
}

// -----

// Both write the third column.

// CHECK-LABEL: func.func @overlapping
// CHECK-NOT:     scf.execute_region
func.func @overlapping(%x: memref<64x3xf32>, %out: memref<64x6xf32>) attributes {tcp.target = "cuda"} {
  %a = memref.subview %out[0, 0] [64, 3] [1, 1] : memref<64x6xf32> to memref<64x3xf32, strided<[6, 1]>>
  linalg.exp ins(%x : memref<64x3xf32>) outs(%a : memref<64x3xf32, strided<[6, 1]>>)
  %b = memref.subview %out[0, 2] [64, 3] [1, 1] : memref<64x6xf32> to memref<64x3xf32, strided<[6, 1], offset: 2>>
  linalg.tanh ins(%x : memref<64x3xf32>) outs(%b : memref<64x3xf32, strided<[6, 1], offset: 2>>)
  return
}

// -----

// The copy between writes what both read, so neither can move across it.

// CHECK-LABEL: func.func @written_between
// CHECK-NOT:     scf.execute_region
func.func @written_between(%x: memref<8xf32>, %y: memref<8xf32>, %a: memref<8xf32>, %b: memref<8xf32>) attributes {tcp.target = "cuda"} {
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  memref.copy %y, %x : memref<8xf32> to memref<8xf32>
  linalg.tanh ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  return
}

// -----

// The order of a group among other ops: the third op can join neither where the first two are, because
// it reads what the second copy writes, nor can they move to it, because the first copy reads a result.

// CHECK-LABEL: func.func @between
// CHECK:         scf.execute_region
// CHECK-NEXT:      linalg.exp
// CHECK-NEXT:      linalg.tanh
// CHECK-NEXT:      scf.yield
// CHECK:         memref.copy
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    linalg.sqrt
func.func @between(%x: memref<8xf32>, %y: memref<8xf32>, %a: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>, %d: memref<8xf32>, %e: memref<8xf32>) attributes {tcp.target = "cuda"} {
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.tanh ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  memref.copy %a, %c : memref<8xf32> to memref<8xf32>
  memref.copy %y, %d : memref<8xf32> to memref<8xf32>
  linalg.sqrt ins(%d : memref<8xf32>) outs(%e : memref<8xf32>)
  return
}

// -----

// An op that takes longer than a launch.

// CHECK-LABEL: func.func @large
// CHECK-NOT:     scf.execute_region
func.func @large(%x: memref<1024x1024xf32>, %y: memref<8xf32>, %a: memref<1024x1024xf32>, %b: memref<8xf32>) attributes {tcp.target = "cuda"} {
  linalg.exp ins(%x : memref<1024x1024xf32>) outs(%a : memref<1024x1024xf32>)
  linalg.tanh ins(%y : memref<8xf32>) outs(%b : memref<8xf32>)
  return
}

// -----

// Both temporaries would be live at the same time.

// CHECK-LABEL: func.func @memory
// CHECK-NOT:     scf.execute_region
func.func @memory(%x: memref<384x1024xf32>, %a: memref<384x1024xf32>, %b: memref<384x1024xf32>) attributes {tcp.target = "cuda"} {
  %s = memref.alloc() : memref<384x1024xf32>
  linalg.exp ins(%x : memref<384x1024xf32>) outs(%s : memref<384x1024xf32>)
  memref.copy %s, %a : memref<384x1024xf32> to memref<384x1024xf32>
  %t = memref.alloc() : memref<384x1024xf32>
  linalg.tanh ins(%x : memref<384x1024xf32>) outs(%t : memref<384x1024xf32>)
  memref.copy %t, %b : memref<384x1024xf32> to memref<384x1024xf32>
  return
}

// -----

// Two chains of three ops can run at the same time. One op in place of the last of one and the first of
// the other would make them one chain of five.

// CHECK-LABEL: func.func @chains
// CHECK-NOT:     scf.execute_region
func.func @chains(%x: memref<8xf32>, %y: memref<8xf32>, %a: memref<8xf32>, %b: memref<8xf32>) attributes {tcp.target = "cuda"} {
  %0 = memref.alloc() : memref<8xf32>
  %1 = memref.alloc() : memref<8xf32>
  %2 = memref.alloc() : memref<8xf32>
  %3 = memref.alloc() : memref<8xf32>
  memref.copy %x, %0 : memref<8xf32> to memref<8xf32>
  memref.copy %0, %1 : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%1 : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.tanh ins(%y : memref<8xf32>) outs(%2 : memref<8xf32>)
  memref.copy %2, %3 : memref<8xf32> to memref<8xf32>
  memref.copy %3, %b : memref<8xf32> to memref<8xf32>
  return
}

// -----

// A lookup reads only some rows of its table, whose bytes do not count. Of the branches of a concat one
// is taken.

#rows = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @lookups
// CHECK:         scf.execute_region
// CHECK-COUNT-2: linalg.generic
// CHECK:         scf.yield
func.func @lookups(%i: memref<512xi32>, %x: memref<100000x512xf32>, %y: memref<512x512xf32>, %z: memref<512x512xf32>, %a: memref<512x512xf32>, %b: memref<512x512xf32>) attributes {tcp.target = "cuda"} {
  linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%a : memref<512x512xf32>) {
  ^bb0(%out: f32):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = memref.load %i[%0] : memref<512xi32>
    %3 = arith.index_cast %2 : i32 to index
    %4 = memref.load %x[%3, %1] : memref<100000x512xf32>
    linalg.yield %4 : f32
  }
  linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%b : memref<512x512xf32>) {
  ^bb0(%out: f32):
    %c256 = arith.constant 256 : index
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = arith.cmpi ult, %0, %c256 : index
    %3 = scf.if %2 -> f32 {
      %4 = memref.load %y[%0, %1] : memref<512x512xf32>
      %5 = memref.load %y[%1, %0] : memref<512x512xf32>
      %6 = arith.addf %4, %5 : f32
      scf.yield %6 : f32
    } else {
      %4 = memref.load %z[%0, %1] : memref<512x512xf32>
      %5 = memref.load %z[%1, %0] : memref<512x512xf32>
      %6 = arith.addf %4, %5 : f32
      scf.yield %6 : f32
    }
    linalg.yield %3 : f32
  }
  return
}

// -----

// The kernel of the first op also writes the padding around its result.

// CHECK-LABEL: func.func @padded
// CHECK-NOT:     scf.execute_region
func.func @padded(%x: memref<8xf32>, %a: memref<10xf32>, %b: memref<8xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<10xf32>)
  %s = memref.subview %a[1] [8] [1] : memref<10xf32> to memref<8xf32, strided<[1], offset: 1>>
  linalg.exp ins(%x : memref<8xf32>) outs(%s : memref<8xf32, strided<[1], offset: 1>>)
  linalg.tanh ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  return
}

// -----

// Regions of rows are members like other ops.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @regions
// CHECK:         scf.execute_region no_inline {
// CHECK-NEXT:      scf.execute_region no_inline {
// CHECK:           linalg.tanh
// CHECK-NEXT:      scf.yield
func.func @regions(%x: memref<8x64xf32>, %sum: memref<8xf32>, %y: memref<8x64xf32>, %z: memref<8x64xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%sum : memref<8xf32>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x64xf32>) outs(%sum : memref<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : memref<8x64xf32>, memref<8xf32>) outs(%y : memref<8x64xf32>) {
    ^bb0(%in: f32, %s: f32, %out: f32):
      %0 = arith.divf %in, %s : f32
      linalg.yield %0 : f32
    }
    scf.yield
  }
  linalg.tanh ins(%x : memref<8x64xf32>) outs(%z : memref<8x64xf32>)
  return
}

// -----

// The body of a loop has its own groups. Of a slice at its step, any step counts.

// CHECK-LABEL: func.func @loop
// CHECK:         scf.for
// CHECK:           scf.execute_region no_inline {
// CHECK-NEXT:        linalg.exp
// CHECK-NEXT:        linalg.tanh
// CHECK-NEXT:        scf.yield
// CHECK:           linalg.sqrt
func.func @loop(%x: memref<4x8xf32>, %a: memref<4x8xf32>, %b: memref<8xf32>) attributes {tcp.target = "cuda"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %s = memref.subview %x[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    %r = memref.subview %a[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    linalg.exp ins(%s : memref<8xf32, strided<[1], offset: ?>>) outs(%r : memref<8xf32, strided<[1], offset: ?>>)
    linalg.tanh ins(%s : memref<8xf32, strided<[1], offset: ?>>) outs(%b : memref<8xf32>)
    %f = memref.subview %a[0, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1]>>
    linalg.sqrt ins(%b : memref<8xf32>) outs(%f : memref<8xf32, strided<[1]>>)
  }
  return
}

// -----

// CHECK-LABEL: func.func @cpu
// CHECK-NOT:     scf.execute_region
func.func @cpu(%x: memref<8xf32>, %a: memref<8xf32>, %b: memref<8xf32>) attributes {tcp.target = "cpu"} {
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.tanh ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  return
}
