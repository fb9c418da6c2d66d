// The spelling of the first cuDNN dialect parses unchanged.
// RUN: convoy-opt %s --verify-roundtrip | filecheck %s

// CHECK-LABEL: func.func @group
func.func @group(%39: tensor<1x64x56x56xf32>, %15: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  // CHECK: %[[H:.*]] = cudnn.get_current_handle !cudnn.handle
  // CHECK: cudnn.build_and_exec_graph %[[H]] %{{.*}}, %{{.*}} {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: !cudnn.tensor_desc<1x64x56x56xf32, NCHW, alignment = 1>, %[[W:.*]]: !cudnn.tensor_desc<64x64x3x3xf32, NCHW, alignment = 1>):
  // CHECK-NEXT: %[[R:.*]] = cudnn.pointwise_relu(%[[X]]) type = f32
  // CHECK-NEXT: %[[C:.*]] = cudnn.convolution(%[[R]], %[[W]]) type = f32 spatial_dim_count = 4 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
  // CHECK-NEXT: cudnn.build_graph(%[[C]]) : !cudnn.tensor_desc<1x64x56x56xf32, NCHW, alignment = 1>
  // CHECK-NEXT: } : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
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
