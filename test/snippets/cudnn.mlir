// The ops of the announcement of the first cuDNN dialect ("Compiler-cuDNN integration from first principles"), as they are there.
// RUN: convoy-opt %s --convoy-pipeline="from=cudnn to=llvm" 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARK --input-file=%t.err
// RUN: convoy-opt %s --convoy-pipeline="from=cudnn to=linalg" 2>/dev/null | filecheck %s --check-prefix=GRAPH

// CHECK: llvm.func @relu_fwd_convolution_0_build(
// CHECK: llvm.func @convoy_main(
// REMARK: remark: 'spatial_dim_count' 4 is the rank; cuDNN gets 2, the number of spatial dims (CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS)
// GRAPH: cudnn.graph @relu_fwd_convolution_0({{.*}}: !cudnn.tensor_desc<1x64x56x56xf32, NCHW, alignment = 1>, {{.*}}: !cudnn.tensor_desc<64x64x3x3xf32, NCHW, alignment = 1>) -> !cudnn.tensor_desc<1x64x56x56xf32, NCHW, alignment = 1> {
// GRAPH-NEXT: cudnn.pointwise relu_fwd({{.*}}) type = f32 lower_clip = 0.000000e+00
// GRAPH-NEXT: cudnn.convolution({{.*}}) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1]
func.func @main(%39: tensor<1x64x56x56xf32>, %15: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
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
