// RUN: convoy-opt %s --convert-cudnn-graphs-to-backend | filecheck %s

// Alternatives are a separate part of the manifest. Graphs and tensors are given by index, followed
// by temporaries. Graphs that are only steps are listed there as well; the others have the names of
// their graphs.
// CHECK: tcp.manifest = {alternatives = {alternatives = [{graph = 0 : i64, name = "conv2d | relu", steps = [{graph = 2 : i64, tensors = array<i64: 0, 1, 3>}, {graph = 3 : i64, tensors = array<i64: 3, 2>}], temporaries = [{bytes = 8192 : i64, zeros = false}]},
// CHECK-SAME: {graph = 0 : i64, name = "conv2d+bias | relu", steps = [{graph = 1 : i64, tensors = array<i64: 0, 1, 3, 4>}, {graph = 3 : i64, tensors = array<i64: 4, 2>}], temporaries = [{bytes = 128 : i64, zeros = true}, {bytes = 8192 : i64, zeros = false}]}],
// CHECK-SAME: graphs = [{fingerprint = "{{[0-9a-f]*}}", location = "{{[^"]*}}", name = "conv"{{.*}}name = "relu"
// CHECK-SAME: calls = [{graph = 1 : i64, location = "main"}], graphs = [{alternatives = ["conv2d | relu", "conv2d+bias | relu"], fingerprint = "{{[0-9a-f]*}}", location = "{{[^"]*}}", name = "conv_relu"
// CHECK-SAME: {fingerprint = "{{[0-9a-f]*}}", location = "{{[^"]*}}", name = "conv_bias"
// CHECK-SAME: symbol = "conv_bias_build"
// CHECK-NOT: cudnn.alternative
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
!v = !cudnn.tensor_desc<1x64x8x8xf32, NHWC>
!w = !cudnn.tensor_desc<64x64x3x3xf16, NHWC>
!b = !cudnn.tensor_desc<1x64x1x1xf16, NHWC>
module attributes {tcp.manifest = {calls = [{graph = 1 : i64, location = "main"}]}} {
cudnn.graph @conv_relu(%x: !t, %w: !w) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !v -> !t
  cudnn.return %1 : !t
}
cudnn.graph @conv_bias(%x: !t, %w: !w, %b: !b) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !v
  %1 = cudnn.pointwise add(%0, %b) type = f32 : !v, !b -> !t
  cudnn.return %1 : !t
}
cudnn.graph @conv(%x: !t, %w: !w) -> !t {
  %0 = cudnn.convolution(%x, %w) type = f32 spatial_stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1] dilation = [1, 1] : !t, !w -> !t
  cudnn.return %0 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.alternative @conv_relu "conv2d | relu" {
^bb0(%x: !t, %w: !w):
  %0 = cudnn.step @conv(%x, %w) : (!t, !w) -> !t
  %1 = cudnn.step @relu(%0) : (!t) -> !t
  cudnn.return %1 : !t
}
cudnn.alternative @conv_relu "conv2d+bias | relu" {
^bb0(%x: !t, %w: !w):
  %0 = cudnn.zeros : !b
  %1 = cudnn.step @conv_bias(%x, %w, %0) : (!t, !w, !b) -> !t
  %2 = cudnn.step @relu(%1) : (!t) -> !t
  cudnn.return %2 : !t
}
}
