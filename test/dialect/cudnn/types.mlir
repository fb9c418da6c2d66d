// RUN: convoy-opt %s --verify-roundtrip | filecheck %s

func.func private @types(
  // CHECK: !cudnn.handle
  !cudnn.handle,
  // CHECK-SAME: !cudnn.tensor_desc<1x64x56x56xf16, NHWC>,
  !cudnn.tensor_desc<1x64x56x56xf16, NHWC>,
  // CHECK-SAME: !cudnn.tensor_desc<1x64x56x56xf16, NHWC>,
  !cudnn.tensor_desc<1x64x56x56xf16, stride = [200704, 1, 3584, 64], alignment = 16>,
  // CHECK-SAME: !cudnn.tensor_desc<1x64x56x56xf32, NCHW, alignment = 1>,
  !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []>,
  // CHECK-SAME: !cudnn.tensor_desc<1x64x56x56xf32, NCHW>,
  !cudnn.tensor_desc<1x64x56x56xf32>,
  // CHECK-SAME: !cudnn.tensor_desc<4x24x31x31xbf16, stride = [46128, 1, 1488, 48]>,
  !cudnn.tensor_desc<4x24x31x31xbf16, alignment = 16, stride = [46128, 1, 1488, 48]>,
  // CHECK-SAME: !cudnn.tensor_desc<2x8x4x5x6xf16, NDHWC>,
  !cudnn.tensor_desc<2x8x4x5x6xf16, NDHWC>,
  // CHECK-SAME: !cudnn.tensor_desc<2x8x4x5x6xf16, NCDHW>,
  !cudnn.tensor_desc<2x8x4x5x6xf16, NCDHW>,
  // CHECK-SAME: !cudnn.tensor_desc<2x8x4xf16, NWC>,
  !cudnn.tensor_desc<2x8x4xf16, NWC>,
  // CHECK-SAME: !cudnn.tensor_desc<2x8x4xf16>,
  !cudnn.tensor_desc<2x8x4xf16, NCW>,
  // CHECK-SAME: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>,
  !cudnn.tensor_desc<1x64x1x1xf16, NHWC>,
  // CHECK-SAME: !cudnn.tensor_desc<8x1x1x1xui8, NCHW>,
  !cudnn.tensor_desc<8x1x1x1xui8, NHWC>,
  // CHECK-SAME: !cudnn.tensor_desc<3x4x5x6x7x8xf64, stride = [1, 20160, 4032, 672, 96, 12]>
  !cudnn.tensor_desc<3x4x5x6x7x8xf64, stride = [1, 20160, 4032, 672, 96, 12]>,
  // CHECK-SAME: !cudnn.tensor_desc<8x16x16x16xi8, NCHW, vector_count = 4, vectorized_dimension = 1>
  !cudnn.tensor_desc<8x16x16x16xi8, NCHW, vector_count = 4, vectorized_dimension = 1>,
  // CHECK-SAME: !cudnn.tensor_desc<64x2x3x3xi8, NCHW, vector_count = 32, vectorized_dimension = 1, reordering = int8x32>
  !cudnn.tensor_desc<64x2x3x3xi8, reordering = int8x32, vectorized_dimension = 1, NCHW, vector_count = 32>,
  // CHECK-SAME: !cudnn.tensor_desc<8x16x16x16xui8, NHWC, alignment = 4, vector_count = 4, vectorized_dimension = 1>
  !cudnn.tensor_desc<8x16x16x16xui8, NHWC, alignment = 4, vector_count = 4, vectorized_dimension = 1>,
  // CHECK-SAME: !cudnn.tensor_desc<128x64xf16, reordering = f16x16>
  !cudnn.tensor_desc<128x64xf16, reordering = f16x16>,
  // CHECK-SAME: !cudnn.tensor_desc<128x4xf8E8M0FNU, reordering = f8_128x4>
  !cudnn.tensor_desc<128x4xf8E8M0FNU, reordering = f8_128x4>,
  // CHECK-SAME: !cudnn.tensor_desc<128x4xf8E4M3FN>
  !cudnn.tensor_desc<128x4xf8E4M3FN, reordering = none>,
  // CHECK-SAME: !cudnn.tensor_desc<4x8xf8E5M2>
  !cudnn.tensor_desc<4x8xf8E5M2>,
  // CHECK-SAME: !cudnn.tensor_desc<4x8xf4E2M1FN>
  !cudnn.tensor_desc<4x8xf4E2M1FN>,
  // CHECK-SAME: !cudnn.tensor_desc<4x8xi64>
  !cudnn.tensor_desc<4x8xi64>,
  // CHECK-SAME: !cudnn.tensor_desc<4x8xi32>
  !cudnn.tensor_desc<4x8xi32>,
  // CHECK-SAME: !cudnn.tensor_desc<4x8xui32>
  !cudnn.tensor_desc<4x8xui32>,
  // CHECK-SAME: !cudnn.tensor_desc<4x8xi4>
  !cudnn.tensor_desc<4x8xi4>,
  // CHECK-SAME: !cudnn.tensor_desc<4x8xui4>
  !cudnn.tensor_desc<4x8xui4>,
  // CHECK-SAME: !cudnn.tensor_desc<4x8xi1>
  !cudnn.tensor_desc<4x8xi1>,
  // CHECK-SAME: !cudnn.tensor_desc<4x8xcomplex<f32>>
  !cudnn.tensor_desc<4x8xcomplex<f32>>,
  // CHECK-SAME: !cudnn.tensor_desc<4x8xcomplex<f64>>
  !cudnn.tensor_desc<4x8xcomplex<f64>>,
  // CHECK-SAME: !cudnn.fast_float_for_fp8
  !cudnn.fast_float_for_fp8)
