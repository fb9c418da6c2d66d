// RUN: convoy-opt %s --plan-in-place --split-input-file | filecheck %s

// %a is not read after the kernel, which reads each element in the thread that writes it.

// CHECK-LABEL: func.func @dead
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.exp ins(%[[A]] : memref<64x16xf16>) outs(%[[A]] : memref<64x16xf16>)
// CHECK:         memref.copy %[[A]]
func.func @dead(%x: memref<64x16xf16>, %out: memref<64x16xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<64x16xf16>
  memref.copy %x, %a : memref<64x16xf16> to memref<64x16xf16>
  %b = memref.alloc() : memref<64x16xf16>
  linalg.exp ins(%a : memref<64x16xf16>) outs(%b : memref<64x16xf16>)
  memref.copy %b, %out : memref<64x16xf16> to memref<64x16xf16>
  return
}

// -----

// Both may have other shapes, and the result may be allocated before the operand.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @reshaped
// CHECK:         %[[A:.*]] = memref.alloc() : memref<2x32x16xf16>
// CHECK:         %[[B:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [1024], strides: [1] : memref<2x32x16xf16> to memref<1024xf16>
// CHECK-NOT:     memref.alloc
// CHECK:         %[[V:.*]] = memref.expand_shape %[[B]]
// CHECK:         memref.copy %{{.*}}, %[[A]]
// CHECK:         %[[F:.*]] = memref.collapse_shape %[[A]]
// CHECK:         linalg.generic {{.*}} ins(%[[F]], %{{.*}}) outs(%[[V]] :
// CHECK:         memref.copy %[[B]]
func.func @reshaped(%x: memref<2x32x16xf16>, %w: memref<16xf16>, %out: memref<1024xf16>) attributes {tcp.target = "cuda"} {
  %b = memref.alloc() : memref<1024xf16>
  %v = memref.expand_shape %b [[0, 1]] output_shape [64, 16] : memref<1024xf16> into memref<64x16xf16>
  %a = memref.alloc() : memref<2x32x16xf16>
  memref.copy %x, %a : memref<2x32x16xf16> to memref<2x32x16xf16>
  %f = memref.collapse_shape %a [[0, 1], [2]] : memref<2x32x16xf16> into memref<64x16xf16>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%f, %w : memref<64x16xf16>, memref<16xf16>) outs(%v : memref<64x16xf16>) {
  ^bb0(%e: f16, %s: f16, %o: f16):
    %0 = arith.addf %e, %s : f16
    linalg.yield %0 : f16
  }
  memref.copy %b, %out : memref<1024xf16> to memref<1024xf16>
  return
}

// -----

// %a is read later.

// CHECK-LABEL: func.func @live
// CHECK:         linalg.exp ins(%[[A:.*]] : memref<64x16xf16>) outs(%[[B:.*]] : memref<64x16xf16>)
// CHECK-NEXT:    linalg.add ins(%[[A]], %[[B]] :
func.func @live(%x: memref<64x16xf16>, %out: memref<64x16xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<64x16xf16>
  %b = memref.alloc() : memref<64x16xf16>
  memref.copy %x, %a : memref<64x16xf16> to memref<64x16xf16>
  linalg.exp ins(%a : memref<64x16xf16>) outs(%b : memref<64x16xf16>)
  linalg.add ins(%a, %b : memref<64x16xf16>, memref<64x16xf16>) outs(%out : memref<64x16xf16>)
  return
}

// -----

// The kernel writes a part of %b, whose rest a fill has written before.

// CHECK-LABEL: func.func @filled
// CHECK-COUNT-2: memref.alloc
func.func @filled(%x: memref<64x16xf16>, %out: memref<64x16xf16>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f16
  %a = memref.alloc() : memref<64x16xf16>
  %b = memref.alloc() : memref<64x16xf16>
  memref.copy %x, %a : memref<64x16xf16> to memref<64x16xf16>
  linalg.fill ins(%zero : f16) outs(%b : memref<64x16xf16>)
  %part = memref.subview %b[1, 0] [62, 16] [1, 1] : memref<64x16xf16> to memref<62x16xf16, strided<[16, 1], offset: 16>>
  %read = memref.subview %a[1, 0] [62, 16] [1, 1] : memref<64x16xf16> to memref<62x16xf16, strided<[16, 1], offset: 16>>
  linalg.exp ins(%read : memref<62x16xf16, strided<[16, 1], offset: 16>>) outs(%part : memref<62x16xf16, strided<[16, 1], offset: 16>>)
  memref.copy %b, %out : memref<64x16xf16> to memref<64x16xf16>
  return
}

// -----

// Other threads read the elements that a thread writes: in a transpose, in a shifted slice, or by
// index.

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @transposed
// CHECK-COUNT-2: memref.alloc
func.func @transposed(%x: memref<16x16xf16>, %out: memref<16x16xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<16x16xf16>
  %b = memref.alloc() : memref<16x16xf16>
  memref.copy %x, %a : memref<16x16xf16> to memref<16x16xf16>
  linalg.transpose ins(%a : memref<16x16xf16>) outs(%b : memref<16x16xf16>) permutation = [1, 0]
  memref.copy %b, %out : memref<16x16xf16> to memref<16x16xf16>
  return
}

// CHECK-LABEL: func.func @shifted
// CHECK-COUNT-2: memref.alloc
func.func @shifted(%x: memref<64x16xf16>, %out: memref<64x16xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<64x16xf16>
  %b = memref.alloc() : memref<64x16xf16>
  memref.copy %x, %a : memref<64x16xf16> to memref<64x16xf16>
  %part = memref.subview %b[1, 0] [62, 16] [1, 1] : memref<64x16xf16> to memref<62x16xf16, strided<[16, 1], offset: 16>>
  %read = memref.subview %a[0, 0] [62, 16] [1, 1] : memref<64x16xf16> to memref<62x16xf16, strided<[16, 1]>>
  linalg.exp ins(%read : memref<62x16xf16, strided<[16, 1]>>) outs(%part : memref<62x16xf16, strided<[16, 1], offset: 16>>)
  memref.copy %b, %out : memref<64x16xf16> to memref<64x16xf16>
  return
}

// CHECK-LABEL: func.func @gathered
// CHECK-COUNT-2: memref.alloc
func.func @gathered(%x: memref<64x16xf16>, %out: memref<64x16xf16>) attributes {tcp.target = "cuda"} {
  %c63 = arith.constant 63 : index
  %a = memref.alloc() : memref<64x16xf16>
  %b = memref.alloc() : memref<64x16xf16>
  memref.copy %x, %a : memref<64x16xf16> to memref<64x16xf16>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<64x16xf16>) outs(%b : memref<64x16xf16>) {
  ^bb0(%e: f16, %o: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %c63, %i : index
    %f = memref.load %a[%k, %j] : memref<64x16xf16>
    %0 = arith.addf %e, %f : f16
    linalg.yield %0 : f16
  }
  memref.copy %b, %out : memref<64x16xf16> to memref<64x16xf16>
  return
}

// -----

// A reduction writes its result while other threads read.

// CHECK-LABEL: func.func @reduced
// CHECK-COUNT-2: memref.alloc
func.func @reduced(%x: memref<64x1xf16>, %out: memref<64xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<64x1xf16>
  %b = memref.alloc() : memref<64xf16>
  memref.copy %x, %a : memref<64x1xf16> to memref<64x1xf16>
  linalg.reduce ins(%a : memref<64x1xf16>) outs(%b : memref<64xf16>) dimensions = [1] (%e: f16, %o: f16) {
    linalg.yield %e : f16
  }
  memref.copy %b, %out : memref<64xf16> to memref<64xf16>
  return
}

// -----

// Elements of other types have other places.

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @cast
// CHECK-COUNT-2: memref.alloc
func.func @cast(%x: memref<64x16xf16>, %out: memref<64x16xf32>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<64x16xf16>
  %b = memref.alloc() : memref<64x16xf32>
  memref.copy %x, %a : memref<64x16xf16> to memref<64x16xf16>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<64x16xf16>) outs(%b : memref<64x16xf32>) {
  ^bb0(%e: f16, %o: f32):
    %0 = arith.extf %e : f16 to f32
    linalg.yield %0 : f32
  }
  memref.copy %b, %out : memref<64x16xf32> to memref<64x16xf32>
  return
}

// -----

// A slice of %a dies in the kernel, but another slice is read later.

// CHECK-LABEL: func.func @slices
// CHECK-COUNT-2: memref.alloc
func.func @slices(%x: memref<64x16xf16>, %out: memref<64x16xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<64x16xf16>
  %b = memref.alloc() : memref<64x16xf16>
  memref.copy %x, %a : memref<64x16xf16> to memref<64x16xf16>
  %part = memref.subview %a[0, 0] [64, 16] [1, 1] : memref<64x16xf16> to memref<64x16xf16, strided<[16, 1]>>
  linalg.exp ins(%part : memref<64x16xf16, strided<[16, 1]>>) outs(%b : memref<64x16xf16>)
  %rest = memref.subview %a[0, 8] [64, 8] [1, 1] : memref<64x16xf16> to memref<64x8xf16, strided<[16, 1], offset: 8>>
  %target = memref.subview %out[0, 8] [64, 8] [1, 1] : memref<64x16xf16> to memref<64x8xf16, strided<[16, 1], offset: 8>>
  memref.copy %rest, %target : memref<64x8xf16, strided<[16, 1], offset: 8>> to memref<64x8xf16, strided<[16, 1], offset: 8>>
  memref.copy %b, %out : memref<64x16xf16> to memref<64x16xf16>
  return
}

// -----

// CHECK-LABEL: func.func @cpu
// CHECK-COUNT-2: memref.alloc
func.func @cpu(%x: memref<64x16xf16>, %out: memref<64x16xf16>) attributes {tcp.target = "cpu"} {
  %a = memref.alloc() : memref<64x16xf16>
  memref.copy %x, %a : memref<64x16xf16> to memref<64x16xf16>
  %b = memref.alloc() : memref<64x16xf16>
  linalg.exp ins(%a : memref<64x16xf16>) outs(%b : memref<64x16xf16>)
  memref.copy %b, %out : memref<64x16xf16> to memref<64x16xf16>
  return
}
