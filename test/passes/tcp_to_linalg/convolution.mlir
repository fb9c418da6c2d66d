// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// CHECK-LABEL: func.func @cpu
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 1, 1, 0] [1, 8, 8, 4] [1, 1, 1, 1]
// CHECK: linalg.transpose ins(%{{.*}} : tensor<6x3x3x4xf32>) outs(%{{.*}} : tensor<3x3x4x6xf32>) permutation = [1, 2, 3, 0]
// CHECK: linalg.conv_2d_nhwc_hwcf
func.func @cpu(%x: tensor<1x8x8x4xf32>, %w: tensor<6x3x3x4xf32>) -> tensor<1x8x8x6xf32> attributes {tcp.target = "cpu"} {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : tensor<1x8x8x4xf32>, tensor<6x3x3x4xf32> -> tensor<1x8x8x6xf32>
  return %0 : tensor<1x8x8x6xf32>
}

// Padding is one kernel, the filter is unchanged, sums are f32.
// CHECK-LABEL: func.func @cuda
// CHECK: linalg.generic
// CHECK: tensor.extract
// CHECK: linalg.conv_2d_nhwc_fhwc
// CHECK-SAME: outs(%{{.*}} : tensor<1x8x8x6xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @cuda(%x: tensor<1x8x8x4xf16>, %w: tensor<6x3x3x4xf16>) -> tensor<1x8x8x6xf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : tensor<1x8x8x4xf16>, tensor<6x3x3x4xf16> -> tensor<1x8x8x6xf16>
  return %0 : tensor<1x8x8x6xf16>
}

// CHECK-LABEL: func.func @depthwise
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
func.func @depthwise(%x: tensor<1x9x9x4xf32>, %w: tensor<4x3x3x1xf32>) -> tensor<1x4x4x4xf32> {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, groups = 4 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : tensor<1x9x9x4xf32>, tensor<4x3x3x1xf32> -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// On the CPU the output channels of each group are last in the filter.
// CHECK-LABEL: func.func @grouped_channels_first
// CHECK: linalg.transpose ins(%{{.*}} : tensor<2x3x3x3x2xf32>) outs(%{{.*}} : tensor<2x3x3x2x3xf32>) permutation = [0, 2, 3, 4, 1]
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
func.func @grouped_channels_first(%x: tensor<1x4x9x9xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<1x6x7x7xf32> {
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : tensor<1x4x9x9xf32>, tensor<6x2x3x3xf32> -> tensor<1x6x7x7xf32>
  return %0 : tensor<1x6x7x7xf32>
}

// CHECK-LABEL: func.func @grouped_cuda
// CHECK: linalg.conv_2d_nhwgc_gfhwc
func.func @grouped_cuda(%x: tensor<1x9x9x4xf32>, %w: tensor<6x3x3x2xf32>) -> tensor<1x7x7x6xf32> attributes {tcp.target = "cuda"} {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : tensor<1x9x9x4xf32>, tensor<6x3x3x2xf32> -> tensor<1x7x7x6xf32>
  return %0 : tensor<1x7x7x6xf32>
}

// CHECK-LABEL: func.func @conv1d
// CHECK: linalg.conv_2d_nhwc_hwcf
// CHECK-SAME: tensor<1x1x16x8xf32>, tensor<1x3x8x4xf32>
func.func @conv1d(%x: tensor<1x8x16xf32>, %w: tensor<4x8x3xf32>) -> tensor<1x4x14xf32> {
  %0 = tcp.conv1d %x, %w {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>}
      : tensor<1x8x16xf32>, tensor<4x8x3xf32> -> tensor<1x4x14xf32>
  return %0 : tensor<1x4x14xf32>
}

// CHECK-LABEL: func.func @conv3d_grouped
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]
func.func @conv3d_grouped(%x: tensor<1x4x4x8x8xf32>, %w: tensor<2x2x1x3x3xf32>) -> tensor<1x2x4x6x6xf32> {
  %0 = tcp.conv3d %x, %w {dilation = array<i64: 1, 1, 1>, groups = 2 : i64, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>}
      : tensor<1x4x4x8x8xf32>, tensor<2x2x1x3x3xf32> -> tensor<1x2x4x6x6xf32>
  return %0 : tensor<1x2x4x6x6xf32>
}

// Zeros between the elements and a reversed filter.
// CHECK-LABEL: func.func @transposed
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 1, 1] [1, 8, 4, 4] [1, 1, 2, 2]
// CHECK: linalg.conv_2d_nhwc_hwcf
func.func @transposed(%x: tensor<1x8x4x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x4x8x8xf32> {
  %0 = tcp.conv_transpose %x, %w {dilation = array<i64: 1, 1>, output_pad = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
      : tensor<1x8x4x4xf32>, tensor<8x4x3x3xf32> -> tensor<1x4x8x8xf32>
  return %0 : tensor<1x4x8x8xf32>
}

// The CPU's kernels take f32: operands are extended first, weights separately so that they can be
// prepared.
// CHECK-LABEL: func.func @cpu_f16
// CHECK: arith.extf
// CHECK: arith.extf
// CHECK: linalg.conv_2d_nhwc_hwcf
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<1x8x8x4xf32>, tensor<1x1x4x6xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @cpu_f16(%x: tensor<1x8x8x4xf16>, %w: tensor<6x1x1x4xf16>) -> tensor<1x8x8x6xf16> attributes {tcp.target = "cpu"} {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : tensor<1x8x8x4xf16>, tensor<6x1x1x4xf16> -> tensor<1x8x8x6xf16>
  return %0 : tensor<1x8x8x6xf16>
}

// Gradients that cuDNN does not support: forward ops in the other layout.
// CHECK-LABEL: func.func @gradient_of_input
// CHECK: linalg.conv_2d_nhwc_fhwc
func.func @gradient_of_input(%g: tensor<1x4x4x8xf64>, %w: tensor<8x3x3x4xf64>) -> tensor<1x8x8x4xf64> attributes {tcp.target = "cuda"} {
  %0 = tcp.conv_backward_data %g, %w {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
      : tensor<1x4x4x8xf64>, tensor<8x3x3x4xf64> -> tensor<1x8x8x4xf64>
  return %0 : tensor<1x8x8x4xf64>
}

// CHECK-LABEL: func.func @gradient_of_weights
// CHECK: linalg.conv_2d_nhwgc_gfhwc
func.func @gradient_of_weights(%x: tensor<2x8x8x4xf64>, %g: tensor<2x4x4x6xf64>) -> tensor<6x3x3x2xf64> attributes {tcp.target = "cuda"} {
  %0 = tcp.conv_backward_filter %x, %g {channels_last, dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
      : tensor<2x8x8x4xf64>, tensor<2x4x4x6xf64> -> tensor<6x3x3x2xf64>
  return %0 : tensor<6x3x3x2xf64>
}

// Code generation skips rows of padding, if many of the rows that outputs read are padding.
// CHECK-LABEL: func.func @rows_of_padding
// CHECK: linalg.conv_2d_nhwc_hwcf {convoy.input_rows = array<i64: 6, 14>,
// CHECK: linalg.conv_2d_nhwc_hwcf {dilations
func.func @rows_of_padding(%x: tensor<1x8x8x4xf32>, %w: tensor<6x3x3x4xf32>) -> (tensor<1x8x8x6xf32>, tensor<1x8x8x6xf32>) attributes {tcp.target = "cpu"} {
  %0 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 6, 1>, pad = array<i64: 6, 6, 1, 1>, stride = array<i64: 1, 1>}
      : tensor<1x8x8x4xf32>, tensor<6x3x3x4xf32> -> tensor<1x8x8x6xf32>
  %1 = tcp.conv2d %x, %w {channels_last, dilation = array<i64: 2, 2>, pad = array<i64: 2, 2, 2, 2>, stride = array<i64: 1, 1>}
      : tensor<1x8x8x4xf32>, tensor<6x3x3x4xf32> -> tensor<1x8x8x6xf32>
  return %0, %1 : tensor<1x8x8x6xf32>, tensor<1x8x8x6xf32>
}
