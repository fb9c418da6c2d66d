// RUN: convoy-opt %s --cudnn-order-operations | filecheck %s
// RUN: convoy-opt %s --cudnn-order-operations=remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=REMARK

!x = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!w = !cudnn.tensor_desc<64x64x1x1xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>

// The residual is added first.
// CHECK-LABEL: cudnn.graph @sums(
// CHECK: %[[C:.*]] = cudnn.convolution
// CHECK: %[[R:.*]] = cudnn.pointwise add(%[[C]], %arg3)
// CHECK: %[[B:.*]] = cudnn.pointwise add(%[[R]], %arg2)
// CHECK: cudnn.return %[[B]]
cudnn.graph @sums(%x: !x, %w: !w, %b: !b, %z: !x) -> !x {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !x, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !v
  %2 = cudnn.pointwise add(%1, %z) type = f32 : !v, !x -> !x
  cudnn.return %2 : !x
}

// An identity follows a sigmoid at the end, and none follows another operation.
// CHECK-LABEL: cudnn.graph @end(
// CHECK: %[[S:.*]] = cudnn.pointwise sigmoid_fwd({{.*}} -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK: %[[I:.*]] = cudnn.pointwise identity(%[[S]]) {{.*}} -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
// CHECK: cudnn.return %[[I]]
cudnn.graph @end(%x: !x, %w: !w) -> !x {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !x, !w -> !v
  %1 = cudnn.pointwise sigmoid_fwd(%0) type = f32 : !v -> !x
  cudnn.return %1 : !x
}

// CHECK-LABEL: cudnn.graph @in_between(
// CHECK-NOT: identity
// CHECK: cudnn.return
cudnn.graph @in_between(%x: !x, %w: !w) -> !x {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !x, !w -> !v
  %1 = cudnn.pointwise sigmoid_fwd(%0) type = f32 : !v -> !v
  %2 = cudnn.pointwise mul(%0, %1) type = f32 : !v, !v -> !x
  cudnn.return %2 : !x
}

// REMARK: remark: not reordered: expects one convolution
cudnn.graph @two(%x: !x, %w: !w) -> !x {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !x, !w -> !x
  %1 = cudnn.convolution(%0, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !x, !w -> !x
  cudnn.return %1 : !x
}

// Only forward convolutions are reordered: dgrad's precompiled kernels have no sums.
// CHECK-LABEL: cudnn.graph @gradient(
// CHECK: cudnn.pointwise sigmoid_fwd
// CHECK-NEXT: cudnn.return
cudnn.graph @gradient(%x: !x, %w: !w) -> !x {
  %0 = cudnn.convolution(%x, %w) mode = dgrad type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1] : !x, !w -> !v
  %1 = cudnn.pointwise sigmoid_fwd(%0) type = f32 : !v -> !x
  cudnn.return %1 : !x
}
