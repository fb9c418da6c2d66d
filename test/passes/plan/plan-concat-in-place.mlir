// RUN: convoy-opt %s --plan-concat-in-place --canonicalize --split-input-file | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// The kernel writes into the first columns. One kernel copies the arguments after them.

// CHECK-LABEL: func.func @placed
// CHECK-SAME:    %[[X:.*]]: memref<32768x16xf16>, %[[Y:.*]]: memref<32768x32xf16>, %[[Z:.*]]: memref<32768x64xf16>, %[[OUT:.*]]: memref<32768x112xf16>
// CHECK-NOT:     memref.alloc
// CHECK:         %[[A:.*]] = memref.subview %[[OUT]][0, 0] [32768, 16] [1, 1]
// CHECK:         linalg.exp {{.*}} outs(%[[A]] : memref<32768x16xf16, strided<[112, 1]>>)
// CHECK:         %[[B:.*]] = memref.subview %[[OUT]][0, 16] [32768, 96] [1, 1]
// CHECK:         linalg.generic {{.*}} outs(%[[B]] : memref<32768x96xf16, strided<[112, 1], offset: 16>>)
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[FIRST:.*]] = arith.cmpi ult, %[[J]], %c32
// CHECK:           scf.if %[[FIRST]]
// CHECK:             memref.load %[[Y]][%[[I]], %[[J]]]
// CHECK:           else
// CHECK:             %[[K:.*]] = arith.addi %[[J]], %c-32
// CHECK:             memref.load %[[Z]][%[[I]], %[[K]]]
// CHECK-NOT:     linalg.generic
func.func @placed(%x: memref<32768x16xf16>, %y: memref<32768x32xf16>, %z: memref<32768x64xf16>, %out: memref<32768x112xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%out : memref<32768x112xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x16xf16>
      scf.yield %xel : f16
    } else {
      %bxer = arith.cmpi ult, %i1, %c48 : index
      %xer = scf.if %bxer -> (f16) {
        %s1 = arith.subi %i1, %c16 : index
        %xxerl = memref.load %y[%i0, %s1] : memref<32768x32xf16>
        scf.yield %xxerl : f16
      } else {
        %s2 = arith.subi %i1, %c48 : index
        %xxerr = memref.load %z[%i0, %s2] : memref<32768x64xf16>
        scf.yield %xxerr : f16
      }
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// No kernel copies. The buffer of the result is there before the first slice is written.

// CHECK-LABEL: func.func @all
// CHECK:         %[[OUT:.*]] = memref.alloc() : memref<32768x48xf16>
// CHECK-NEXT:    %[[A:.*]] = memref.subview %[[OUT]][0, 0] [32768, 16] [1, 1]
// CHECK-NEXT:    linalg.exp {{.*}} outs(%[[A]]
// CHECK-NEXT:    %[[B:.*]] = memref.subview %[[OUT]][0, 16] [32768, 32] [1, 1]
// CHECK-NEXT:    linalg.exp {{.*}} outs(%[[B]]
// CHECK-NEXT:    linalg.exp ins(%[[OUT]]
func.func @all(%x: memref<32768x16xf16>, %y: memref<32768x32xf16>, %z: memref<32768x48xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  %b = memref.alloc() : memref<32768x32xf16>
  linalg.exp ins(%y : memref<32768x32xf16>) outs(%b : memref<32768x32xf16>)
  %c = memref.alloc() : memref<32768x48xf16>
  %c16 = arith.constant 16 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%c : memref<32768x48xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x16xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c16 : index
      %xer = memref.load %b[%i0, %s1] : memref<32768x32xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  linalg.exp ins(%c : memref<32768x48xf16>) outs(%z : memref<32768x48xf16>)
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// A kernel that reads an input later reads the slice.

// CHECK-LABEL: func.func @read_later
// CHECK:         linalg.exp {{.*}} outs(%[[A:.*]] : memref<32768x16xf16, strided<[48, 1]>>)
// CHECK:         linalg.generic
// CHECK:         linalg.exp ins(%[[A]] : memref<32768x16xf16, strided<[48, 1]>>)
func.func @read_later(%x: memref<32768x16xf16>, %y: memref<32768x32xf16>, %z: memref<32768x48xf16>, %t: memref<32768x16xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  %c16 = arith.constant 16 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%z : memref<32768x48xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x16xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c16 : index
      %xer = memref.load %y[%i0, %s1] : memref<32768x32xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  linalg.exp ins(%a : memref<32768x16xf16>) outs(%t : memref<32768x16xf16>)
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// What a kernel writes after the concat must not be in its result.

// CHECK-LABEL: func.func @written_later
// CHECK:         memref.alloc
// CHECK-NOT:     memref.subview
func.func @written_later(%x: memref<32768x16xf16>, %y: memref<32768x32xf16>, %z: memref<32768x48xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  %c16 = arith.constant 16 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%z : memref<32768x48xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x16xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c16 : index
      %xer = memref.load %y[%i0, %s1] : memref<32768x32xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The result is overwritten before the input is read for the last time.

// CHECK-LABEL: func.func @result_written_later
// CHECK:         memref.alloc
// CHECK-NOT:     memref.subview
func.func @result_written_later(%x: memref<32768x16xf16>, %y: memref<32768x32xf16>, %z: memref<32768x48xf16>, %t: memref<32768x16xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  %c16 = arith.constant 16 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%z : memref<32768x48xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x16xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c16 : index
      %xer = memref.load %y[%i0, %s1] : memref<32768x32xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  linalg.exp ins(%z : memref<32768x48xf16>) outs(%z : memref<32768x48xf16>)
  linalg.exp ins(%a : memref<32768x16xf16>) outs(%t : memref<32768x16xf16>)
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The result's memory has other contents before the concat.

// CHECK-LABEL: func.func @result_read_earlier
// CHECK-NOT:     memref.subview
func.func @result_read_earlier(%x: memref<32768x16xf16>, %y: memref<32768x32xf16>, %z: memref<32768x48xf16>, %t: memref<32768x48xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  linalg.exp ins(%z : memref<32768x48xf16>) outs(%t : memref<32768x48xf16>)
  %c16 = arith.constant 16 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%z : memref<32768x48xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x16xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c16 : index
      %xer = memref.load %y[%i0, %s1] : memref<32768x32xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Something else than a kernel needs a packed input.

// CHECK-LABEL: func.func @other_user
// CHECK-NOT:     memref.subview
func.func @other_user(%x: memref<32768x16xf16>, %y: memref<32768x32xf16>, %z: memref<32768x48xf16>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f16
  %i = arith.constant 0 : index
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  memref.store %zero, %a[%i, %i] : memref<32768x16xf16>
  %c16 = arith.constant 16 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%z : memref<32768x48xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x16xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c16 : index
      %xer = memref.load %y[%i0, %s1] : memref<32768x32xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The second copy of an input reads the first one.

// CHECK-LABEL: func.func @repeated
// CHECK-SAME:    %[[OUT:[^ ]*]]: memref<32768x32xf16>
// CHECK:         %[[A:.*]] = memref.subview %[[OUT]][0, 0] [32768, 16] [1, 1]
// CHECK:         linalg.exp {{.*}} outs(%[[A]]
// CHECK:         %[[B:.*]] = memref.subview %[[OUT]][0, 16] [32768, 16] [1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[B]]
func.func @repeated(%x: memref<32768x16xf16>, %out: memref<32768x32xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  %c16 = arith.constant 16 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%out : memref<32768x32xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x16xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c16 : index
      %xer = memref.load %a[%i0, %s1] : memref<32768x16xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Threads could not write rows of 120 bytes by 16.

// CHECK-LABEL: func.func @odd
// CHECK-NOT:     memref.subview
func.func @odd(%x: memref<32768x60xf16>, %y: memref<32768x4xf16>, %z: memref<32768x64xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x60xf16>
  linalg.exp ins(%x : memref<32768x60xf16>) outs(%a : memref<32768x60xf16>)
  %c60 = arith.constant 60 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%z : memref<32768x64xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c60 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x60xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c60 : index
      %xer = memref.load %y[%i0, %s1] : memref<32768x4xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// For a small result this does not matter: one launch less.

// CHECK-LABEL: func.func @small
// CHECK:         memref.subview
// CHECK:         memref.subview
// CHECK-NOT:     linalg.generic
func.func @small(%x: memref<512x3xf16>, %y: memref<512x4xf16>, %z: memref<512x7xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<512x3xf16>
  linalg.exp ins(%x : memref<512x3xf16>) outs(%a : memref<512x3xf16>)
  %b = memref.alloc() : memref<512x4xf16>
  linalg.exp ins(%y : memref<512x4xf16>) outs(%b : memref<512x4xf16>)
  %c3 = arith.constant 3 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%z : memref<512x7xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c3 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<512x3xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c3 : index
      %xer = memref.load %b[%i0, %s1] : memref<512x4xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// One kernel copies all three, since a second one would take longer than it saves.

// CHECK-LABEL: func.func @between
// CHECK:         memref.alloc
// CHECK-NOT:     memref.subview
func.func @between(%x: memref<32768x16xf16>, %y: memref<32768x64xf16>, %z: memref<32768x144xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  %c64 = arith.constant 64 : index
  %c80 = arith.constant 80 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%z : memref<32768x144xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c64 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %y[%i0, %i1] : memref<32768x64xf16>
      scf.yield %xel : f16
    } else {
      %bxer = arith.cmpi ult, %i1, %c80 : index
      %xer = scf.if %bxer -> (f16) {
        %s1 = arith.subi %i1, %c64 : index
        %xxerl = memref.load %a[%i0, %s1] : memref<32768x16xf16>
        scf.yield %xxerl : f16
      } else {
        %s2 = arith.subi %i1, %c80 : index
        %xxerr = memref.load %y[%i0, %s2] : memref<32768x64xf16>
        scf.yield %xxerr : f16
      }
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// The first input is a reshape of what the kernel writes. Dims of the second one cannot be merged in
// the result.

// CHECK-LABEL: func.func @reshaped
// CHECK-SAME:    %{{.*}}: memref<32768x16xf16>, %{{.*}}: memref<16x32768xf16>, %[[OUT:.*]]: memref<16x2048x32xf16>
// CHECK:         %[[SLICE:.*]] = memref.subview %[[OUT]][0, 0, 0] [16, 2048, 16] [1, 1, 1]
// CHECK:         %[[A:.*]] = memref.collapse_shape %[[SLICE]] {{\[\[}}0, 1], [2]] {{.*}} into memref<32768x16xf16, strided<[32, 1]>>
// CHECK:         linalg.exp {{.*}} outs(%[[A]]
// CHECK:         %[[B:.*]] = memref.alloc() : memref<16x32768xf16>
// CHECK:         linalg.exp {{.*}} outs(%[[B]]
// CHECK:         linalg.generic
func.func @reshaped(%x: memref<32768x16xf16>, %y: memref<16x32768xf16>, %out: memref<16x2048x32xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  %p = memref.expand_shape %a [[0, 1], [2]] output_shape [16, 2048, 16] : memref<32768x16xf16> into memref<16x2048x16xf16>
  %b = memref.alloc() : memref<16x32768xf16>
  linalg.exp ins(%y : memref<16x32768xf16>) outs(%b : memref<16x32768xf16>)
  %q = memref.expand_shape %b [[0], [1, 2]] output_shape [16, 2048, 16] : memref<16x32768xf16> into memref<16x2048x16xf16>
  %c16 = arith.constant 16 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%out : memref<16x2048x32xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %i2 = linalg.index 2 : index
    %be = arith.cmpi ult, %i2, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %p[%i0, %i1, %i2] : memref<16x2048x16xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i2, %c16 : index
      %xer = memref.load %q[%i0, %i1, %s1] : memref<16x2048x16xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// A slice of a slice: the inner result is an input of the outer concat.

// CHECK-LABEL: func.func @nested
// CHECK-SAME:    %[[OUT:[^ ]*]]: memref<32768x128xf16>
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.exp {{.*}} outs(%{{.*}} : memref<32768x16xf16, strided<[128, 1]>>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : memref<32768x48xf16>) outs(%{{.*}} : memref<32768x48xf16, strided<[128, 1], offset: 16>>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : memref<32768x64xf16>) outs(%{{.*}} : memref<32768x64xf16, strided<[128, 1], offset: 64>>)
// CHECK-NOT:     linalg.generic
func.func @nested(%x: memref<32768x16xf16>, %y: memref<32768x48xf16>, %z: memref<32768x64xf16>, %out: memref<32768x128xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  %c = memref.alloc() : memref<32768x64xf16>
  %c16 = arith.constant 16 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%c : memref<32768x64xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x16xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c16 : index
      %xer = memref.load %y[%i0, %s1] : memref<32768x48xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  %c64 = arith.constant 64 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%out : memref<32768x128xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c64 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %c[%i0, %i1] : memref<32768x64xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c64 : index
      %xer = memref.load %z[%i0, %s1] : memref<32768x64xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

// A graph writes a slice that is packed, and not one between the rows of others.

// CHECK-LABEL: func.func @graphs
// CHECK-SAME:    %[[OUT:[^ ]*]]: memref<128x64xf16>, %[[COLUMNS:[^ ]*]]: memref<64x128xf16>
// CHECK:         %[[A:.*]] = memref.subview %[[OUT]][0, 0] [64, 64] [1, 1]
// CHECK:         cudnn.execute @relu {{.*}} outs(%[[A]] : memref<64x64xf16, strided<[64, 1]>>)
// CHECK:         %[[B:.*]] = memref.subview %[[OUT]][64, 0] [64, 64] [1, 1]
// CHECK:         cudnn.execute @relu {{.*}} outs(%[[B]] : memref<64x64xf16, strided<[64, 1], offset: 4096>>)
// CHECK:         cudnn.execute @relu {{.*}} outs(%[[C:.*]] : memref<64x64xf16>)
// CHECK:         linalg.generic {{.*}} outs(%[[COLUMNS]]
!t = !cudnn.tensor_desc<64x64xf16>
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @graphs(%x: memref<64x64xf16>, %out: memref<128x64xf16>, %columns: memref<64x128xf16>) attributes {tcp.target = "cuda"} {
  %a = memref.alloc() : memref<64x64xf16>
  cudnn.execute @relu ins(%x : memref<64x64xf16>) outs(%a : memref<64x64xf16>)
  %b = memref.alloc() : memref<64x64xf16>
  cudnn.execute @relu ins(%x : memref<64x64xf16>) outs(%b : memref<64x64xf16>)
  %c64 = arith.constant 64 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%out : memref<128x64xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i0, %c64 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<64x64xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i0, %c64 : index
      %xer = memref.load %b[%s1, %i1] : memref<64x64xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  %c = memref.alloc() : memref<64x64xf16>
  cudnn.execute @relu ins(%x : memref<64x64xf16>) outs(%c : memref<64x64xf16>)
  %d = memref.alloc() : memref<64x64xf16>
  cudnn.execute @relu ins(%x : memref<64x64xf16>) outs(%d : memref<64x64xf16>)
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%columns : memref<64x128xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c64 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %c[%i0, %i1] : memref<64x64xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c64 : index
      %xer = memref.load %d[%i0, %s1] : memref<64x64xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @cpu
// CHECK-NOT:     memref.subview
func.func @cpu(%x: memref<32768x16xf16>, %y: memref<32768x32xf16>, %out: memref<32768x48xf16>) attributes {tcp.target = "cpu"} {
  %a = memref.alloc() : memref<32768x16xf16>
  linalg.exp ins(%x : memref<32768x16xf16>) outs(%a : memref<32768x16xf16>)
  %c16 = arith.constant 16 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%out : memref<32768x48xf16>) {
  ^bb0(%o: f16):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %be = arith.cmpi ult, %i1, %c16 : index
    %e = scf.if %be -> (f16) {
      %xel = memref.load %a[%i0, %i1] : memref<32768x16xf16>
      scf.yield %xel : f16
    } else {
      %s1 = arith.subi %i1, %c16 : index
      %xer = memref.load %y[%i0, %s1] : memref<32768x32xf16>
      scf.yield %xer : f16
    }
    linalg.yield %e : f16
  }
  return
}
