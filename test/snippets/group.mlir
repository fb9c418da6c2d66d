// The ops of the announcement of the first cuDNN dialect ("Compiler-cuDNN integration from first principles"), as they are there.
// RUN: convoy-opt %s --convoy-pipeline="from=tcp to=group" | filecheck %s
// RUN: convoy-opt %s --convoy-pipeline="from=tcp to=llvm" | filecheck %s --check-prefix=LLVM
// RUN: convoy-opt %s --convoy-pipeline="from=tcp to=llvm target=cpu" | filecheck %s --check-prefix=CPU
// From phase group the group becomes a graph of the tensors as they are, like the graph of the announcement.
// RUN: convoy-opt %s --convoy-pipeline="from=group to=cudnn" | filecheck %s --check-prefix=GRAPH
// RUN: convoy-opt %s --convoy-pipeline="from=group to=llvm" | filecheck %s --check-prefix=LLVM

// CHECK: tcp.isolated_group %{{.*}}, %{{.*}} {
// CHECK: tcp.clamp {{.*}} tensor<1x56x56x64xf32>
// CHECK: tcp.conv2d {{.*}} {channels_last
// LLVM: llvm.func @relu_conv2d_0_build(
// LLVM: llvm.func @convoy_main(
// CPU: llvm.func @convoy_main(
// GRAPH: cudnn.graph @relu_conv2d_0({{.*}}: !cudnn.tensor_desc<1x64x56x56xf32, NCHW>, {{.*}}: !cudnn.tensor_desc<64x64x3x3xf32, NCHW>) -> !cudnn.tensor_desc<1x64x56x56xf32, NCHW> {
// GRAPH-NEXT: cudnn.pointwise relu_fwd
// GRAPH-NEXT: cudnn.convolution
func.func @main(%39: tensor<1x64x56x56xf32>, %15: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
%40 = tcp.isolated_group %39, %15 {
^bb0(%arg1: tensor<1x64x56x56xf32>, %arg2: tensor<64x64x3x3xf32>):
    %171 = tcp.clamp %arg1 {min_float = 0.000000e+00 : f32}
            : tensor<1x64x56x56xf32> -> tensor<1x64x56x56xf32>
    %172 = tcp.conv2d %171, %arg2
            {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
            : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
    tcp.yield %172 : tensor<1x64x56x56xf32>
} : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<1x64x56x56xf32>
return %40 : tensor<1x64x56x56xf32>
}
