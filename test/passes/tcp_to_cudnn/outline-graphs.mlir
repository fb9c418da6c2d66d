// An inline graph becomes a symbol and a call.
// RUN: convoy-opt %s --cudnn-outline-graphs | filecheck %s

// CHECK-LABEL: cudnn.graph @relu_fwd_convolution_0(
// CHECK-SAME: %[[X:.*]]: !cudnn.tensor_desc<1x64x56x56xf32, NCHW, alignment = 1>, %[[W:.*]]: !cudnn.tensor_desc<64x64x3x3xf32, NCHW, alignment = 1>) -> !cudnn.tensor_desc<1x64x56x56xf32, NCHW, alignment = 1> {
// CHECK-NEXT: %[[R:.*]] = cudnn.pointwise relu_fwd(%[[X]]) type = f32 lower_clip = 0.000000e+00
// CHECK-NEXT: %[[C:.*]] = cudnn.convolution(%[[R]], %[[W]]) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
// CHECK-NEXT: cudnn.return %[[C]]
// CHECK-LABEL: func.func @group(
// CHECK-SAME: %[[X:.*]]: tensor<1x64x56x56xf32>, %[[W:.*]]: tensor<64x64x3x3xf32>)
// CHECK-NEXT: %[[O:.*]] = tensor.empty() : tensor<1x64x56x56xf32>
// CHECK-NEXT: %[[Y:.*]] = cudnn.execute @relu_fwd_convolution_0 ins(%[[X]], %[[W]] : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) outs(%[[O]] : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
// CHECK-NEXT: return %[[Y]]
func.func @group(%39: tensor<1x64x56x56xf32>, %15: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %40 = cudnn.get_current_handle !cudnn.handle
  %41 = cudnn.build_and_exec_graph %40 %39, %15 {
  ^bb0(%arg1: !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []>,
       %arg2: !cudnn.tensor_desc<64x64x3x3xf32, alignment = 1, stride = []>):
      %179 = cudnn.pointwise_relu(%arg1) type = f32 lower_clip = 0.000000e+00
              : !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []>
              -> !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []>
      %180 = cudnn.convolution(%179, %arg2)
              type = f32 alpha = 1.000000e+00 beta = 0.000000e+00 spatial_dim_count = 4
              spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1]
              dilation = [1, 1]
              : !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []>,
                !cudnn.tensor_desc<64x64x3x3xf32, alignment = 1, stride = []>
              -> !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []>
      cudnn.build_graph(%180) : !cudnn.tensor_desc<1x64x56x56xf32, alignment = 1, stride = []>
  } : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
  return %41 : tensor<1x64x56x56xf32>
}
