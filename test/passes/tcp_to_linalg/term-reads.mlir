// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// The terms of a sum are read at constant indices, the first one too, also behind a reshape.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0, d1) -> (d0, 1)>
// CHECK-DAG: #[[MOVED:.*]] = affine_map<(d0, d1) -> (d1, 1)>
// CHECK-LABEL: func.func @terms
// CHECK-DAG: linalg.generic {indexing_maps = [#[[FIRST]], #{{.*}}], {{.*}} ins(%arg0
// CHECK-DAG: linalg.generic {indexing_maps = [#[[SECOND]], #{{.*}}], {{.*}} ins(%arg0
// CHECK-DAG: linalg.generic {indexing_maps = [#[[MOVED]], #{{.*}}], {{.*}} ins(%arg1
// CHECK-NOT: tensor.extract
func.func @terms(%x: tensor<64x2xf32>, %y: tensor<64x2xf32>, %w: tensor<1x8xf32>) -> (tensor<64x8xf32>, tensor<64x8xf32>, tensor<8x64xf32>, tensor<8x64xf32>) attributes {tcp.target = "cuda"} {
  %0 = tcp.slice %x {sizes = array<i64: 64, 1>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x2xf32> -> tensor<64x1xf32>
  %1 = tcp.slice %x {sizes = array<i64: 64, 1>, starts = array<i64: 0, 1>, strides = array<i64: 1, 1>} : tensor<64x2xf32> -> tensor<64x1xf32>
  %2 = tcp.mul %0, %w : tensor<64x1xf32>, tensor<1x8xf32> -> tensor<64x8xf32>
  %3 = tcp.mul %1, %w : tensor<64x1xf32>, tensor<1x8xf32> -> tensor<64x8xf32>
  %4 = tcp.slice %y {sizes = array<i64: 64, 1>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x2xf32> -> tensor<64x1xf32>
  %5 = tcp.slice %y {sizes = array<i64: 64, 1>, starts = array<i64: 0, 1>, strides = array<i64: 1, 1>} : tensor<64x2xf32> -> tensor<64x1xf32>
  %6 = tcp.reshape %4 : tensor<64x1xf32> -> tensor<1x64xf32>
  %7 = tcp.reshape %5 : tensor<64x1xf32> -> tensor<1x64xf32>
  %8 = tcp.reshape %w : tensor<1x8xf32> -> tensor<8x1xf32>
  %9 = tcp.mul %6, %8 : tensor<1x64xf32>, tensor<8x1xf32> -> tensor<8x64xf32>
  %10 = tcp.mul %7, %8 : tensor<1x64xf32>, tensor<8x1xf32> -> tensor<8x64xf32>
  return %2, %3, %9, %10 : tensor<64x8xf32>, tensor<64x8xf32>, tensor<8x64xf32>, tensor<8x64xf32>
}

// A slice that is no factor, or the only one, is read by index, and can be fused into what it reads.
// CHECK-LABEL: func.func @single
// CHECK-COUNT-2: tensor.extract
func.func @single(%x: tensor<64x2xf32>, %w: tensor<1x8xf32>) -> (tensor<64x1xf32>, tensor<2x8xf32>) attributes {tcp.target = "cuda"} {
  %0 = tcp.slice %x {sizes = array<i64: 64, 1>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x2xf32> -> tensor<64x1xf32>
  %1 = tcp.slice %x {sizes = array<i64: 1, 2>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<64x2xf32> -> tensor<1x2xf32>
  %2 = tcp.reshape %1 : tensor<1x2xf32> -> tensor<2x1xf32>
  %3 = tcp.mul %2, %w : tensor<2x1xf32>, tensor<1x8xf32> -> tensor<2x8xf32>
  return %0, %3 : tensor<64x1xf32>, tensor<2x8xf32>
}
