// Every error of recurrent layers. Labels refer to the constraints in the op description.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics

cudnn.graph @recurrent_c1(%x: !cudnn.tensor_desc<5x2x64xf16>, %w: !cudnn.tensor_desc<16x64xf16>) -> (!cudnn.tensor_desc<5x2x16xf16>) {
  // expected-error @+1 {{expects given of T x B x 3*H for gru, but got [5, 2, 64]}}
  %y = cudnn.recurrent gru given(%x : !cudnn.tensor_desc<5x2x64xf16>) weights(%w : !cudnn.tensor_desc<16x64xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %y : !cudnn.tensor_desc<5x2x16xf16>
}

// -----

cudnn.graph @recurrent_c1_rank(%x: !cudnn.tensor_desc<2x64xf16>, %w: !cudnn.tensor_desc<16x64xf16>) -> (!cudnn.tensor_desc<5x2x16xf16>, !cudnn.tensor_desc<2x16xf16>) {
  // expected-error @+1 {{expects given of T x B x 4*H for lstm, but got [2, 64]}}
  %y, %c = cudnn.recurrent lstm given(%x : !cudnn.tensor_desc<2x64xf16>) weights(%w : !cudnn.tensor_desc<16x64xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>) last_cell(!cudnn.tensor_desc<2x16xf16>)
  cudnn.return %y, %c : !cudnn.tensor_desc<5x2x16xf16>, !cudnn.tensor_desc<2x16xf16>
}

// -----

cudnn.graph @recurrent_c1_result(%x: !cudnn.tensor_desc<5x2x16xf16>, %w: !cudnn.tensor_desc<16x16xf16>) -> (!cudnn.tensor_desc<4x2x16xf16>) {
  // expected-error @+1 {{expects y of shape [5, 2, 16], but got [4, 2, 16]}}
  %y = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<5x2x16xf16>) weights(%w : !cudnn.tensor_desc<16x16xf16>) -> y(!cudnn.tensor_desc<4x2x16xf16>)
  cudnn.return %y : !cudnn.tensor_desc<4x2x16xf16>
}

// -----

cudnn.graph @recurrent_c2(%x: !cudnn.tensor_desc<5x2x64xf16>, %w: !cudnn.tensor_desc<64x16xf16>) -> (!cudnn.tensor_desc<5x2x16xf16>, !cudnn.tensor_desc<2x16xf16>) {
  // expected-error @+1 {{expects weights of shape [16, 64], but got [64, 16]}}
  %y, %c = cudnn.recurrent lstm given(%x : !cudnn.tensor_desc<5x2x64xf16>) weights(%w : !cudnn.tensor_desc<64x16xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>) last_cell(!cudnn.tensor_desc<2x16xf16>)
  cudnn.return %y, %c : !cudnn.tensor_desc<5x2x16xf16>, !cudnn.tensor_desc<2x16xf16>
}

// -----

cudnn.graph @recurrent_c3(%x: !cudnn.tensor_desc<5x2x16xf16>, %w: !cudnn.tensor_desc<16x16xf16>, %h: !cudnn.tensor_desc<1x16xf16>) -> (!cudnn.tensor_desc<5x2x16xf16>) {
  // expected-error @+1 {{expects hidden of shape [2, 16], but got [1, 16]}}
  %y = cudnn.recurrent rnn_relu given(%x : !cudnn.tensor_desc<5x2x16xf16>) weights(%w : !cudnn.tensor_desc<16x16xf16>) hidden(%h : !cudnn.tensor_desc<1x16xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %y : !cudnn.tensor_desc<5x2x16xf16>
}

// -----

cudnn.graph @recurrent_c3_cell(%x: !cudnn.tensor_desc<5x2x48xf16>, %w: !cudnn.tensor_desc<16x48xf16>, %h: !cudnn.tensor_desc<2x16xf16>) -> (!cudnn.tensor_desc<5x2x16xf16>) {
  // expected-error @+1 {{expects last_cell for lstm, and neither it nor cell for another mode, but got gru without last_cell and with cell}}
  %y = cudnn.recurrent gru given(%x : !cudnn.tensor_desc<5x2x48xf16>) weights(%w : !cudnn.tensor_desc<16x48xf16>) cell(%h : !cudnn.tensor_desc<2x16xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %y : !cudnn.tensor_desc<5x2x16xf16>
}

// -----

cudnn.graph @recurrent_c3_last(%x: !cudnn.tensor_desc<5x2x64xf16>, %w: !cudnn.tensor_desc<16x64xf16>) -> (!cudnn.tensor_desc<5x2x16xf16>) {
  // expected-error @+1 {{expects last_cell for lstm, and neither it nor cell for another mode, but got lstm without last_cell and without cell}}
  %y = cudnn.recurrent lstm given(%x : !cudnn.tensor_desc<5x2x64xf16>) weights(%w : !cudnn.tensor_desc<16x64xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %y : !cudnn.tensor_desc<5x2x16xf16>
}

// -----

cudnn.graph @recurrent_c3_other(%x: !cudnn.tensor_desc<5x2x16xf16>, %w: !cudnn.tensor_desc<16x16xf16>) -> (!cudnn.tensor_desc<5x2x16xf16>, !cudnn.tensor_desc<2x16xf16>) {
  // expected-error @+1 {{expects last_cell for lstm, and neither it nor cell for another mode, but got rnn_tanh with last_cell and without cell}}
  %y, %c = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<5x2x16xf16>) weights(%w : !cudnn.tensor_desc<16x16xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>) last_cell(!cudnn.tensor_desc<2x16xf16>)
  cudnn.return %y, %c : !cudnn.tensor_desc<5x2x16xf16>, !cudnn.tensor_desc<2x16xf16>
}

// -----

cudnn.graph @recurrent_c4(%x: !cudnn.tensor_desc<5x2x16xf16>, %w: !cudnn.tensor_desc<16x16xf16>, %b: !cudnn.tensor_desc<1x16xf16>) -> (!cudnn.tensor_desc<5x2x16xf16>) {
  // expected-error @+1 {{expects bias only for gru, but got rnn_tanh}}
  %y = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<5x2x16xf16>) weights(%w : !cudnn.tensor_desc<16x16xf16>) bias(%b : !cudnn.tensor_desc<1x16xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %y : !cudnn.tensor_desc<5x2x16xf16>
}

// -----

cudnn.graph @recurrent_c4_shape(%x: !cudnn.tensor_desc<5x2x48xf16>, %w: !cudnn.tensor_desc<16x48xf16>, %b: !cudnn.tensor_desc<1x48xf16>) -> (!cudnn.tensor_desc<5x2x16xf16>) {
  // expected-error @+1 {{expects bias of shape [1, 16], but got [1, 48]}}
  %y = cudnn.recurrent gru given(%x : !cudnn.tensor_desc<5x2x48xf16>) weights(%w : !cudnn.tensor_desc<16x48xf16>) bias(%b : !cudnn.tensor_desc<1x48xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %y : !cudnn.tensor_desc<5x2x16xf16>
}

// -----

cudnn.graph @recurrent_c5(%x: !cudnn.tensor_desc<5x2x16xf64>, %w: !cudnn.tensor_desc<16x16xf64>) -> (!cudnn.tensor_desc<5x2x16xf64>) {
  // expected-error @+1 {{expects elements of f32, f16 or bf16, but got 'f64'}}
  %y = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<5x2x16xf64>) weights(%w : !cudnn.tensor_desc<16x16xf64>) -> y(!cudnn.tensor_desc<5x2x16xf64>)
  cudnn.return %y : !cudnn.tensor_desc<5x2x16xf64>
}

// -----

cudnn.graph @recurrent_c5_one(%x: !cudnn.tensor_desc<5x2x16xf16>, %w: !cudnn.tensor_desc<16x16xf32>) -> (!cudnn.tensor_desc<5x2x16xf16>) {
  // expected-error @+1 {{expects one element type, but got 'f16' and 'f32'}}
  %y = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<5x2x16xf16>) weights(%w : !cudnn.tensor_desc<16x16xf32>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %y : !cudnn.tensor_desc<5x2x16xf16>
}
