// Every error of alternatives and their steps. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

// expected-error @+1 {{expects the name of a cudnn.graph, but got @three}}
cudnn.alternative @three "alternative_c1" {
^bb0(%x: !t, %z: !t):
  %0 = cudnn.step @relu(%x) : (!t) -> !t
  cudnn.return %0 : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

// expected-error @+1 {{expects 2 arguments for @two, but got 1}}
cudnn.alternative @two "alternative_c2_count" {
^bb0(%x: !t):
  %0 = cudnn.step @relu(%x) : (!t) -> !t
  cudnn.return %0 : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

// expected-error @+1 {{expects argument #1 of type '!cudnn.tensor_desc<1x8x4x4xf16, NHWC>' for @two, but got '!cudnn.tensor_desc<1x8x4x4xf32, NHWC>'}}
cudnn.alternative @two "alternative_c2_type" {
^bb0(%x: !t, %z: !cudnn.tensor_desc<1x8x4x4xf32, NHWC>):
  %0 = cudnn.step @relu(%x) : (!t) -> !t
  cudnn.return %0 : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

// expected-error @+1 {{expects 'cudnn.return' at the end of its body}}
cudnn.alternative @two "alternative_c3_end" {
^bb0(%x: !t, %z: !t):
  %0 = cudnn.step @relu(%x) : (!t) -> !t
  "test.end"() : () -> ()
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

cudnn.alternative @two "alternative_c3_foreign" {
^bb0(%x: !t, %z: !t):
  // expected-error @+1 {{is neither 'cudnn.step' nor 'cudnn.zeros'}}
  %c = arith.constant 1.0 : f32
  %0 = cudnn.step @relu(%x) : (!t) -> !t
  cudnn.return %0 : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

// expected-error @+1 {{expects at least one step in its body}}
cudnn.alternative @two "alternative_c3_none" {
^bb0(%x: !t, %z: !t):
  %0 = cudnn.zeros : !t
  cudnn.return %0 : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

// expected-error @+1 {{expects results that steps compute, but no step computes result #0}}
cudnn.alternative @two "alternative_c4_argument" {
^bb0(%x: !t, %z: !t):
  %0 = cudnn.step @relu(%x) : (!t) -> !t
  cudnn.return %x : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

// expected-error @+1 {{expects results that steps compute, but no step computes result #0}}
cudnn.alternative @two "alternative_c4_zeros" {
^bb0(%x: !t, %z: !t):
  %0 = cudnn.step @relu(%x) : (!t) -> !t
  %1 = cudnn.zeros : !t
  cudnn.return %1 : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

// expected-error @+1 {{expects distinct results, but result #1 is a duplicate}}
cudnn.alternative @both "alternative_c4_twice" {
^bb0(%x: !t):
  %0 = cudnn.step @relu(%x) : (!t) -> !t
  cudnn.return %0, %0 : !t, !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

// expected-error @+1 {{expects 2 results for @both, but got 1}}
cudnn.alternative @both "alternative_c4_count" {
^bb0(%x: !t):
  %0 = cudnn.step @relu(%x) : (!t) -> !t
  cudnn.return %0 : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

cudnn.alternative @two "step_c1" {
^bb0(%x: !t, %z: !t):
  // expected-error @+1 {{expects the name of a cudnn.graph, but got @three}}
  %0 = cudnn.step @three(%x) : (!t) -> !t
  cudnn.return %0 : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

cudnn.alternative @two "step_c1_itself" {
^bb0(%x: !t, %z: !t):
  // expected-error @+1 {{expects a graph other than the alternative's, but got @two}}
  %0 = cudnn.step @two(%x, %z) : (!t, !t) -> !t
  cudnn.return %0 : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

cudnn.alternative @two "step_c2_operands" {
^bb0(%x: !t, %z: !t):
  // expected-error @+1 {{expects 1 operands for @relu, but got 2}}
  %0 = cudnn.step @relu(%x, %z) : (!t, !t) -> !t
  cudnn.return %0 : !t
}

// -----

!t = !cudnn.tensor_desc<1x8x4x4xf16, NHWC>
cudnn.graph @two(%x: !t, %z: !t) -> !t {
  %0 = cudnn.pointwise add(%x, %z) type = f32 : !t, !t -> !t
  %1 = cudnn.pointwise relu_fwd(%0) type = f32 : !t -> !t
  cudnn.return %1 : !t
}
cudnn.graph @relu(%x: !t) -> !t {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  cudnn.return %0 : !t
}
cudnn.graph @both(%x: !t) -> (!t, !t) {
  %0 = cudnn.pointwise relu_fwd(%x) type = f32 : !t -> !t
  %1 = cudnn.pointwise neg(%x) type = f32 : !t -> !t
  cudnn.return %0, %1 : !t, !t
}

cudnn.alternative @two "step_c2_result" {
^bb0(%x: !t, %z: !t):
  // expected-error @+1 {{expects result #0 of type '!cudnn.tensor_desc<1x8x4x4xf16, NHWC>' for @relu, but got '!cudnn.tensor_desc<1x8x4x4xf32, NHWC>'}}
  %0 = cudnn.step @relu(%x) : (!t) -> !cudnn.tensor_desc<1x8x4x4xf32, NHWC>
  %1 = cudnn.step @relu(%x) : (!t) -> !t
  cudnn.return %1 : !t
}

// -----

func.func @step_outside(%x: !cudnn.tensor_desc<8x4xf32>) {
  // expected-error @+1 {{expects parent op 'cudnn.alternative'}}
  %0 = cudnn.step @relu(%x) : (!cudnn.tensor_desc<8x4xf32>) -> !cudnn.tensor_desc<8x4xf32>
  return
}

// -----

func.func @zeros_outside() {
  // expected-error @+1 {{expects parent op 'cudnn.alternative'}}
  %0 = cudnn.zeros : !cudnn.tensor_desc<8x4xf32>
  return
}
