// RUN: convoy-opt %s --split-input-file --convert-tcp-to-cudnn | filecheck %s

// Two equal groups share one graph. The residual is added before the bias, as second operand; intermediate values are f32.
// CHECK-LABEL: cudnn.graph @conv2d_bias_residual_relu_0(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<1x64x8x8xf16, NHWC>, %[[W:.*]]: !cudnn.tensor_desc<64x64x3x3xf16, NHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x64x1x1xf16, NHWC>, %[[Z:.*]]: !cudnn.tensor_desc<1x64x8x8xf16, NHWC>) -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC> {
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(%[[X]], %[[W]]) type = f32 spatial_stride = [1, 1] pre_padding = [1, 0] post_padding = [1, 2] dilation = [1, 1] : {{.*}} -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise add(%[[C]], %[[Z]]) type = f32 : {{.*}} -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise add(%[[R]], %[[B]]) type = f32 : {{.*}} -> !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
// CHECK-NEXT: %[[Y:.*]] = cudnn.pointwise relu_fwd(%[[A]]) type = f32 lower_clip = 0.000000e+00 : {{.*}} -> !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
// CHECK-NEXT: cudnn.return %[[Y]]
// CHECK-NOT: cudnn.graph
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %[[X:.*]]: tensor<1x8x8x64xf16>, %[[W:.*]]: tensor<64x3x3x64xf16>, %[[B:.*]]: tensor<1x1x1x64xf16>)
// CHECK: %[[O:.*]] = tensor.empty() : tensor<1x8x8x64xf16>
// CHECK: %[[Y:.*]] = cudnn.execute @conv2d_bias_residual_relu_0 ins(%[[X]], %[[W]], %[[B]], %[[X]] : {{.*}}) outs(%[[O]] : tensor<1x8x8x64xf16>) -> tensor<1x8x8x64xf16>
// CHECK: cudnn.execute @conv2d_bias_residual_relu_0 ins(%[[Y]], %[[W]], %[[B]], %[[X]]
func.func @shared(%x: tensor<1x8x8x64xf16>, %w: tensor<64x3x3x64xf16>, %b: tensor<1x1x1x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.isolated_group %x, %w, %b, %x {
  ^bb0(%arg0: tensor<1x8x8x64xf16>, %arg1: tensor<64x3x3x64xf16>, %arg2: tensor<1x1x1x64xf16>, %arg3: tensor<1x8x8x64xf16>):
    %2 = tcp.conv2d %arg0, %arg1 {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 0, 2>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x3x3x64xf16> -> tensor<1x8x8x64xf16>
    %3 = tcp.add %2, %arg2 : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
    %4 = tcp.add %arg3, %3 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
    %5 = tcp.clamp %4 {min_float = 0.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
    tcp.yield %5 : tensor<1x8x8x64xf16>
  } : tensor<1x8x8x64xf16>, tensor<64x3x3x64xf16>, tensor<1x1x1x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  %1 = tcp.isolated_group %0, %w, %b, %x {
  ^bb0(%arg0: tensor<1x8x8x64xf16>, %arg1: tensor<64x3x3x64xf16>, %arg2: tensor<1x1x1x64xf16>, %arg3: tensor<1x8x8x64xf16>):
    %2 = tcp.conv2d %arg0, %arg1 {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 0, 2>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x3x3x64xf16> -> tensor<1x8x8x64xf16>
    %3 = tcp.add %2, %arg2 : tensor<1x8x8x64xf16>, tensor<1x1x1x64xf16> -> tensor<1x8x8x64xf16>
    %4 = tcp.add %arg3, %3 : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
    %5 = tcp.clamp %4 {min_float = 0.0 : f32} : tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
    tcp.yield %5 : tensor<1x8x8x64xf16>
  } : tensor<1x8x8x64xf16>, tensor<64x3x3x64xf16>, tensor<1x1x1x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %1 : tensor<1x8x8x64xf16>
}

// -----

// A clamp before a channels-first convolution. Another stride is another graph.
// CHECK-LABEL: cudnn.graph @relu_conv2d_0(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<1x64x56x56xf32, NCHW>, %[[W:.*]]: !cudnn.tensor_desc<64x64x3x3xf32, NCHW>) -> !cudnn.tensor_desc<1x64x56x56xf32, NCHW> {
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[X]]) type = f32 lower_clip = 0.000000e+00
// CHECK-NEXT: %[[Y:.*]] = cudnn.convolution(%[[R]], %[[W]])
// CHECK-NEXT: cudnn.return %[[Y]]
// CHECK-LABEL: cudnn.graph @relu_conv2d_1(
// CHECK: spatial_stride = [2, 2]
func.func @seed(%39: tensor<1x64x56x56xf32>, %15: tensor<64x64x3x3xf32>) -> (tensor<1x64x56x56xf32>, tensor<1x64x28x28xf32>) {
  %40 = tcp.isolated_group %39, %15 {
  ^bb0(%arg1: tensor<1x64x56x56xf32>, %arg2: tensor<64x64x3x3xf32>):
      %171 = tcp.clamp %arg1 {min_float = 0.000000e+00 : f32}
              : tensor<1x64x56x56xf32> -> tensor<1x64x56x56xf32>
      %172 = tcp.conv2d %171, %arg2
              {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
              : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
      tcp.yield %172 : tensor<1x64x56x56xf32>
  } : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
  %41 = tcp.isolated_group %40, %15 {
  ^bb0(%arg1: tensor<1x64x56x56xf32>, %arg2: tensor<64x64x3x3xf32>):
      %171 = tcp.clamp %arg1 {min_float = 0.000000e+00 : f32}
              : tensor<1x64x56x56xf32> -> tensor<1x64x56x56xf32>
      %172 = tcp.conv2d %171, %arg2
              {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
              : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x28x28xf32>
      tcp.yield %172 : tensor<1x64x28x28xf32>
  } : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x28x28xf32>
  return %40, %41 : tensor<1x64x56x56xf32>, tensor<1x64x28x28xf32>
}

// -----

// A grouped 3-D convolution. The prologue's last value has the filter's type, others are f32. An identity follows relu_clip.
// CHECK-LABEL: cudnn.graph @scale_relu_conv3d_bias_relu_clip_0(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<1x16x4x4x4xbf16, NDHWC>, %[[S:.*]]: !cudnn.tensor_desc<1x16x1x1x1xbf16, NDHWC>, %[[W:.*]]: !cudnn.tensor_desc<8x8x1x2x3xbf16, NDHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x8x1x1x1xbf16, NDHWC>)
// CHECK-NEXT: %[[A:.*]] = cudnn.pointwise mul(%[[X]], %[[S]]) type = f32 : {{.*}} -> !cudnn.tensor_desc<1x16x4x4x4xf32, NDHWC>
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[A]]) type = f32 lower_clip = 0.000000e+00 : {{.*}} -> !cudnn.tensor_desc<1x16x4x4x4xbf16, NDHWC>
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(%[[R]], %[[W]]) type = f32 spatial_stride = [1, 2, 1] pre_padding = [0, 0, 1] post_padding = [0, 0, 1] dilation = [1, 1, 1]
// CHECK-NEXT: %[[D:.*]] = cudnn.pointwise add(%[[C]], %[[B]])
// CHECK-NEXT: %[[E:.*]] = cudnn.pointwise relu_fwd(%[[D]]) type = f32 lower_clip = 0.000000e+00 upper_clip = 6.000000e+00 : {{.*}} -> !cudnn.tensor_desc<1x8x4x2x4xf32, NDHWC>
// CHECK-NEXT: %[[Y:.*]] = cudnn.pointwise identity(%[[E]]) type = f32 : {{.*}} -> !cudnn.tensor_desc<1x8x4x2x4xbf16, NDHWC>
// CHECK-NEXT: cudnn.return %[[Y]]
func.func @conv3d(%x: tensor<1x4x4x4x16xbf16>, %s: tensor<1x1x1x1x16xbf16>, %w: tensor<8x1x2x3x8xbf16>, %b: tensor<1x1x1x1x8xbf16>) -> tensor<1x4x2x4x8xbf16> {
  %0 = tcp.isolated_group %x, %s, %w, %b {
  ^bb0(%arg0: tensor<1x4x4x4x16xbf16>, %arg1: tensor<1x1x1x1x16xbf16>, %arg2: tensor<8x1x2x3x8xbf16>, %arg3: tensor<1x1x1x1x8xbf16>):
    %1 = tcp.mul %arg0, %arg1 : tensor<1x4x4x4x16xbf16>, tensor<1x1x1x1x16xbf16> -> tensor<1x4x4x4x16xbf16>
    %2 = tcp.clamp %1 {min_float = 0.0 : f32} : tensor<1x4x4x4x16xbf16> -> tensor<1x4x4x4x16xbf16>
    %3 = tcp.conv3d %2, %arg2 {channels_last, groups = 2 : i64, dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 1, 1>, stride = array<i64: 1, 2, 1>} : tensor<1x4x4x4x16xbf16>, tensor<8x1x2x3x8xbf16> -> tensor<1x4x2x4x8xbf16>
    %4 = tcp.add %3, %arg3 : tensor<1x4x2x4x8xbf16>, tensor<1x1x1x1x8xbf16> -> tensor<1x4x2x4x8xbf16>
    %5 = tcp.clamp %4 {min_float = 0.0 : f32, max_float = 6.0 : f32} : tensor<1x4x2x4x8xbf16> -> tensor<1x4x2x4x8xbf16>
    tcp.yield %5 : tensor<1x4x2x4x8xbf16>
  } : tensor<1x4x4x4x16xbf16>, tensor<1x1x1x1x16xbf16>, tensor<8x1x2x3x8xbf16>, tensor<1x1x1x1x8xbf16> -> tensor<1x4x2x4x8xbf16>
  return %0 : tensor<1x4x2x4x8xbf16>
}

// -----

// A matrix becomes a batch of one. The final cast determines the result's type.
// CHECK-LABEL: cudnn.graph @matmul_bias_cast_0(
// CHECK-SAME: %[[A:.*]]: !cudnn.tensor_desc<1x2x64xf16>, %[[B:.*]]: !cudnn.tensor_desc<1x64x10xf16>, %[[V:.*]]: !cudnn.tensor_desc<1x1x10xf16>) -> !cudnn.tensor_desc<1x2x10xf32> {
// CHECK-NEXT: %[[C:.*]] = cudnn.matmul(%[[A]], %[[B]]) type = f32 : {{.*}} -> !cudnn.tensor_desc<1x2x10xf32>
// CHECK-NEXT: %[[D:.*]] = cudnn.pointwise add(%[[C]], %[[V]])
// CHECK-NEXT: %[[E:.*]] = cudnn.pointwise identity(%[[D]])
// CHECK-NEXT: cudnn.return %[[E]]
// CHECK: cudnn.execute @matmul_bias_cast_0 ins({{.*}} : tensor<2x64xf16>, tensor<64x10xf16>, tensor<1x10xf16>) outs({{.*}} : tensor<2x10xf32>) -> tensor<2x10xf32>
func.func @matmul(%x: tensor<2x64xf16>, %w: tensor<64x10xf16>, %b: tensor<1x10xf16>) -> tensor<2x10xf32> {
  %0 = tcp.isolated_group %x, %w, %b {
  ^bb0(%arg0: tensor<2x64xf16>, %arg1: tensor<64x10xf16>, %arg2: tensor<1x10xf16>):
    %1 = tcp.matmul %arg0, %arg1 : tensor<2x64xf16>, tensor<64x10xf16> -> tensor<2x10xf16>
    %2 = tcp.add %1, %arg2 : tensor<2x10xf16>, tensor<1x10xf16> -> tensor<2x10xf16>
    %3 = tcp.cast %2 : tensor<2x10xf16> -> tensor<2x10xf32>
    tcp.yield %3 : tensor<2x10xf32>
  } : tensor<2x64xf16>, tensor<64x10xf16>, tensor<1x10xf16> -> tensor<2x10xf32>
  return %0 : tensor<2x10xf32>
}

// -----

// CHECK-LABEL: cudnn.graph @max_pool_0(
// CHECK: cudnn.resample maxpool(%{{.*}}) type = f32 window = [3, 3] stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 0] padding_mode = neg_inf_pad : !cudnn.tensor_desc<1x8x8x9xf16, NHWC> -> !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
// CHECK-LABEL: cudnn.graph @avg_pool_0(
// CHECK: cudnn.resample avgpool_include_padding(%{{.*}}) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [1, 0] post_padding = [1, 0] padding_mode = zero_pad
// CHECK-LABEL: cudnn.graph @avg_pool_1(
// CHECK: cudnn.resample avgpool_exclude_padding(%{{.*}}) type = f32 window = [2, 2] stride = [2, 2] pre_padding = [0, 0] post_padding = [1, 0] padding_mode = zero_pad
// CHECK-LABEL: cudnn.graph @mean_0(
// CHECK: cudnn.resample avgpool_include_padding(%{{.*}}) type = f32 window = [2, 2] stride = [1, 1] pre_padding = [0, 0] post_padding = [0, 0] padding_mode = zero_pad : !cudnn.tensor_desc<1x8x2x2xf16, NHWC> -> !cudnn.tensor_desc<1x8x1x1xf16, NHWC>
func.func @pools(%x: tensor<1x8x9x8xf16>) -> tensor<1x1x1x8xf16> {
  %0 = tcp.isolated_group %x {
  ^bb0(%arg0: tensor<1x8x9x8xf16>):
    %4 = tcp.max_pool %arg0 {channels_last, dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 0>, stride = array<i64: 2, 2>} : tensor<1x8x9x8xf16> -> tensor<1x4x4x8xf16>
    tcp.yield %4 : tensor<1x4x4x8xf16>
  } : tensor<1x8x9x8xf16> -> tensor<1x4x4x8xf16>
  %1 = tcp.isolated_group %0 {
  ^bb0(%arg0: tensor<1x4x4x8xf16>):
    %4 = tcp.avg_pool %arg0 {channels_last, ceil_pad = array<i64: 0, 0>, count_include_pad, kernel = array<i64: 2, 2>, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 2, 2>} : tensor<1x4x4x8xf16> -> tensor<1x3x2x8xf16>
    tcp.yield %4 : tensor<1x3x2x8xf16>
  } : tensor<1x4x4x8xf16> -> tensor<1x3x2x8xf16>
  %2 = tcp.isolated_group %1 {
  ^bb0(%arg0: tensor<1x3x2x8xf16>):
    %4 = tcp.avg_pool %arg0 {channels_last, ceil_pad = array<i64: 1, 0>, count_include_pad, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : tensor<1x3x2x8xf16> -> tensor<1x2x1x8xf16>
    tcp.yield %4 : tensor<1x2x1x8xf16>
  } : tensor<1x3x2x8xf16> -> tensor<1x2x1x8xf16>
  %y = tcp.broadcast %2 : tensor<1x2x1x8xf16> -> tensor<1x2x2x8xf16>
  %3 = tcp.isolated_group %y {
  ^bb0(%arg0: tensor<1x2x2x8xf16>):
    %4 = tcp.reduce_mean %arg0 {dims = array<i64: 1, 2>} : tensor<1x2x2x8xf16> -> tensor<1x1x1x8xf16>
    tcp.yield %4 : tensor<1x1x1x8xf16>
  } : tensor<1x2x2x8xf16> -> tensor<1x1x1x8xf16>
  return %3 : tensor<1x1x1x8xf16>
}

// -----

// A convolution over one dim becomes one over two with height 1: the memory is the same, and cuDNN fuses more.
// CHECK-LABEL: cudnn.graph @conv1d_bias_gelu_0(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<2x8x1x32xf16, NHWC>, %[[W:.*]]: !cudnn.tensor_desc<16x8x1x3xf16, NHWC>, %[[B:.*]]: !cudnn.tensor_desc<1x16x1x1xf16, NHWC>) -> !cudnn.tensor_desc<2x16x1x15xf16, NHWC>
// CHECK-NEXT: cudnn.convolution(%[[X]], %[[W]]) type = f32 spatial_stride = [1, 2] pre_padding = [0, 1] post_padding = [0, 0] dilation = [1, 2]
// CHECK: cudnn.execute @conv1d_bias_gelu_0 ins({{.*}} : tensor<2x32x8xf16>, tensor<16x3x8xf16>, tensor<1x1x16xf16>) outs({{.*}} : tensor<2x15x16xf16>)
func.func @conv1d(%x: tensor<2x32x8xf16>, %w: tensor<16x3x8xf16>, %b: tensor<1x1x16xf16>) -> tensor<2x15x16xf16> {
  %0 = tcp.isolated_group %x, %w, %b {
  ^bb0(%arg0: tensor<2x32x8xf16>, %arg1: tensor<16x3x8xf16>, %arg2: tensor<1x1x16xf16>):
    %1 = tcp.conv1d %arg0, %arg1 {channels_last, dilation = array<i64: 2>, pad = array<i64: 1, 0>, stride = array<i64: 2>} : tensor<2x32x8xf16>, tensor<16x3x8xf16> -> tensor<2x15x16xf16>
    %2 = tcp.add %1, %arg2 : tensor<2x15x16xf16>, tensor<1x1x16xf16> -> tensor<2x15x16xf16>
    %3 = tcp.gelu %2 : tensor<2x15x16xf16> -> tensor<2x15x16xf16>
    tcp.yield %3 : tensor<2x15x16xf16>
  } : tensor<2x32x8xf16>, tensor<16x3x8xf16>, tensor<1x1x16xf16> -> tensor<2x15x16xf16>
  return %0 : tensor<2x15x16xf16>
}

// -----

// PyTorch's maximum and minimum propagate NaN, unlike cuDNN's default.
// CHECK-LABEL: cudnn.graph @conv2d_max_full_min_full_0(
// CHECK: %[[M:.*]] = cudnn.pointwise max(%{{.*}}, %{{.*}}) type = f32 nan_propagation = propagate_nan :
// CHECK-NEXT: cudnn.pointwise min(%[[M]], %{{.*}}) type = f32 nan_propagation = propagate_nan :
func.func @bounds(%x: tensor<1x8x8x64xf16>, %w: tensor<64x3x3x64xf16>, %z: tensor<1x8x8x64xf16>) -> tensor<1x8x8x64xf16> {
  %0 = tcp.isolated_group %x, %w, %z {
  ^bb0(%a: tensor<1x8x8x64xf16>, %b: tensor<64x3x3x64xf16>, %c: tensor<1x8x8x64xf16>):
    %1 = tcp.conv2d %a, %b {channels_last, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xf16>, tensor<64x3x3x64xf16> -> tensor<1x8x8x64xf16>
    %2 = tcp.maximum %1, %c : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
    %3 = tcp.minimum %2, %c : tensor<1x8x8x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
    tcp.yield %3 : tensor<1x8x8x64xf16>
  } : tensor<1x8x8x64xf16>, tensor<64x3x3x64xf16>, tensor<1x8x8x64xf16> -> tensor<1x8x8x64xf16>
  return %0 : tensor<1x8x8x64xf16>
}

// -----

// A value with two uses, and an operand that is computed in the graph.
// CHECK-LABEL: cudnn.graph @matmul_sigmoid_mul_virtual_operand_tanh_residual_0(
// CHECK: %[[M:.*]] = cudnn.matmul
// CHECK: %[[S:.*]] = cudnn.pointwise sigmoid_fwd(%[[M]])
// CHECK: %[[P:.*]] = cudnn.pointwise mul(%[[M]], %[[S]]) {{.*}}-> !cudnn.tensor_desc<1x8x8xf32>
// CHECK: %[[T:.*]] = cudnn.pointwise tanh_fwd(%arg0) {{.*}}-> !cudnn.tensor_desc<1x8x8xf32>
// CHECK: %[[R:.*]] = cudnn.pointwise add(%[[P]], %[[T]]) {{.*}}-> !cudnn.tensor_desc<1x8x8xf16>
// CHECK: cudnn.return %[[R]]
func.func @dag(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.isolated_group %x {
  ^bb0(%a: tensor<8x8xf16>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.sigmoid %1 : tensor<8x8xf16> -> tensor<8x8xf16>
    %3 = tcp.mul %1, %2 : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %4 = tcp.tanh %a : tensor<8x8xf16> -> tensor<8x8xf16>
    %5 = tcp.add %3, %4 : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %5 : tensor<8x8xf16>
  } : tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}

// -----

// a - b becomes -b + a: the value computed in the graph must be the first operand.
// CHECK-LABEL: cudnn.graph @matmul_neg_bias_0(
// CHECK: %[[N:.*]] = cudnn.pointwise neg(
// CHECK: cudnn.pointwise add(%[[N]], %arg1)
func.func @subtracted(%x: tensor<8x8xf16>, %b: tensor<1x8xf16>) -> tensor<8x8xf16> {
  %0 = tcp.isolated_group %x, %b {
  ^bb0(%a: tensor<8x8xf16>, %c: tensor<1x8xf16>):
    %1 = tcp.matmul %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    %2 = tcp.sub %c, %1 : tensor<1x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
    tcp.yield %2 : tensor<8x8xf16>
  } : tensor<8x8xf16>, tensor<1x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}

// -----

// Gradients of a convolution. The gradient of the weights is stored like the weights.
// CHECK-LABEL: cudnn.graph @dgrad2d_0(
// CHECK-SAME: %[[G:.*]]: !cudnn.tensor_desc<1x64x4x4xf16, NHWC>, %[[W:.*]]: !cudnn.tensor_desc<64x16x3x3xf16, NHWC>) -> !cudnn.tensor_desc<1x32x8x8xf16, NHWC> {
// CHECK-NEXT: cudnn.convolution(%[[G]], %[[W]]) mode = dgrad type = f32 spatial_stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : {{.*}} -> !cudnn.tensor_desc<1x32x8x8xf16, NHWC>
// CHECK-LABEL: cudnn.graph @wgrad2d_0(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<1x32x8x8xf16, NHWC>, %[[G:.*]]: !cudnn.tensor_desc<1x64x4x4xf16, NHWC>) -> !cudnn.tensor_desc<64x16x3x3xf16, NHWC> {
// CHECK-NEXT: cudnn.convolution(%[[X]], %[[G]]) mode = wgrad type = f32 spatial_stride = [2, 2] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
// CHECK-LABEL: cudnn.graph @wgrad1d_0(
// CHECK-SAME: !cudnn.tensor_desc<2x4x8xf32>, {{.*}}: !cudnn.tensor_desc<2x6x6xf32>) -> !cudnn.tensor_desc<6x4x3xf32> {
func.func @gradients(%g: tensor<1x4x4x64xf16>, %w: tensor<64x3x3x16xf16>, %x: tensor<1x8x8x32xf16>, %x1: tensor<2x4x8xf32>, %g1: tensor<2x6x6xf32>) -> (tensor<1x8x8x32xf16>, tensor<64x3x3x16xf16>, tensor<6x4x3xf32>) {
  %0 = tcp.isolated_group %g, %w attributes {anchor = "dgrad2d", pattern = "dgrad2d"} {
  ^bb0(%arg0: tensor<1x4x4x64xf16>, %arg1: tensor<64x3x3x16xf16>):
    %3 = tcp.conv_backward_data %arg0, %arg1 {channels_last, dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x4x4x64xf16>, tensor<64x3x3x16xf16> -> tensor<1x8x8x32xf16>
    tcp.yield %3 : tensor<1x8x8x32xf16>
  } : tensor<1x4x4x64xf16>, tensor<64x3x3x16xf16> -> tensor<1x8x8x32xf16>
  %1 = tcp.isolated_group %x, %g attributes {anchor = "wgrad2d", pattern = "wgrad2d"} {
  ^bb0(%arg0: tensor<1x8x8x32xf16>, %arg1: tensor<1x4x4x64xf16>):
    %3 = tcp.conv_backward_filter %arg0, %arg1 {channels_last, dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x8x8x32xf16>, tensor<1x4x4x64xf16> -> tensor<64x3x3x16xf16>
    tcp.yield %3 : tensor<64x3x3x16xf16>
  } : tensor<1x8x8x32xf16>, tensor<1x4x4x64xf16> -> tensor<64x3x3x16xf16>
  %2 = tcp.isolated_group %x1, %g1 attributes {anchor = "wgrad1d", pattern = "wgrad1d"} {
  ^bb0(%arg0: tensor<2x4x8xf32>, %arg1: tensor<2x6x6xf32>):
    %3 = tcp.conv_backward_filter %arg0, %arg1 {dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<2x4x8xf32>, tensor<2x6x6xf32> -> tensor<6x4x3xf32>
    tcp.yield %3 : tensor<6x4x3xf32>
  } : tensor<2x4x8xf32>, tensor<2x6x6xf32> -> tensor<6x4x3xf32>
  return %0, %1, %2 : tensor<1x8x8x32xf16>, tensor<64x3x3x16xf16>, tensor<6x4x3xf32>
}
