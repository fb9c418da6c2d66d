// RUN: env MALLOC_PERTURB_=165 convoy-opt %s --convert-cudnn-graphs-to-backend | filecheck %s

// More steps than a small vector holds inline. This run overwrites freed memory, so that a use of a
// list of graphs after its lifetime is detected.
// CHECK: tcp.manifest = {alternatives = {alternatives = [{graph = 0 : i64, name = "chain"
// CHECK-SAME: graphs = [{{.*}}name = "step_0"{{.*}}name = "step_7"
// CHECK-SAME: calls = [{graph = 0 : i64, location = "main"}], graphs = [{alternatives = ["chain"]
// CHECK-SAME: name = "relu"
// CHECK-NOT: name = "step_
!t = !cudnn.tensor_desc<1x64x8x8xf16, NHWC>
module attributes {tcp.manifest = {calls = [{graph = 0 : i64, location = "main"}]}} {
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @step_0(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @step_1(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @step_2(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @step_3(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @step_4(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @step_5(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @step_6(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @step_7(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.alternative @relu "chain" {
^bb0(%x: !t):
  %0 = cudnn.step @step_0(%x) : (!t) -> !t
  %1 = cudnn.step @step_1(%0) : (!t) -> !t
  %2 = cudnn.step @step_2(%1) : (!t) -> !t
  %3 = cudnn.step @step_3(%2) : (!t) -> !t
  %4 = cudnn.step @step_4(%3) : (!t) -> !t
  %5 = cudnn.step @step_5(%4) : (!t) -> !t
  %6 = cudnn.step @step_6(%5) : (!t) -> !t
  %7 = cudnn.step @step_7(%6) : (!t) -> !t
  cudnn.return %7 : !t
}
}
