// RUN: convoy-opt %s --convert-tcp-to-cudnn --cudnn-verify-support --cudnn-add-alternatives | filecheck %s

// cuDNN has no engine for the group, only for its parts: they are the alternative.
// CHECK: cudnn.graph @conv2d_bias_relu_clip_0({{.*}} attributes {cudnn.preference = "only_kernel"} {
// CHECK: cudnn.graph @conv2d_bias_0({{.*}} -> !cudnn.tensor_desc<1x64x8x8xbf16, NHWC> {
// CHECK: cudnn.graph @relu_clip_0({{.*}} -> !cudnn.tensor_desc<1x64x8x8xbf16, NHWC> {
// CHECK: cudnn.alternative @conv2d_bias_relu_clip_0 "conv2d+bias | relu_clip" {
// CHECK-NEXT: ^bb0(%[[X:.*]]: {{.*}}, %[[W:.*]]: {{.*}}, %[[B:.*]]: {{.*}}):
// CHECK-NEXT: %[[S:.*]] = cudnn.step @conv2d_bias_0(%[[X]], %[[W]], %[[B]])
// CHECK-NEXT: %[[Y:.*]] = cudnn.step @relu_clip_0(%[[S]])
// CHECK-NEXT: cudnn.return %[[Y]]
func.func @main(%x: tensor<1x8x8x64xbf16>, %w: tensor<64x3x3x1xbf16>, %b: tensor<1x1x1x64xbf16>) -> tensor<1x8x8x64xbf16> attributes {tcp.target = "cuda"} {
  %0 = tcp.isolated_group %x, %w, %b attributes {anchor = "conv2d", only_kernel, pattern = "conv2d+bias+relu_clip"} {
  ^bb0(%i: tensor<1x8x8x64xbf16>, %f: tensor<64x3x3x1xbf16>, %v: tensor<1x1x1x64xbf16>):
    %1 = tcp.conv2d %i, %f {channels_last, groups = 64 : i64, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x8x8x64xbf16>, tensor<64x3x3x1xbf16> -> tensor<1x8x8x64xbf16>
    %2 = tcp.add %1, %v : tensor<1x8x8x64xbf16>, tensor<1x1x1x64xbf16> -> tensor<1x8x8x64xbf16>
    %3 = tcp.clamp %2 {min_float = 0.0 : f32, max_float = 6.0 : f32} : tensor<1x8x8x64xbf16> -> tensor<1x8x8x64xbf16>
    tcp.yield %3 : tensor<1x8x8x64xbf16>
  } : tensor<1x8x8x64xbf16>, tensor<64x3x3x1xbf16>, tensor<1x1x1x64xbf16> -> tensor<1x8x8x64xbf16>
  return %0 : tensor<1x8x8x64xbf16>
}
