// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// CHECK-DAG: #[[STEP:.*]] = affine_map<(d0, d1) -> (d0, d1 * 2 + 2)>
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 2)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (0, d1)>

// CHECK-LABEL: func.func @flatten
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2, 3]]
func.func @flatten(%x: tensor<2x3x4x5xf32>) -> tensor<2x60xf32> {
  %0 = tcp.reshape %x : tensor<2x3x4x5xf32> -> tensor<2x60xf32>
  return %0 : tensor<2x60xf32>
}

// Neither an expansion nor a collapse: via one dim.
// CHECK-LABEL: func.func @regroup
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1]]
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1]]
func.func @regroup(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %0 = tcp.reshape %x : tensor<4x6xf32> -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// Moving a dim of size 1 moves no element.
// CHECK-LABEL: func.func @transpose_of_unit
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @transpose_of_unit(%x: tensor<2x3x1x1xf32>) -> tensor<2x1x1x3xf32> {
  %0 = tcp.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<2x3x1x1xf32> -> tensor<2x1x1x3xf32>
  return %0 : tensor<2x1x1x3xf32>
}

// CHECK-LABEL: func.func @slice_cpu
// CHECK: tensor.extract_slice %{{.*}}[0, 2] [1, 4] [1, 2]
func.func @slice_cpu(%x: tensor<1x16xf32>) -> tensor<1x4xf32> attributes {tcp.target = "cpu"} {
  %0 = tcp.slice %x {sizes = array<i64: 1, 4>, starts = array<i64: 0, 2>, strides = array<i64: 1, 2>} : tensor<1x16xf32> -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @slice_cuda
// CHECK: linalg.generic {indexing_maps = [#[[STEP]],
func.func @slice_cuda(%x: tensor<1x16xf32>) -> tensor<1x4xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.slice %x {sizes = array<i64: 1, 4>, starts = array<i64: 0, 2>, strides = array<i64: 1, 2>} : tensor<1x16xf32> -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @reverse
// CHECK: linalg.generic {indexing_maps = [#[[BACK]],
func.func @reverse(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tcp.reverse %x {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @broadcast
// CHECK: linalg.generic {indexing_maps = [#[[ROW]],
func.func @broadcast(%x: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = tcp.broadcast %x : tensor<1x8xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @concat_cpu
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [1, 2] [1, 1]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 2] [1, 3] [1, 1]
func.func @concat_cpu(%a: tensor<1x2xf32>, %b: tensor<1x3xf32>) -> tensor<1x5xf32> attributes {tcp.target = "cpu"} {
  %0 = tcp.concat %a, %b {dim = 1 : i64} : tensor<1x2xf32>, tensor<1x3xf32> -> tensor<1x5xf32>
  return %0 : tensor<1x5xf32>
}

// A binary search finds the input. Those without elements are not in it.
// CHECK-LABEL: func.func @concat_cuda
// CHECK-SAME: %[[A:.*]]: tensor<1x2xf32>, %[[B:.*]]: tensor<1x3xf32>, %{{.*}}: tensor<1x0xf32>, %[[C:.*]]: tensor<1x1xf32>)
// CHECK: linalg.generic
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[AT:.*]] = linalg.index 1
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[AT]], %c2
// CHECK: scf.if %[[FIRST]] -> (f32) {
// CHECK: tensor.extract %[[A]][%[[ROW]], %[[AT]]]
// CHECK: } else {
// CHECK: %[[SECOND:.*]] = arith.cmpi ult, %[[AT]], %c5
// CHECK: scf.if %[[SECOND]] -> (f32) {
// CHECK: %[[I:.*]] = arith.subi %[[AT]], %c2
// CHECK: tensor.extract %[[B]][%[[ROW]], %[[I]]]
// CHECK: } else {
// CHECK: %[[J:.*]] = arith.subi %[[AT]], %c5
// CHECK: tensor.extract %[[C]][%[[ROW]], %[[J]]]
func.func @concat_cuda(%a: tensor<1x2xf32>, %b: tensor<1x3xf32>, %none: tensor<1x0xf32>, %c: tensor<1x1xf32>) -> tensor<1x6xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.concat %a, %b, %none, %c {dim = 1 : i64} : tensor<1x2xf32>, tensor<1x3xf32>, tensor<1x0xf32>, tensor<1x1xf32> -> tensor<1x6xf32>
  return %0 : tensor<1x6xf32>
}

// CHECK-LABEL: func.func @pad_interior_cpu
// CHECK: linalg.fill
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 2] [2, 3] [1, 2]
func.func @pad_interior_cpu(%x: tensor<2x3xf32>) -> tensor<2x8xf32> attributes {tcp.target = "cpu"} {
  %0 = tcp.pad %x {high = array<i64: 0, 1>, interior = array<i64: 0, 1>, low = array<i64: 0, 2>, value = 0.0 : f64} : tensor<2x3xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @pad_cut
// CHECK: tensor.extract
func.func @pad_cut(%x: tensor<2x3xf32>) -> tensor<2x2xf32> attributes {tcp.target = "cpu"} {
  %0 = tcp.pad %x {high = array<i64: 0, 1>, interior = array<i64: 0, 0>, low = array<i64: 0, -2>, value = 0.0 : f64} : tensor<2x3xf32> -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// A remaining group is computed op by op.
// CHECK-LABEL: func.func @group
// CHECK-NOT: tcp.
// CHECK: arith.negf
// CHECK: return
func.func @group(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<4xf32>):
    %1 = tcp.neg %a : tensor<4xf32> -> tensor<4xf32>
    tcp.yield %1 : tensor<4xf32>
  } : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
