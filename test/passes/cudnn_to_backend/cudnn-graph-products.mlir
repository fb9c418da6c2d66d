// RUN: convoy-opt %s --add-runtime-argument --convert-cudnn-execute-to-backend --convert-cudnn-graphs-to-backend | filecheck %s

// The entry of the manifest for a graph's products; a multiply-add is two FLOPs.

// 2 x 1x6x5x5 results x 4x3x3 of the 8 channels, which are two groups.
// CHECK:      name = "groups", ops = ["convolution", "relu"], products = {dtype = "float16", flops = 10800 : i64}
// CHECK-SAME: name = "input_gradient", ops = ["convolution_dgrad"], products = {dtype = "bfloat16", flops = 10800 : i64}
// CHECK-SAME: name = "filter_gradient", ops = ["convolution_wgrad"], products = {dtype = "float32", flops = 10800 : i64}
// The groups are a dim: 2 x 1x2x3x5x5 results x 4x3x3.
// CHECK-SAME: name = "group_dim", ops = ["convolution"], products = {dtype = "float16", flops = 10800 : i64}
// 2 x 4x3x7 x 5, and 2 x 4x3x2 x 7.
// CHECK-SAME: name = "two", ops = ["matmul", "matmul"], products = {dtype = "float16", flops = 1176 : i64}
// With and without a build function.
// CHECK-SAME: name = "kernel_alone", ops = ["convolution", "maxpool"], products = {dtype = "float16", flops = 294912 : i64}, tensors
// CHECK-SAME: name = "none", ops = ["relu"], symbol
// 2 x 5x2x48 x 16.
// CHECK-SAME: name = "recurrent", ops = ["gru"], products = {dtype = "float16", flops = 15360 : i64}, tensors

cudnn.graph @groups(%x: !cudnn.tensor_desc<1x8x7x7xf16, NHWC>, %w: !cudnn.tensor_desc<6x4x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x6x5x5xf16, NHWC> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !cudnn.tensor_desc<1x8x7x7xf16, NHWC>, !cudnn.tensor_desc<6x4x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x6x5x5xf32, NHWC>
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !cudnn.tensor_desc<1x6x5x5xf32, NHWC> -> !cudnn.tensor_desc<1x6x5x5xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x6x5x5xf16, NHWC>
}

cudnn.graph @input_gradient(%y: !cudnn.tensor_desc<1x6x5x5xbf16, NHWC>, %w: !cudnn.tensor_desc<6x4x3x3xbf16, NHWC>) -> !cudnn.tensor_desc<1x8x7x7xbf16, NHWC> {
  %0 = cudnn.convolution(%y, %w) mode = dgrad type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !cudnn.tensor_desc<1x6x5x5xbf16, NHWC>, !cudnn.tensor_desc<6x4x3x3xbf16, NHWC> -> !cudnn.tensor_desc<1x8x7x7xbf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x7x7xbf16, NHWC>
}

cudnn.graph @filter_gradient(%x: !cudnn.tensor_desc<1x8x7x7xf32, NHWC>, %y: !cudnn.tensor_desc<1x6x5x5xf32, NHWC>) -> !cudnn.tensor_desc<6x4x3x3xf32, NHWC> {
  %0 = cudnn.convolution(%x, %y) mode = wgrad type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !cudnn.tensor_desc<1x8x7x7xf32, NHWC>, !cudnn.tensor_desc<1x6x5x5xf32, NHWC> -> !cudnn.tensor_desc<6x4x3x3xf32, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<6x4x3x3xf32, NHWC>
}

cudnn.graph @group_dim(%x: !cudnn.tensor_desc<1x2x4x7x7xf16>, %w: !cudnn.tensor_desc<2x3x4x3x3xf16>) -> !cudnn.tensor_desc<1x2x3x5x5xf16> {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] dilation = [1, 1]
      : !cudnn.tensor_desc<1x2x4x7x7xf16>, !cudnn.tensor_desc<2x3x4x3x3xf16> -> !cudnn.tensor_desc<1x2x3x5x5xf16>
  cudnn.return %0 : !cudnn.tensor_desc<1x2x3x5x5xf16>
}

cudnn.graph @two(%a: !cudnn.tensor_desc<4x3x5xf16>, %b: !cudnn.tensor_desc<4x5x7xf16>, %c: !cudnn.tensor_desc<4x7x2xf32>) -> !cudnn.tensor_desc<4x3x2xf32> {
  %0 = cudnn.matmul(%a, %b) type = f32 : !cudnn.tensor_desc<4x3x5xf16>, !cudnn.tensor_desc<4x5x7xf16> -> !cudnn.tensor_desc<4x3x7xf32>
  %1 = cudnn.matmul(%0, %c) type = f32 : !cudnn.tensor_desc<4x3x7xf32>, !cudnn.tensor_desc<4x7x2xf32> -> !cudnn.tensor_desc<4x3x2xf32>
  cudnn.return %1 : !cudnn.tensor_desc<4x3x2xf32>
}

// The convolution's result is not stored, and is larger than the graph's.
cudnn.graph @kernel_alone(%x: !cudnn.tensor_desc<1x4x16x16xf16, NHWC>, %w: !cudnn.tensor_desc<16x4x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x16x8x8xf16, NHWC>
    attributes {cudnn.preference = "only_kernel"} {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
      : !cudnn.tensor_desc<1x4x16x16xf16, NHWC>, !cudnn.tensor_desc<16x4x3x3xf16, NHWC> -> !cudnn.tensor_desc<1x16x16x16xf16, NHWC>
  %1 = cudnn.resample maxpool(%0) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] padding_mode = neg_inf_pad
      : !cudnn.tensor_desc<1x16x16x16xf16, NHWC> -> !cudnn.tensor_desc<1x16x8x8xf16, NHWC>
  cudnn.return %1 : !cudnn.tensor_desc<1x16x8x8xf16, NHWC>
}

cudnn.graph @none(%x: !cudnn.tensor_desc<1x8x7x7xf16, NHWC>) -> !cudnn.tensor_desc<1x8x7x7xf16, NHWC> {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !cudnn.tensor_desc<1x8x7x7xf16, NHWC> -> !cudnn.tensor_desc<1x8x7x7xf16, NHWC>
  cudnn.return %0 : !cudnn.tensor_desc<1x8x7x7xf16, NHWC>
}

cudnn.graph @recurrent(%x: !cudnn.tensor_desc<5x2x48xf16>, %w: !cudnn.tensor_desc<16x48xf16>) -> !cudnn.tensor_desc<5x2x16xf16>
    attributes {cudnn.preference = "only_kernel"} {
  %0 = cudnn.recurrent gru given(%x : !cudnn.tensor_desc<5x2x48xf16>) weights(%w : !cudnn.tensor_desc<16x48xf16>)
      -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %0 : !cudnn.tensor_desc<5x2x16xf16>
}
