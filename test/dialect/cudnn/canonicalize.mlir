// RUN: convoy-opt %s --canonicalize | filecheck %s

// CHECK-LABEL: cudnn.graph @identity(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<8x4xf32>)
// An identity of a graph input remains, because cuDNN has no graph without it. So does one that
// converts, scales, or follows a bounded clip.
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise identity(%[[X]])
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[A]]) type = f32 :
// CHECK-NEXT: %[[C:.*]] = cudnn.pointwise relu_fwd(%[[R]]) type = f32 upper_clip = 6.000000e+00
// CHECK-NEXT: %[[K:.*]] = cudnn.pointwise identity(%[[C]])
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise identity(%[[R]]) type = f32 alpha1 = 2.000000e+00
// CHECK-NEXT: %[[H:.*]] = cudnn.pointwise identity(%[[R]]) {{.*}} -> !cudnn.tensor_desc<8x4xf16>
// CHECK-NEXT: cudnn.return %[[R]], %[[K]], %[[S]], %[[H]]
cudnn.graph @identity(%x: !cudnn.tensor_desc<8x4xf32>)
    -> (!cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf16>) {
  %0 = cudnn.pointwise identity(%x) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  %2 = cudnn.pointwise identity(%1) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 upper_clip = 6.0 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  %4 = cudnn.pointwise identity(%3) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  %5 = cudnn.pointwise identity(%2) type = f32 alpha1 = 2.0 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf32>
  %6 = cudnn.pointwise identity(%2) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf16>
  cudnn.return %2, %4, %5, %6 : !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf32>, !cudnn.tensor_desc<8x4xf16>
}

// CHECK-LABEL: cudnn.graph @spellings(
// CHECK: cudnn.pointwise relu_fwd(%{{.*}}) type = f32 lower_clip = 1.000000e+00
// CHECK-NEXT: cudnn.convolution(%{{.*}}, %{{.*}}) type = f32 spatial_stride = [1]
cudnn.graph @spellings(%x: !cudnn.tensor_desc<1x8x4xf32>, %w: !cudnn.tensor_desc<8x8x1xf32>) -> !cudnn.tensor_desc<1x8x4xf32> {
  %0 = cudnn.pointwise_relu(%x) type = f32 lower_clip = 1.0 : !cudnn.tensor_desc<1x8x4xf32> -> !cudnn.tensor_desc<1x8x4xf32>
  %1 = cudnn.convolution(%0, %w) type = f32 spatial_dim_count = 1 spatial_stride = [1] pre_padding = [0] post_padding = [0] dilation = [1]
      : !cudnn.tensor_desc<1x8x4xf32>, !cudnn.tensor_desc<8x8x1xf32> -> !cudnn.tensor_desc<1x8x4xf32>
  cudnn.return %1 : !cudnn.tensor_desc<1x8x4xf32>
}

// A cast that preserves every value is removed; any other cast remains.
// CHECK-LABEL: cudnn.graph @casts(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<8x4xf16>)
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise abs(%[[X]])
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[A]])
// CHECK-NEXT: %[[N:.*]] = cudnn.pointwise identity(%[[A]]) type = f32 : !cudnn.tensor_desc<8x4xf16> -> !cudnn.tensor_desc<8x4xbf16>
// CHECK-NEXT: %[[W:.*]] = cudnn.pointwise identity(%[[N]]) type = f32 : !cudnn.tensor_desc<8x4xbf16> -> !cudnn.tensor_desc<8x4xf16>
// CHECK-NEXT: %[[L:.*]] = cudnn.pointwise identity(%[[A]]) type = bf16 : !cudnn.tensor_desc<8x4xf16> -> !cudnn.tensor_desc<8x4xf32>
// CHECK-NEXT: %[[M:.*]] = cudnn.pointwise identity(%[[L]]) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf16>
// CHECK-NEXT: cudnn.return %[[R]], %[[W]], %[[M]]
cudnn.graph @casts(%x: !cudnn.tensor_desc<8x4xf16>) -> (!cudnn.tensor_desc<8x4xf16>, !cudnn.tensor_desc<8x4xf16>, !cudnn.tensor_desc<8x4xf16>) {
  %0 = cudnn.pointwise abs(%x) type = f32 : !cudnn.tensor_desc<8x4xf16> -> !cudnn.tensor_desc<8x4xf16>
  %1 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<8x4xf16> -> !cudnn.tensor_desc<8x4xf32>
  %2 = cudnn.pointwise identity(%1) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf16>
  %3 = cudnn.pointwise relu_fwd(%2) type = f32 : !cudnn.tensor_desc<8x4xf16> -> !cudnn.tensor_desc<8x4xf16>
  %4 = cudnn.pointwise identity(%0) type = f32 : !cudnn.tensor_desc<8x4xf16> -> !cudnn.tensor_desc<8x4xbf16>
  %5 = cudnn.pointwise identity(%4) type = f32 : !cudnn.tensor_desc<8x4xbf16> -> !cudnn.tensor_desc<8x4xf16>
  %6 = cudnn.pointwise identity(%0) type = bf16 : !cudnn.tensor_desc<8x4xf16> -> !cudnn.tensor_desc<8x4xf32>
  %7 = cudnn.pointwise identity(%6) type = f32 : !cudnn.tensor_desc<8x4xf32> -> !cudnn.tensor_desc<8x4xf16>
  cudnn.return %3, %5, %7 : !cudnn.tensor_desc<8x4xf16>, !cudnn.tensor_desc<8x4xf16>, !cudnn.tensor_desc<8x4xf16>
}
