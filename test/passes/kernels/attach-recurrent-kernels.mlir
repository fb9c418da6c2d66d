// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels --verify-diagnostics | filecheck %s
// RUN: convoy-opt %s --split-input-file --cudnn-attach-kernels=chip=sm_90 --verify-diagnostics | filecheck %s --check-prefix=SM90

// All steps in one launch by clusters of 8 blocks, one for each 8 sequences; or a launch for each
// step, whose number is an argument.
// CHECK: gpu.module @lstm_8x16 [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx80">] {
// CHECK: llvm.func @lstm_8x16(%[[X:[^:]*]]: !llvm.ptr {llvm.nonnull}, %[[W:[^:]*]]: !llvm.ptr {llvm.nonnull}, %[[Y:[^:]*]]: !llvm.ptr {llvm.nonnull}, %[[C:[^:]*]]: !llvm.ptr {llvm.nonnull}) attributes {nvvm.cluster_dim = array<i32: 8, 1, 1>, nvvm.kernel, nvvm.maxntid = array<i32: 512>
// CHECK: dense<[2, 128, 32, 512, 0, 16, 4, 8]>
// CHECK: llvm.call @convoy_recurrent_f16(%[[X]], %[[W]], %{{.*}}, %{{.*}}, %{{.*}}, %[[Y]], %[[C]], %{{.*}})
// CHECK: gpu.module @lstm_step_16 [#nvvm.target<O = 3, chip = "sm_80">] {
// CHECK: llvm.func @lstm_step_16({{.*}}, %[[N:[^:]*]]: i32) attributes
// CHECK: llvm.call @convoy_recurrent_step_f16({{.*}}, %[[N]], %{{.*}})
// CHECK: cudnn.graph @lstm(
// CHECK-SAME: cudnn.kernels = [{block = 512 : i64, chip = "sm_90", grid = 32 : i64, name = "lstm_8x16", shared_bytes = 182784 : i64, tf32 = false, variant = "8x16"}, {block = 512 : i64, chip = "sm_80", grid = 128 : i64, launches = 128 : i64, name = "lstm_step_16", shared_bytes = 33280 : i64, tf32 = false, variant = "step_16"}], cudnn.preference = "only_kernel"
// SM90: chip = "sm_90", grid = 32 : i64, name = "lstm_8x16"
// SM90-SAME: chip = "sm_90", grid = 128 : i64, launches = 128 : i64, name = "lstm_step_16"
cudnn.graph @lstm(%x: !cudnn.tensor_desc<128x32x2048xf16>, %w: !cudnn.tensor_desc<512x2048xf16>) -> (!cudnn.tensor_desc<128x32x512xf16>, !cudnn.tensor_desc<32x512xf16>) attributes {cudnn.preference = "only_kernel"} {
  %y, %c = cudnn.recurrent lstm given(%x : !cudnn.tensor_desc<128x32x2048xf16>) weights(%w : !cudnn.tensor_desc<512x2048xf16>) -> y(!cudnn.tensor_desc<128x32x512xf16>) last_cell(!cudnn.tensor_desc<32x512xf16>)
  cudnn.return %y, %c : !cudnn.tensor_desc<128x32x512xf16>, !cudnn.tensor_desc<32x512xf16>
}

// -----

// Weights of one block, which every GPU runs; then of a smaller block for each group of columns. The
// operands in the order of the graph's arguments.
// CHECK: llvm.func @gru_1x8(%[[X:[^:]*]]: !llvm.ptr {llvm.nonnull}, %[[W:[^:]*]]: !llvm.ptr {llvm.nonnull}, %[[H:[^:]*]]: !llvm.ptr {llvm.nonnull}, %[[B:[^:]*]]: !llvm.ptr {llvm.nonnull}, %[[Y:[^:]*]]: !llvm.ptr {llvm.nonnull})
// CHECK: dense<[3, 20, 3, 32, 1, 8, 4, 1]>
// CHECK: llvm.call @convoy_recurrent_f32(%[[X]], %[[W]], %[[B]], %[[H]], %{{.*}}, %[[Y]],
// CHECK: cudnn.graph @gru(
// CHECK-SAME: chip = "sm_80", grid = 1 : i64, name = "gru_1x8"
// CHECK-SAME: chip = "sm_90", grid = 4 : i64, name = "gru_4x2"
// CHECK-SAME: chip = "sm_80", grid = 4 : i64, launches = 20 : i64, name = "gru_step_2"
// SM90: cudnn.graph @gru(
cudnn.graph @gru(%x: !cudnn.tensor_desc<20x3x96xf32>, %w: !cudnn.tensor_desc<32x96xf32>, %h: !cudnn.tensor_desc<3x32xf32>, %b: !cudnn.tensor_desc<1x32xf32>) -> !cudnn.tensor_desc<20x3x32xf32> attributes {cudnn.preference = "only_kernel"} {
  %y = cudnn.recurrent gru reverse given(%x : !cudnn.tensor_desc<20x3x96xf32>) weights(%w : !cudnn.tensor_desc<32x96xf32>) hidden(%h : !cudnn.tensor_desc<3x32xf32>) bias(%b : !cudnn.tensor_desc<1x32xf32>) -> y(!cudnn.tensor_desc<20x3x32xf32>)
  cudnn.return %y : !cudnn.tensor_desc<20x3x32xf32>
}

// -----

// Weights that are too large for a cluster.
// CHECK: cudnn.graph @wide(
// CHECK-SAME: cudnn.kernels = [{block = 512 : i64, chip = "sm_80", grid = 64 : i64, launches = 20 : i64, name = "wide_step_16",
// SM90: cudnn.graph @wide(
cudnn.graph @wide(%x: !cudnn.tensor_desc<20x3x4096xbf16>, %w: !cudnn.tensor_desc<1024x4096xbf16>) -> (!cudnn.tensor_desc<20x3x1024xbf16>, !cudnn.tensor_desc<3x1024xbf16>) attributes {cudnn.preference = "only_kernel"} {
  %y, %c = cudnn.recurrent lstm given(%x : !cudnn.tensor_desc<20x3x4096xbf16>) weights(%w : !cudnn.tensor_desc<1024x4096xbf16>) -> y(!cudnn.tensor_desc<20x3x1024xbf16>) last_cell(!cudnn.tensor_desc<3x1024xbf16>)
  cudnn.return %y, %c : !cudnn.tensor_desc<20x3x1024xbf16>, !cudnn.tensor_desc<3x1024xbf16>
}

// -----

// CHECK: dense<[1, 20, 3, 512, 0, 16, 1, 8]>
// CHECK: cudnn.graph @rnn(
// CHECK-SAME: grid = 8 : i64, name = "rnn_8x16"
// CHECK-SAME: grid = 4 : i64, name = "rnn_4x16"
// CHECK-SAME: name = "rnn_step_16"
// SM90: cudnn.graph @rnn(
cudnn.graph @rnn(%x: !cudnn.tensor_desc<20x3x512xf16>, %w: !cudnn.tensor_desc<512x512xf16>) -> !cudnn.tensor_desc<20x3x512xf16> attributes {cudnn.preference = "only_kernel"} {
  %y = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<20x3x512xf16>) weights(%w : !cudnn.tensor_desc<512x512xf16>) -> y(!cudnn.tensor_desc<20x3x512xf16>)
  cudnn.return %y : !cudnn.tensor_desc<20x3x512xf16>
}

// -----

// CHECK: dense<[0, 20, 3, 512, 0, 16, 1, 8]>
// CHECK: cudnn.graph @relu(
// SM90: cudnn.graph @relu(
cudnn.graph @relu(%x: !cudnn.tensor_desc<20x3x512xf16>, %w: !cudnn.tensor_desc<512x512xf16>) -> !cudnn.tensor_desc<20x3x512xf16> attributes {cudnn.preference = "only_kernel"} {
  %y = cudnn.recurrent rnn_relu given(%x : !cudnn.tensor_desc<20x3x512xf16>) weights(%w : !cudnn.tensor_desc<512x512xf16>) -> y(!cudnn.tensor_desc<20x3x512xf16>)
  cudnn.return %y : !cudnn.tensor_desc<20x3x512xf16>
}

// -----

// expected-error @+1 {{expects a form with a kernel, because it is marked 'only_kernel', but it has less than two steps}}
cudnn.graph @once(%x: !cudnn.tensor_desc<1x3x512xf16>, %w: !cudnn.tensor_desc<512x512xf16>) -> !cudnn.tensor_desc<1x3x512xf16> attributes {cudnn.preference = "only_kernel"} {
  %y = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<1x3x512xf16>) weights(%w : !cudnn.tensor_desc<512x512xf16>) -> y(!cudnn.tensor_desc<1x3x512xf16>)
  cudnn.return %y : !cudnn.tensor_desc<1x3x512xf16>
}

// -----

// expected-error @+1 {{expects a form with a kernel, because it is marked 'only_kernel', but rows of its state are not a multiple of 16 bytes}}
cudnn.graph @rows(%x: !cudnn.tensor_desc<5x3x12xf16>, %w: !cudnn.tensor_desc<12x12xf16>) -> !cudnn.tensor_desc<5x3x12xf16> attributes {cudnn.preference = "only_kernel"} {
  %y = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<5x3x12xf16>) weights(%w : !cudnn.tensor_desc<12x12xf16>) -> y(!cudnn.tensor_desc<5x3x12xf16>)
  cudnn.return %y : !cudnn.tensor_desc<5x3x12xf16>
}

// -----

// expected-error @+1 {{expects a form with a kernel, because it is marked 'only_kernel', but it is not one recurrent layer}}
cudnn.graph @two(%x: !cudnn.tensor_desc<5x2x16xf16>, %w: !cudnn.tensor_desc<16x16xf16>) -> !cudnn.tensor_desc<5x2x16xf16> attributes {cudnn.preference = "only_kernel"} {
  %y = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<5x2x16xf16>) weights(%w : !cudnn.tensor_desc<16x16xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  %z = cudnn.recurrent rnn_tanh given(%y : !cudnn.tensor_desc<5x2x16xf16>) weights(%w : !cudnn.tensor_desc<16x16xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %z : !cudnn.tensor_desc<5x2x16xf16>
}

// -----

// expected-error @+1 {{expects a form with a kernel, because it is marked 'only_kernel', but its tensors are not packed in the order of their dims}}
cudnn.graph @strided(%x: !cudnn.tensor_desc<5x2x16xf16, stride = [64, 32, 1]>, %w: !cudnn.tensor_desc<16x16xf16>) -> !cudnn.tensor_desc<5x2x16xf16> attributes {cudnn.preference = "only_kernel"} {
  %y = cudnn.recurrent rnn_tanh given(%x : !cudnn.tensor_desc<5x2x16xf16, stride = [64, 32, 1]>) weights(%w : !cudnn.tensor_desc<16x16xf16>) -> y(!cudnn.tensor_desc<5x2x16xf16>)
  cudnn.return %y : !cudnn.tensor_desc<5x2x16xf16>
}
