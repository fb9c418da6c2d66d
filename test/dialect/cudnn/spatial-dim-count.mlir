// `spatial_dim_count` may be the rank, which the parser reports; cuDNN gets the number of spatial dims.
// RUN: convoy-opt %s --verify-diagnostics | filecheck %s
// RUN: convoy-opt %s --convert-cudnn-graphs-to-backend 2>/dev/null | filecheck %s --check-prefix=BACKEND

!x = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
!w = !cudnn.tensor_desc<8x8x3x3xf16, NHWC>
!x6 = !cudnn.tensor_desc<2x4x8x4x4x4xf16>
!w6 = !cudnn.tensor_desc<4x8x8x3x3x3xf16>

// CHECK-LABEL: cudnn.graph @rank(
// CHECK: spatial_dim_count = 4 spatial_stride = [1, 1]
// BACKEND-LABEL: cudnn_backend.func @rank_build
// BACKEND: <convolution_spatial_dims>, [2]
cudnn.graph @rank(%a: !x, %b: !w) -> !x {
  // expected-remark @+2 {{'spatial_dim_count' 4 is the rank; cuDNN gets 2, the number of spatial dims (CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS)}}
  %0 = cudnn.convolution(%a, %b) type = f32
      spatial_dim_count = 4 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !x, !w -> !x
  cudnn.return %0 : !x
}

// The groups are a dim.
// BACKEND-LABEL: cudnn_backend.func @rank_with_groups_build
// BACKEND: <convolution_spatial_dims>, [3]
cudnn.graph @rank_with_groups(%a: !x6, %b: !w6) -> !x6 {
  // expected-remark @+2 {{'spatial_dim_count' 6 is the rank; cuDNN gets 3, the number of spatial dims}}
  %0 = cudnn.convolution(%a, %b) type = f32
      spatial_dim_count = 6 spatial_stride = [1, 1, 1] pre_padding = [1, 1, 1] post_padding = [1, 1, 1] dilation = [1, 1, 1] : !x6, !w6 -> !x6
  cudnn.return %0 : !x6
}

// CHECK-LABEL: cudnn.graph @spatial_dims(
// CHECK: type = f32 spatial_dim_count = 2 spatial_stride = [1, 1]
cudnn.graph @spatial_dims(%a: !x, %b: !w) -> !x {
  %0 = cudnn.convolution(%a, %b) type = f32
      spatial_dim_count = 2 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !x, !w -> !x
  cudnn.return %0 : !x
}
