// RUN: convoy-opt %s --verify-roundtrip | filecheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | filecheck %s

!s = !cudnn.tensor_desc<2x16xf16>
!y = !cudnn.tensor_desc<5x2x16xf16>

// CHECK-LABEL: cudnn.graph @lstm
cudnn.graph @lstm(%x: !cudnn.tensor_desc<5x2x64xf16>, %w: !cudnn.tensor_desc<16x64xf16>, %h: !s, %c: !s) -> (!y, !s, !y, !s) {
  // CHECK: %{{.*}}, %{{.*}} = cudnn.recurrent lstm given({{.*}}) weights({{.*}}) -> y(!cudnn.tensor_desc<5x2x16xf16>) last_cell(!cudnn.tensor_desc<2x16xf16>)
  %y, %last = cudnn.recurrent lstm given(%x : !cudnn.tensor_desc<5x2x64xf16>) weights(%w : !cudnn.tensor_desc<16x64xf16>) -> y(!y) last_cell(!s)
  // CHECK: cudnn.recurrent lstm reverse given({{.*}}) weights({{.*}}) hidden({{.*}}) cell({{.*}}) -> y
  %z, %end = cudnn.recurrent lstm reverse given(%x : !cudnn.tensor_desc<5x2x64xf16>) weights(%w : !cudnn.tensor_desc<16x64xf16>) hidden(%h : !s) cell(%c : !s) -> y(!y) last_cell(!s)
  cudnn.return %y, %last, %z, %end : !y, !s, !y, !s
}

// CHECK-LABEL: cudnn.graph @gru
cudnn.graph @gru(%x: !cudnn.tensor_desc<5x2x48xf16>, %w: !cudnn.tensor_desc<16x48xf16>, %b: !cudnn.tensor_desc<1x16xf16>) -> !y {
  // CHECK: cudnn.recurrent gru given({{.*}}) weights({{.*}}) bias({{.*}}) -> y
  %y = cudnn.recurrent gru given(%x : !cudnn.tensor_desc<5x2x48xf16>) weights(%w : !cudnn.tensor_desc<16x48xf16>) bias(%b : !cudnn.tensor_desc<1x16xf16>) -> y(!y)
  cudnn.return %y : !y
}

// CHECK-LABEL: cudnn.graph @rnn
cudnn.graph @rnn(%x: !y, %w: !cudnn.tensor_desc<16x16xf16>, %h: !s) -> (!y, !y) {
  // CHECK: cudnn.recurrent rnn_tanh given({{.*}}) weights({{.*}}) hidden({{.*}}) -> y
  %y = cudnn.recurrent rnn_tanh given(%x : !y) weights(%w : !cudnn.tensor_desc<16x16xf16>) hidden(%h : !s) -> y(!y)
  // CHECK: cudnn.recurrent rnn_relu
  %z = cudnn.recurrent rnn_relu given(%y : !y) weights(%w : !cudnn.tensor_desc<16x16xf16>) -> y(!y)
  cudnn.return %y, %z : !y, !y
}
