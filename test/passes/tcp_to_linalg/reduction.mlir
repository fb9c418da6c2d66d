// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// Sums are f32; reduced dims have size 1.
// CHECK-LABEL: func.func @mean
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK-SAME: outs(%{{.*}} : tensor<1x64xf32>)
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2, 3]]
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: arith.truncf
func.func @mean(%x: tensor<1x64x7x7xf16>) -> tensor<1x64x1x1xf16> {
  %0 = tcp.reduce_mean %x {dims = array<i64: 2, 3>} : tensor<1x64x7x7xf16> -> tensor<1x64x1x1xf16>
  return %0 : tensor<1x64x1x1xf16>
}

// CHECK-LABEL: func.func @max_int
// CHECK: arith.constant -2147483648 : i32
// CHECK: arith.maxsi
func.func @max_int(%x: tensor<4x5xi32>) -> tensor<4x1xi32> {
  %0 = tcp.reduce_max %x {dims = array<i64: 1>} : tensor<4x5xi32> -> tensor<4x1xi32>
  return %0 : tensor<4x1xi32>
}

// CHECK-LABEL: func.func @softmax
// CHECK: arith.maximumf
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
func.func @softmax(%x: tensor<2x10xf32>) -> tensor<2x10xf32> {
  %0 = tcp.softmax %x {dim = 1 : i64} : tensor<2x10xf32> -> tensor<2x10xf32>
  return %0 : tensor<2x10xf32>
}

// CHECK-LABEL: func.func @layer_norm
// CHECK: arith.addf
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: math.sqrt
// CHECK: arith.mulf
func.func @layer_norm(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %0 = tcp.layer_norm %x {dims = array<i64: 2>, epsilon = 1.0e-5 : f64} : tensor<2x3x8xf32> -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// A long row of a few elements of each pixel is summed over pixels first, both for the mean and for
// the variance. Then each channel gets the sum over the channels of its group.
// CHECK-LABEL: func.func @group_norm
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel", "parallel"]{{.*}} outs(%{{.*}} : tensor<2x32x4xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<2x1x32x4xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel", "parallel"]{{.*}} outs(%{{.*}} : tensor<2x32x4xf32>)
// CHECK: arith.subf
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<2x1x32x4xf32>)
// CHECK: math.sqrt
// CHECK: arith.mulf
func.func @group_norm(%x: tensor<2x16384x32x4xf16>) -> tensor<2x16384x32x4xf16> {
  %0 = tcp.layer_norm %x {dims = array<i64: 1, 3>, epsilon = 1.0e-5 : f64} : tensor<2x16384x32x4xf16> -> tensor<2x16384x32x4xf16>
  return %0 : tensor<2x16384x32x4xf16>
}

// A block keeps a short row in registers.
// CHECK-LABEL: func.func @group_norm_short
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<2x32xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<2x32xf32>)
func.func @group_norm_short(%x: tensor<2x1024x32x4xf16>) -> tensor<2x1024x32x4xf16> {
  %0 = tcp.layer_norm %x {dims = array<i64: 1, 3>, epsilon = 1.0e-5 : f64} : tensor<2x1024x32x4xf16> -> tensor<2x1024x32x4xf16>
  return %0 : tensor<2x1024x32x4xf16>
}

// On a GPU each part of a long row, 256 pixels here, has its own statistics. Then those of all parts
// are combined.
// CHECK-LABEL: func.func @group_norm_parts
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2], [3], [4]] output_shape [2, 64, 256, 32, 4]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<2x64x32xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<2x64x32xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel", "parallel", "parallel"]{{.*}} outs(%{{.*}} : tensor<2x1x32x1xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel", "parallel", "parallel"]{{.*}} outs(%{{.*}} : tensor<2x1x32x1xf32>)
// CHECK: math.sqrt
func.func @group_norm_parts(%x: tensor<2x16384x32x4xf16>) -> tensor<2x16384x32x4xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.layer_norm %x {dims = array<i64: 1, 3>, epsilon = 1.0e-5 : f64} : tensor<2x16384x32x4xf16> -> tensor<2x16384x32x4xf16>
  return %0 : tensor<2x16384x32x4xf16>
}

// Long contiguous rows have parts as well, unless they have no equal ones.
// CHECK-LABEL: func.func @layer_norm_parts
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<2x100xf32>)
// CHECK-LABEL: func.func @layer_norm_many
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<64x100xf32>)
// CHECK-LABEL: func.func @layer_norm_prime
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<64xf32>)
func.func @layer_norm_parts(%x: tensor<2x100000xf32>) -> tensor<2x100000xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.layer_norm %x {dims = array<i64: 1>, epsilon = 1.0e-5 : f64} : tensor<2x100000xf32> -> tensor<2x100000xf32>
  return %0 : tensor<2x100000xf32>
}
func.func @layer_norm_many(%x: tensor<64x100000xf32>) -> tensor<64x100000xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.layer_norm %x {dims = array<i64: 1>, epsilon = 1.0e-5 : f64} : tensor<64x100000xf32> -> tensor<64x100000xf32>
  return %0 : tensor<64x100000xf32>
}
func.func @layer_norm_prime(%x: tensor<64x100003xf32>) -> tensor<64x100003xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.layer_norm %x {dims = array<i64: 1>, epsilon = 1.0e-5 : f64} : tensor<64x100003xf32> -> tensor<64x100003xf32>
  return %0 : tensor<64x100003xf32>
}

// 4 bytes of each pixel of a large image: a block of threads has the parts of neighboring rows.
// CHECK-LABEL: func.func @group_norm_narrow
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel", "reduction"]{{.*}} outs(%{{.*}} : tensor<2x128x32xf32>)
func.func @group_norm_narrow(%x: tensor<2x65536x32x2xf16>) -> tensor<2x65536x32x2xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.layer_norm %x {dims = array<i64: 1, 3>, epsilon = 1.0e-5 : f64} : tensor<2x65536x32x2xf16> -> tensor<2x65536x32x2xf16>
  return %0 : tensor<2x65536x32x2xf16>
}

// Interleaved rows, as in an instance norm of a channels-last image, have parts of which one reduction
// sums the differences from the first element, and their squares.
// CHECK-LABEL: func.func @instance_norm_parts
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2], [3]] output_shape [64, 4, 256, 32]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [64, 4, 1, 32] [1, 1, 1, 1]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]{{.*}} outs(%{{.*}}, %{{.*}} : tensor<64x4x32xf32>, tensor<64x4x32xf32>)
// CHECK-NOT: tensor<64x1024x32xf16>
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "reduction", "parallel", "parallel"]{{.*}} outs(%{{.*}} : tensor<1x32xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "reduction", "parallel", "parallel"]{{.*}} outs(%{{.*}} : tensor<1x32xf32>)
// CHECK: math.sqrt
func.func @instance_norm_parts(%x: tensor<64x1024x32xf16>) -> tensor<64x1024x32xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.layer_norm %x {dims = array<i64: 0, 1>, epsilon = 1.0e-5 : f64} : tensor<64x1024x32xf16> -> tensor<64x1024x32xf16>
  return %0 : tensor<64x1024x32xf16>
}
