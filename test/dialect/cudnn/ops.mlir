// RUN: convoy-opt %s --verify-roundtrip | filecheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | filecheck %s

// CHECK-LABEL: cudnn.graph @conv2d_bias_relu(%{{.*}}: !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, %{{.*}}: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %{{.*}}: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC> {
cudnn.graph @conv2d_bias_relu(%x: !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>,
                              %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC> {
  // CHECK: cudnn.convolution(%{{.*}}, %{{.*}}) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] :
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
  // CHECK: cudnn.pointwise add(%{{.*}}, %{{.*}}) type = f32 :
  %1 = cudnn.pointwise add(%0, %b) type = f32
      : !cudnn.tensor_desc<1x64x56x56xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf32, NHWC>
  // CHECK: cudnn.pointwise relu_fwd(%{{.*}}) type = f32 lower_clip = 0.000000e+00 upper_clip = 6.000000e+00 lower_clip_slope = 1.000000e-01 :
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 lower_clip = 0.0 upper_clip = 6.0 lower_clip_slope = 0.1
      : !cudnn.tensor_desc<1x64x56x56xf32, NHWC> -> !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
  // CHECK: cudnn.return %{{.*}} : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<1x64x56x56xf16, NHWC>
}

// CHECK-LABEL: cudnn.graph @grouped_3d
cudnn.graph @grouped_3d(%x: !cudnn.tensor_desc<2x8x4x9x9xbf16, NDHWC>, %w: !cudnn.tensor_desc<6x4x2x3x3xbf16, NDHWC>) -> !cudnn.tensor_desc<2x6x4x4x6xbf16, NDHWC> {
  // CHECK: kind = convolution type = f32 alpha = 2.000000e+00 beta = 5.000000e-01 spatial_stride = [1, 2, 1] pre_padding = [1, 0, 0] post_padding = [0, 0, 1] dilation = [1, 1, 2]
  %0 = cudnn.convolution(%x, %w) kind = convolution type = f32 alpha = 2.0 beta = 0.5
      spatial_stride = [1, 2, 1] pre_padding = [1, 0, 0] post_padding = [0, 0, 1] dilation = [1, 1, 2]
      : !cudnn.tensor_desc<2x8x4x9x9xbf16, NDHWC>, !cudnn.tensor_desc<6x4x2x3x3xbf16, NDHWC> -> !cudnn.tensor_desc<2x6x4x4x6xbf16, NDHWC>
  cudnn.return %0 : !cudnn.tensor_desc<2x6x4x4x6xbf16, NDHWC>
}

// CHECK-LABEL: cudnn.graph @gradients
cudnn.graph @gradients(%x: !cudnn.tensor_desc<1x8x9x9xf16, NHWC>, %w: !cudnn.tensor_desc<4x8x3x3xf16, NHWC>, %dy: !cudnn.tensor_desc<1x4x4x4xf16, NHWC>)
    -> (!cudnn.tensor_desc<1x8x9x9xf16, NHWC>, !cudnn.tensor_desc<4x8x3x3xf32, NHWC>) {
  // CHECK: mode = dgrad
  %0 = cudnn.convolution(%dy, %w) mode = dgrad type = f32 spatial_stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !cudnn.tensor_desc<1x4x4x4xf16, NHWC>, !cudnn.tensor_desc<4x8x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x8x9x9xf16, NHWC>
  // CHECK: mode = wgrad
  %1 = cudnn.convolution(%x, %dy) mode = wgrad type = f32 spatial_stride = [2, 2] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !cudnn.tensor_desc<1x8x9x9xf16, NHWC>, !cudnn.tensor_desc<1x4x4x4xf16, NHWC> -> !cudnn.tensor_desc<4x8x3x3xf32, NHWC>
  cudnn.return %0, %1 : !cudnn.tensor_desc<1x8x9x9xf16, NHWC>, !cudnn.tensor_desc<4x8x3x3xf32, NHWC>
}

// CHECK-LABEL: cudnn.graph @others
cudnn.graph @others(%a: !cudnn.tensor_desc<8x16x32xf16>, %b: !cudnn.tensor_desc<1x32x8xf16, stride = [256, 1, 32]>, %x: !cudnn.tensor_desc<1x8x6x6xf32, NHWC>)
    -> (!cudnn.tensor_desc<8x16x8xf32>, !cudnn.tensor_desc<1x8x1x1xf32, NHWC>, !cudnn.tensor_desc<1x8x3x3xf32, NHWC>) {
  // CHECK: cudnn.matmul(%{{.*}}, %{{.*}}) type = f32 : !cudnn.tensor_desc<8x16x32xf16>, !cudnn.tensor_desc<1x32x8xf16, NWC> -> !cudnn.tensor_desc<8x16x8xf32>
  %0 = cudnn.matmul(%a, %b) type = f32
      : !cudnn.tensor_desc<8x16x32xf16>, !cudnn.tensor_desc<1x32x8xf16, stride = [256, 1, 32]> -> !cudnn.tensor_desc<8x16x8xf32>
  // CHECK: cudnn.reduction avg(%{{.*}}) type = f32
  %1 = cudnn.reduction avg(%x) type = f32 : !cudnn.tensor_desc<1x8x6x6xf32, NHWC> -> !cudnn.tensor_desc<1x8x1x1xf32, NHWC>
  // CHECK: cudnn.resample maxpool(%{{.*}}) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [0, 0] padding_mode = neg_inf_pad
  %2 = cudnn.resample maxpool(%x) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [0, 0] padding_mode = neg_inf_pad
      : !cudnn.tensor_desc<1x8x6x6xf32, NHWC> -> !cudnn.tensor_desc<1x8x3x3xf32, NHWC>
  // CHECK: cudnn.pointwise binary_select(%{{.*}}, %{{.*}}, %{{.*}}) type = f32
  %3 = cudnn.pointwise gen_index(%x) type = i32 axis = 3 : !cudnn.tensor_desc<1x8x6x6xf32, NHWC> -> !cudnn.tensor_desc<1x8x6x6xi32, NHWC>
  %4 = cudnn.pointwise cmp_gt(%3, %x) type = f32
      : !cudnn.tensor_desc<1x8x6x6xi32, NHWC>, !cudnn.tensor_desc<1x8x6x6xf32, NHWC> -> !cudnn.tensor_desc<1x8x6x6xi1, NHWC>
  %5 = cudnn.pointwise binary_select(%x, %1, %4) type = f32 : !cudnn.tensor_desc<1x8x6x6xf32, NHWC>, !cudnn.tensor_desc<1x8x1x1xf32, NHWC>,
      !cudnn.tensor_desc<1x8x6x6xi1, NHWC> -> !cudnn.tensor_desc<1x8x6x6xf32, NHWC>
  %6 = cudnn.pointwise swish_fwd(%5) type = f32 swish_beta = 2.0 : !cudnn.tensor_desc<1x8x6x6xf32, NHWC> -> !cudnn.tensor_desc<1x8x6x6xf32, NHWC>
  // CHECK: cudnn.return %{{.*}}, %{{.*}}, %{{.*}} :
  cudnn.return %0, %1, %2 : !cudnn.tensor_desc<8x16x8xf32>, !cudnn.tensor_desc<1x8x1x1xf32, NHWC>, !cudnn.tensor_desc<1x8x3x3xf32, NHWC>
}

// Groups as a separate dim; vectors of four channels; a compute type that only cuDNN has.
// CHECK-LABEL: cudnn.graph @grouped_dims
cudnn.graph @grouped_dims(%x: !cudnn.tensor_desc<2x4x8x5x6x7xf32> {cudnn.uid = 120 : i64}, %w: !cudnn.tensor_desc<4x6x8x3x3x3xf32> {cudnn.uid = 119 : i64}) -> (!cudnn.tensor_desc<2x4x6x3x4x5xf32> {cudnn.uid = 121 : i64}) {
  // CHECK: cudnn.convolution(%{{.*}}, %{{.*}}) kind = convolution type = f32 beta = 5.000000e-01 spatial_stride = [1, 1, 1]
  %0 = cudnn.convolution(%x, %w) kind = convolution type = f32 beta = 0.5 spatial_stride = [1, 1, 1] pre_padding = [0, 0, 0]
      post_padding = [0, 0, 0] dilation = [1, 1, 1] : !cudnn.tensor_desc<2x4x8x5x6x7xf32>, !cudnn.tensor_desc<4x6x8x3x3x3xf32> -> !cudnn.tensor_desc<2x4x6x3x4x5xf32>
  cudnn.return %0 : !cudnn.tensor_desc<2x4x6x3x4x5xf32>
}

// CHECK-LABEL: cudnn.graph @vectors
cudnn.graph @vectors(%x: !cudnn.tensor_desc<8x16x16x16xi8, vector_count = 4, vectorized_dimension = 1>, %w: !cudnn.tensor_desc<64x16x3x3xi8, vector_count = 4, vectorized_dimension = 1>, %b: !cudnn.tensor_desc<1x64x1x1xf32>) -> !cudnn.tensor_desc<8x16x16x16xi8, vector_count = 4, vectorized_dimension = 1> {
  // CHECK: vector_count = 4, vectorized_dimension = 1> -> !cudnn.tensor_desc<8x64x16x16xf32, NCHW>
  %0 = cudnn.convolution(%x, %w) type = i32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x16x16x16xi8, vector_count = 4, vectorized_dimension = 1>, !cudnn.tensor_desc<64x16x3x3xi8, vector_count = 4, vectorized_dimension = 1> -> !cudnn.tensor_desc<8x64x16x16xf32>
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32>, !cudnn.tensor_desc<1x64x1x1xf32> -> !cudnn.tensor_desc<8x16x16x16xi8, vector_count = 4, vectorized_dimension = 1>
  cudnn.return %1 : !cudnn.tensor_desc<8x16x16x16xi8, vector_count = 4, vectorized_dimension = 1>
}

// CHECK-LABEL: cudnn.graph @fp8
cudnn.graph @fp8(%a: !cudnn.tensor_desc<4x32x64xf8E4M3FN>, %b: !cudnn.tensor_desc<4x64x48xf8E5M2>) -> !cudnn.tensor_desc<4x32x48xbf16> {
  // CHECK: cudnn.matmul(%{{.*}}, %{{.*}}) type = !cudnn.fast_float_for_fp8 :
  %0 = cudnn.matmul(%a, %b) type = !cudnn.fast_float_for_fp8 : !cudnn.tensor_desc<4x32x64xf8E4M3FN>, !cudnn.tensor_desc<4x64x48xf8E5M2> -> !cudnn.tensor_desc<4x32x48xbf16>
  cudnn.return %0 : !cudnn.tensor_desc<4x32x48xbf16>
}

// CHECK-LABEL: cudnn.graph @overrides(
// CHECK-SAME: {cudnn.ragged_offset = 4 : i64}
cudnn.graph @overrides(%a: !cudnn.tensor_desc<8x32x64xf16> {cudnn.ragged_offset = 4 : i64}, %b: !cudnn.tensor_desc<2x64x48xf16>, %m: !cudnn.tensor_desc<8x1x1xi32>, %k: !cudnn.tensor_desc<8x1x1xi64>, %o: !cudnn.tensor_desc<9x1x1xi32>)
    -> !cudnn.tensor_desc<8x32x48xf16> {
  // CHECK: cudnn.matmul(%{{.*}}, %{{.*}}) type = f32 m_override(%{{.*}} : !cudnn.tensor_desc<8x1x1xi32>) k_override(%{{.*}} : !cudnn.tensor_desc<8x1x1xi64>) padding_value = -1.000000e+00 :
  %0 = cudnn.matmul(%a, %b) type = f32 m_override(%m : !cudnn.tensor_desc<8x1x1xi32>) k_override(%k : !cudnn.tensor_desc<8x1x1xi64>) padding_value = -1.0
      : !cudnn.tensor_desc<8x32x64xf16>, !cudnn.tensor_desc<2x64x48xf16> -> !cudnn.tensor_desc<8x32x48xf16>
  cudnn.return %0 : !cudnn.tensor_desc<8x32x48xf16>
}

// CHECK-LABEL: cudnn.graph @resamples(
cudnn.graph @resamples(%x: !cudnn.tensor_desc<1x8x6x6xf16, NHWC>, %s: !cudnn.tensor_desc<1x1x1x1xf32> {cudnn.by_value})
    -> (!cudnn.tensor_desc<1x8x3x3xf16, NHWC>, !cudnn.tensor_desc<1x8x3x3xi8, NHWC>, !cudnn.tensor_desc<1x8x12x12xf16, NHWC>, !cudnn.tensor_desc<1x8x1x1xf32, NHWC>) {
  // CHECK: padding_mode = neg_inf_pad nan_propagation = not_propagate_nan alpha = 2.000000e+00 beta = 0.000000e+00 : {{.*}} -> !cudnn.tensor_desc<1x8x3x3xf16, NHWC>, !cudnn.tensor_desc<1x8x3x3xi8, NHWC>
  %0, %1 = cudnn.resample maxpool(%x) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1]
      padding_mode = neg_inf_pad nan_propagation = not_propagate_nan alpha = 2.0 beta = 0.0
      : !cudnn.tensor_desc<1x8x6x6xf16, NHWC> -> !cudnn.tensor_desc<1x8x3x3xf16, NHWC>, !cudnn.tensor_desc<1x8x3x3xi8, NHWC>
  // CHECK: window = [4, 4] stride = [1, 1] pre_padding = [1, 1] post_padding = [2, 2] denominator = 2 padding_mode = edge_val_pad :
  %2 = cudnn.resample bilinear(%x) type = f32 window = [4, 4] stride = [1, 1] pre_padding = [1, 1] post_padding = [2, 2] denominator = 2
      padding_mode = edge_val_pad : !cudnn.tensor_desc<1x8x6x6xf16, NHWC> -> !cudnn.tensor_desc<1x8x12x12xf16, NHWC>
  // CHECK: cudnn.pointwise max(%{{.*}}, %{{.*}}) type = f32 nan_propagation = propagate_nan alpha2 = 3.000000e+00 :
  %3 = cudnn.pointwise max(%x, %s) type = f32 nan_propagation = propagate_nan alpha2 = 3.0
      : !cudnn.tensor_desc<1x8x6x6xf16, NHWC>, !cudnn.tensor_desc<1x1x1x1xf32> -> !cudnn.tensor_desc<1x8x6x6xf32, NHWC>
  // CHECK: cudnn.reduction add(%{{.*}}) type = f32 is_deterministic = true :
  %4 = cudnn.reduction add(%3) type = f32 is_deterministic = true : !cudnn.tensor_desc<1x8x6x6xf32, NHWC> -> !cudnn.tensor_desc<1x8x1x1xf32, NHWC>
  cudnn.return %0, %1, %2, %4 : !cudnn.tensor_desc<1x8x3x3xf16, NHWC>, !cudnn.tensor_desc<1x8x3x3xi8, NHWC>, !cudnn.tensor_desc<1x8x12x12xf16, NHWC>, !cudnn.tensor_desc<1x8x1x1xf32, NHWC>
}

// CHECK-LABEL: cudnn.graph @resample_gradients(
cudnn.graph @resample_gradients(%dy: !cudnn.tensor_desc<1x8x3x3xf16, NHWC>, %i: !cudnn.tensor_desc<1x8x3x3xi8, NHWC>, %x: !cudnn.tensor_desc<1x8x6x6xf16, NHWC>, %y: !cudnn.tensor_desc<1x8x3x3xf16, NHWC>)
    -> (!cudnn.tensor_desc<1x8x6x6xf16, NHWC>, !cudnn.tensor_desc<1x8x6x6xf16, NHWC>, !cudnn.tensor_desc<1x8x6x6xf16, NHWC>) {
  // CHECK: cudnn.resample_backward maxpool type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] padding_mode = neg_inf_pad alpha = 2.000000e+00 dy(%{{.*}} : !cudnn.tensor_desc<1x8x3x3xf16, NHWC>) index(%{{.*}} : !cudnn.tensor_desc<1x8x3x3xi8, NHWC>) -> dx(!cudnn.tensor_desc<1x8x6x6xf16, NHWC>)
  %0 = cudnn.resample_backward maxpool type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] padding_mode = neg_inf_pad alpha = 2.0
      dy(%dy : !cudnn.tensor_desc<1x8x3x3xf16, NHWC>) index(%i : !cudnn.tensor_desc<1x8x3x3xi8, NHWC>) -> dx(!cudnn.tensor_desc<1x8x6x6xf16, NHWC>)
  // CHECK: cudnn.resample_backward maxpool {{.*}} dy(%{{.*}}) x(%{{.*}} : !cudnn.tensor_desc<1x8x6x6xf16, NHWC>) y(%{{.*}} : !cudnn.tensor_desc<1x8x3x3xf16, NHWC>) -> dx(
  %1 = cudnn.resample_backward maxpool type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] padding_mode = neg_inf_pad
      dy(%dy : !cudnn.tensor_desc<1x8x3x3xf16, NHWC>) x(%x : !cudnn.tensor_desc<1x8x6x6xf16, NHWC>) y(%y : !cudnn.tensor_desc<1x8x3x3xf16, NHWC>)
      -> dx(!cudnn.tensor_desc<1x8x6x6xf16, NHWC>)
  // CHECK: cudnn.resample_backward bilinear {{.*}} denominator = 2 padding_mode = edge_val_pad nan_propagation = not_propagate_nan dy(
  %2 = cudnn.resample_backward bilinear type = f32 window = [4, 4] stride = [4, 4] pre_padding = [0, 0] post_padding = [0, 0] denominator = 2 padding_mode = edge_val_pad
      nan_propagation = not_propagate_nan dy(%dy : !cudnn.tensor_desc<1x8x3x3xf16, NHWC>) -> dx(!cudnn.tensor_desc<1x8x6x6xf16, NHWC>)
  cudnn.return %0, %1, %2 : !cudnn.tensor_desc<1x8x6x6xf16, NHWC>, !cudnn.tensor_desc<1x8x6x6xf16, NHWC>, !cudnn.tensor_desc<1x8x6x6xf16, NHWC>
}

// CHECK-LABEL: func.func @calls
func.func @calls(%x: tensor<1x56x56x64xf16>, %w: tensor<64x3x3x64xf16>, %b: tensor<1x1x1x64xf16>, %m: memref<1x56x56x64xf16>,
                 %v: memref<64x3x3x64xf16>, %c: memref<64xf16>) -> tensor<1x56x56x64xf16> {
  %o = tensor.empty() : tensor<1x56x56x64xf16>
  // CHECK: cudnn.execute @conv2d_bias_relu ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<1x56x56x64xf16>, tensor<64x3x3x64xf16>, tensor<1x1x1x64xf16>) outs(%{{.*}} : tensor<1x56x56x64xf16>) -> tensor<1x56x56x64xf16>
  %y = cudnn.execute @conv2d_bias_relu ins(%x, %w, %b : tensor<1x56x56x64xf16>, tensor<64x3x3x64xf16>, tensor<1x1x1x64xf16>)
      outs(%o : tensor<1x56x56x64xf16>) -> tensor<1x56x56x64xf16>
  // Dims of size 1 are ignored, so a bias may be a vector.
  // CHECK: cudnn.execute @conv2d_bias_relu ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<1x56x56x64xf16>, memref<64x3x3x64xf16>, memref<64xf16>) outs(%{{.*}} : memref<1x56x56x64xf16>)
  cudnn.execute @conv2d_bias_relu ins(%m, %v, %c : memref<1x56x56x64xf16>, memref<64x3x3x64xf16>, memref<64xf16>) outs(%m : memref<1x56x56x64xf16>)
  return %y : tensor<1x56x56x64xf16>
}

// The elements of a vector are contiguous, after all dims.
// CHECK-LABEL: func.func @vector_calls
func.func @vector_calls(%x: memref<8x16x16x16x4xi8>, %w: memref<64x16x3x3x4xi8>, %b: memref<64xf32>, %y: memref<8x16x16x16x4xi8>) {
  cudnn.execute @vectors ins(%x, %w, %b : memref<8x16x16x16x4xi8>, memref<64x16x3x3x4xi8>, memref<64xf32>) outs(%y : memref<8x16x16x16x4xi8>)
  return
}

// CHECK-LABEL: cudnn.graph @dynamic_shape(
// CHECK-SAME: attributes {dynamic_shape} {
cudnn.graph @dynamic_shape(%x: !cudnn.tensor_desc<8x16xf32>) -> !cudnn.tensor_desc<16x8xf16> attributes {dynamic_shape} {
  // CHECK: cudnn.reshape(%{{.*}}) : !cudnn.tensor_desc<8x16xf32> -> !cudnn.tensor_desc<16x8xf16>
  %y = cudnn.reshape(%x) : !cudnn.tensor_desc<8x16xf32> -> !cudnn.tensor_desc<16x8xf16>
  cudnn.return %y : !cudnn.tensor_desc<16x8xf16>
}
