// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>

// CHECK-LABEL: func.func @max
// CHECK: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[LOWEST]]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 1, 1, 0] [1, 8, 8, 4] [1, 1, 1, 1]
// CHECK: linalg.generic {indexing_maps = [#[[WINDOW]],
// CHECK: arith.maximumf
func.func @max(%x: tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = tcp.max_pool %x {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
      : tensor<1x8x8x4xf32> -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// Windows that are partly outside are divided by the number of elements inside.
// CHECK-LABEL: func.func @avg
// CHECK: arith.addf
// CHECK: linalg.index 2
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: linalg.index 3
// CHECK: arith.divf
func.func @avg(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> {
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0, 0>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
      : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// CHECK-LABEL: func.func @avg_divisor
// CHECK-NOT: linalg.index
// CHECK: %[[SEVEN:.*]] = arith.constant 7.000000e+00 : f32
// CHECK: arith.divf %{{.*}}, %[[SEVEN]]
func.func @avg_divisor(%x: tensor<1x4x8xf32>) -> tensor<1x4x4xf32> {
  %0 = tcp.avg_pool %x {ceil_pad = array<i64: 0>, divisor = 7 : i64, kernel = array<i64: 2>, pad = array<i64: 0, 0>, stride = array<i64: 2>}
      : tensor<1x4x8xf32> -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// On a GPU nothing is padded: elements outside are read at the input's edge, which is inside the
// window.
// CHECK-LABEL: func.func @max_cuda
// CHECK-NOT: insert_slice
// CHECK: linalg.generic {{{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
// CHECK: %[[ROW:.*]] = linalg.index 1
// CHECK: arith.muli %[[ROW]], %{{.*}}
// CHECK: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK: %[[CHANNEL:.*]] = linalg.index 3
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %[[CHANNEL]]]
// CHECK: arith.maximumf
func.func @max_cuda(%x: tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.max_pool %x {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
      : tensor<1x8x8x4xf32> -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// With dilation the window may skip the edge, so the padding remains.
// CHECK-LABEL: func.func @max_dilated_cuda
// CHECK: arith.select
// CHECK: arith.maximumf
func.func @max_dilated_cuda(%x: tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.max_pool %x {channels_last, dilation = array<i64: 2, 2>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 2, 1, 2>, stride = array<i64: 2, 2>}
      : tensor<1x8x8x4xf32> -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// The key of a window is its smallest index of an element that equals the maximum, or the complement of that of a NaN.
// CHECK-LABEL: func.func @indices
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: %[[E:.*]] = tensor.extract %arg0
// CHECK: %[[EQUAL:.*]] = arith.cmpf oeq, %[[E]], %{{.*}} : f16
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[E]], %[[E]] : f16
// CHECK: arith.xori
// CHECK: arith.minsi
// CHECK: linalg.generic
// CHECK: arith.xori
func.func @indices(%x: tensor<1x9x4xf16>, %y: tensor<1x5x4xf16>) -> tensor<1x5x4xi64> {
  %0 = tcp.max_pool_indices %x, %y {channels_last, dilation = array<i64: 1>, kernel = array<i64: 3>, pad = array<i64: 1, 1>, stride = array<i64: 2>} : tensor<1x9x4xf16>, tensor<1x5x4xf16> -> tensor<1x5x4xi64>
  return %0 : tensor<1x5x4xi64>
}

// Two windows of width 3 at steps of 2 contain an element. The sum is in f32.
// CHECK-LABEL: func.func @max_pool_backward
// CHECK: tensor.empty() : tensor<2xi8>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.divui
// CHECK: tensor.extract %arg1
// CHECK: tensor.extract %arg0
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf
func.func @max_pool_backward(%g: tensor<1x4x5xf16>, %i: tensor<1x4x5xi64>) -> tensor<1x4x9xf16> {
  %0 = tcp.max_pool_backward %g, %i {dilation = array<i64: 1>, kernel = array<i64: 3>, pad = array<i64: 1, 1>, stride = array<i64: 2>} : tensor<1x4x5xf16>, tensor<1x4x5xi64> -> tensor<1x4x9xf16>
  return %0 : tensor<1x4x9xf16>
}
