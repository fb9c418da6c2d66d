// RUN: convoy-opt %s --cudnn-insert-zero-bias | filecheck %s
// What it makes goes through the phases that follow.
// RUN: convoy-opt %s --cudnn-insert-zero-bias --convoy-pipeline="from=cudnn to=llvm target=cuda" | filecheck %s --check-prefix=LLVM
// LLVM: llvm.func @convoy_main

// CHECK-LABEL: cudnn.graph @residual_relu(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %[[W:.*]]: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %[[Z:.*]]: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(%[[X]], %[[W]])
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise add(%[[C]], %[[Z]]) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[R]], %[[B]]) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
// CHECK-NEXT: cudnn.pointwise relu_fwd(%[[S]])
cudnn.graph @residual_relu(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %z: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %2 = cudnn.pointwise relu_fwd(%1) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

// The sum with the zeros is the result now, and the residual's is virtual.
// CHECK-LABEL: cudnn.graph @residual(
// CHECK: %[[R:.*]] = cudnn.pointwise add(%{{.*}}, %{{.*}}) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
// CHECK-NEXT: %[[S:.*]] = cudnn.pointwise add(%[[R]], %{{.*}}) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
// CHECK-NEXT: cudnn.return %[[S]]
cudnn.graph @residual(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %z: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

// CHECK-LABEL: cudnn.graph @relu(
// CHECK: %[[S:.*]] = cudnn.pointwise add(%{{.*}}, %{{.*}}) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
// CHECK-NEXT: cudnn.pointwise relu_fwd(%[[S]])
cudnn.graph @relu(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

// Not where there is a bias, nor after a convolution alone.
// CHECK-LABEL: cudnn.graph @biased(
// CHECK-COUNT-2: cudnn.pointwise add
// CHECK-NEXT: cudnn.return
cudnn.graph @biased(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %z: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %b: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %1 = cudnn.pointwise add(%0, %z) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<8x64x16x16xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf32, NHWC>
  %2 = cudnn.pointwise add(%1, %b) type = f32 : !cudnn.tensor_desc<8x64x16x16xf32, NHWC>, !cudnn.tensor_desc<1x64x1x1xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %2 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

// CHECK-LABEL: cudnn.graph @alone(
// CHECK: cudnn.convolution
// CHECK-NEXT: cudnn.return
cudnn.graph @alone(%x: !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>) -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>, !cudnn.tensor_desc<64x64x3x3xf16, NHWC> -> !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<8x64x16x16xf16, NHWC>
}

// Both calls read one prepared tensor of zeros.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<8x16x16x64xf16> {tcp.input = "x"}, %[[W:.*]]: tensor<64x3x3x64xf16> {tcp.prepared = "zero_bias"}, %[[B:.*]]: tensor<1x1x1x64xf16> {tcp.prepared = "zero_bias_1"})
// CHECK: %[[Y:.*]] = cudnn.execute @residual_relu ins(%[[X]], %[[W]], %[[X]], %[[B]] : tensor<8x16x16x64xf16>, tensor<64x3x3x64xf16>, tensor<8x16x16x64xf16>, tensor<1x1x1x64xf16>)
// CHECK: cudnn.execute @relu ins(%[[Y]], %[[W]], %[[B]] : tensor<8x16x16x64xf16>, tensor<64x3x3x64xf16>, tensor<1x1x1x64xf16>)
func.func @main(%x: tensor<8x16x16x64xf16> {tcp.input = "x"}, %w: tensor<64x3x3x64xf16> {tcp.prepared = "zero_bias"})
    -> (tensor<8x16x16x64xf16> {tcp.output = "y"}) attributes {tcp.target = "cuda"} {
  %o = tensor.empty() : tensor<8x16x16x64xf16>
  %y = cudnn.execute @residual_relu ins(%x, %w, %x : tensor<8x16x16x64xf16>, tensor<64x3x3x64xf16>, tensor<8x16x16x64xf16>)
      outs(%o : tensor<8x16x16x64xf16>) -> tensor<8x16x16x64xf16>
  %p = tensor.empty() : tensor<8x16x16x64xf16>
  %z = cudnn.execute @relu ins(%y, %w : tensor<8x16x16x64xf16>, tensor<64x3x3x64xf16>) outs(%p : tensor<8x16x16x64xf16>)
      -> tensor<8x16x16x64xf16>
  return %z : tensor<8x16x16x64xf16>
}

// CHECK-LABEL: func.func @prepare_weights(
// CHECK-SAME: %[[V:.*]]: tensor<64x3x3x64xf16> {tcp.weight = "w"}) -> (tensor<64x3x3x64xf16> {tcp.prepared = "zero_bias"}, tensor<1x1x1x64xf16> {tcp.prepared = "zero_bias_1"})
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<1x1x1x64xf16>
// CHECK-NEXT: return %[[V]], %[[ZERO]]
func.func @prepare_weights(%w: tensor<64x3x3x64xf16> {tcp.weight = "w"}) -> (tensor<64x3x3x64xf16> {tcp.prepared = "zero_bias"})
    attributes {tcp.target = "cpu"} {
  return %w : tensor<64x3x3x64xf16>
}
