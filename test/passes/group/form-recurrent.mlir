// RUN: convoy-opt %s --split-input-file --tcp-form-recurrent=remarks --verify-diagnostics | filecheck %s
// RUN: convoy-opt %s --split-input-file --tcp-form-recurrent --convert-tcp-to-cudnn | filecheck %s --check-prefix=CUDNN

// The zeros that the state begins with are in the group, where the kernel needs no memory for them.
// The last state is the last element of the result.
// CHECK-LABEL: func.func @lstm(
// CHECK-SAME: %[[X:.*]]: tensor<5x2x32xf16>, %[[W:.*]]: tensor<8x32xf16>)
// CHECK: %[[G:.*]]:2 = tcp.isolated_group %[[X]], %[[W]] attributes {anchor = "recurrent", pattern = "lstm"} {
// CHECK: arith.constant
// CHECK-NEXT: tcp.scan trips 5
// CHECK: tcp.yield %{{.*}}#2, %{{.*}}#1 :
// CHECK: } : tensor<5x2x32xf16>, tensor<8x32xf16> -> tensor<5x2x8xf16>, tensor<2x8xf16>
// CHECK: %[[L:.*]] = tcp.slice %[[G]]#0 {sizes = array<i64: 1, 2, 8>, starts = array<i64: 4, 0, 0>, strides = array<i64: 1, 1, 1>}
// CHECK: %[[R:.*]] = tcp.reshape %[[L]]
// CHECK: return %[[G]]#0, %[[R]], %[[G]]#1

// CUDNN-LABEL: cudnn.graph @lstm_0(
// CUDNN-SAME: %[[X:.*]]: !cudnn.tensor_desc<5x2x32xf16>, %[[W:.*]]: !cudnn.tensor_desc<8x32xf16>) -> (!cudnn.tensor_desc<5x2x8xf16>, !cudnn.tensor_desc<2x8xf16>) attributes {cudnn.preference = "only_kernel"} {
// CUDNN-NEXT: cudnn.recurrent lstm given(%[[X]] : {{.*}}) weights(%[[W]] : {{.*}}) -> y({{.*}}) last_cell({{.*}})
// CUDNN: %[[E:.*]]:2 = cudnn.execute @lstm_0 ins(%{{.*}}, %{{.*}} : tensor<5x2x32xf16>, tensor<8x32xf16>)
// CUDNN: return %[[E]]#0, %{{.*}}, %[[E]]#1
func.func @lstm(%x: tensor<5x2x32xf16>, %w: tensor<8x32xf16>) -> (tensor<5x2x8xf16>, tensor<2x8xf16>, tensor<2x8xf16>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<2x8xf16>
  %0:3 = tcp.scan trips 5 carried(%zero, %zero : tensor<2x8xf16>, tensor<2x8xf16>) sliced(%x : tensor<5x2x32xf16>) invariant(%w : tensor<8x32xf16>) {
  ^bb0(%hidden: tensor<2x8xf16>, %cell: tensor<2x8xf16>, %element: tensor<2x32xf16>, %weights: tensor<8x32xf16>):
    %1 = tcp.matmul %hidden, %weights : tensor<2x8xf16>, tensor<8x32xf16> -> tensor<2x32xf16>
    %2 = tcp.add %1, %element : tensor<2x32xf16>, tensor<2x32xf16> -> tensor<2x32xf16>
    %g0 = tcp.slice %2 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x32xf16> -> tensor<2x8xf16>
    %g1 = tcp.slice %2 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 8>, strides = array<i64: 1, 1>} : tensor<2x32xf16> -> tensor<2x8xf16>
    %g2 = tcp.slice %2 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 16>, strides = array<i64: 1, 1>} : tensor<2x32xf16> -> tensor<2x8xf16>
    %g3 = tcp.slice %2 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 24>, strides = array<i64: 1, 1>} : tensor<2x32xf16> -> tensor<2x8xf16>
    %3 = tcp.sigmoid %g1 : tensor<2x8xf16> -> tensor<2x8xf16>
    %4 = tcp.mul %3, %cell : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %5 = tcp.sigmoid %g0 : tensor<2x8xf16> -> tensor<2x8xf16>
    %6 = tcp.tanh %g2 : tensor<2x8xf16> -> tensor<2x8xf16>
    %7 = tcp.mul %5, %6 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %8 = tcp.add %4, %7 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %9 = tcp.sigmoid %g3 : tensor<2x8xf16> -> tensor<2x8xf16>
    %10 = tcp.tanh %8 : tensor<2x8xf16> -> tensor<2x8xf16>
    %11 = tcp.mul %9, %10 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    tcp.yield %11, %8, %11 : tensor<2x8xf16>, tensor<2x8xf16>, tensor<2x8xf16>
  } -> tensor<2x8xf16>, tensor<2x8xf16>, tensor<5x2x8xf16>
  return %0#2, %0#0, %0#1 : tensor<5x2x8xf16>, tensor<2x8xf16>, tensor<2x8xf16>
}

// -----

// Operands in any order, the cell as the first part of the state, and the sequence in reverse.
// CHECK-LABEL: func.func @swapped(
// CHECK-SAME: %[[X:.*]]: tensor<5x2x32xf16>, %[[W:.*]]: tensor<8x32xf16>, %[[H:.*]]: tensor<2x8xf16>, %[[C:.*]]: tensor<2x8xf16>)
// CHECK-NEXT: %[[G:.*]]:2 = tcp.isolated_group %[[X]], %[[W]], %[[H]], %[[C]] attributes {anchor = "recurrent", pattern = "lstm"} {
// CHECK: tcp.slice %[[G]]#0 {sizes = array<i64: 1, 2, 8>, starts = array<i64: 0, 0, 0>,
// CUDNN: cudnn.recurrent lstm reverse given(%{{.*}}) weights(%{{.*}}) hidden(%arg2 : {{.*}}) cell(%arg3 : {{.*}}) -> y
func.func @swapped(%x: tensor<5x2x32xf16>, %w: tensor<8x32xf16>, %h: tensor<2x8xf16>, %c: tensor<2x8xf16>) -> (tensor<2x8xf16>, tensor<2x8xf16>) attributes {tcp.target = "cuda"} {
  %0:2 = tcp.scan trips 5 reverse carried(%c, %h : tensor<2x8xf16>, tensor<2x8xf16>) sliced(%x : tensor<5x2x32xf16>) invariant(%w : tensor<8x32xf16>) {
  ^bb0(%cell: tensor<2x8xf16>, %hidden: tensor<2x8xf16>, %element: tensor<2x32xf16>, %weights: tensor<8x32xf16>):
    %1 = tcp.matmul %hidden, %weights : tensor<2x8xf16>, tensor<8x32xf16> -> tensor<2x32xf16>
    %2 = tcp.add %element, %1 : tensor<2x32xf16>, tensor<2x32xf16> -> tensor<2x32xf16>
    %g0 = tcp.slice %2 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x32xf16> -> tensor<2x8xf16>
    %g1 = tcp.slice %2 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 8>, strides = array<i64: 1, 1>} : tensor<2x32xf16> -> tensor<2x8xf16>
    %g2 = tcp.slice %2 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 16>, strides = array<i64: 1, 1>} : tensor<2x32xf16> -> tensor<2x8xf16>
    %g3 = tcp.slice %2 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 24>, strides = array<i64: 1, 1>} : tensor<2x32xf16> -> tensor<2x8xf16>
    %3 = tcp.sigmoid %g1 : tensor<2x8xf16> -> tensor<2x8xf16>
    %4 = tcp.mul %cell, %3 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %5 = tcp.sigmoid %g0 : tensor<2x8xf16> -> tensor<2x8xf16>
    %6 = tcp.tanh %g2 : tensor<2x8xf16> -> tensor<2x8xf16>
    %7 = tcp.mul %6, %5 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %8 = tcp.add %7, %4 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %9 = tcp.sigmoid %g3 : tensor<2x8xf16> -> tensor<2x8xf16>
    %10 = tcp.tanh %8 : tensor<2x8xf16> -> tensor<2x8xf16>
    %11 = tcp.mul %10, %9 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    tcp.yield %8, %11 : tensor<2x8xf16>, tensor<2x8xf16>
  } -> tensor<2x8xf16>, tensor<2x8xf16>
  return %0#0, %0#1 : tensor<2x8xf16>, tensor<2x8xf16>
}

// -----

// CHECK-LABEL: func.func @gru(
// CHECK: tcp.isolated_group %{{.*}} attributes {anchor = "recurrent", pattern = "gru"}
// CHECK: : tensor<5x2x24xf16>, tensor<8x24xf16>, tensor<1x8xf16>, tensor<2x8xf16> -> tensor<5x2x8xf16>
// CUDNN: cudnn.recurrent gru given(%{{.*}}) weights(%{{.*}}) hidden(%arg3 : {{.*}}) bias(%arg2 : {{.*}}) -> y
func.func @gru(%x: tensor<5x2x24xf16>, %w: tensor<8x24xf16>, %b: tensor<1x8xf16>, %h: tensor<2x8xf16>) -> tensor<5x2x8xf16> attributes {tcp.target = "cuda"} {
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2x8xf16>) sliced(%x : tensor<5x2x24xf16>) invariant(%w, %b : tensor<8x24xf16>, tensor<1x8xf16>) {
  ^bb0(%hidden: tensor<2x8xf16>, %element: tensor<2x24xf16>, %weights: tensor<8x24xf16>, %bias: tensor<1x8xf16>):
    %1 = tcp.matmul %hidden, %weights : tensor<2x8xf16>, tensor<8x24xf16> -> tensor<2x24xf16>
    %p0 = tcp.slice %1 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %p1 = tcp.slice %1 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 8>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %p2 = tcp.slice %1 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 16>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %g0 = tcp.slice %element {sizes = array<i64: 2, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %g1 = tcp.slice %element {sizes = array<i64: 2, 8>, starts = array<i64: 0, 8>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %g2 = tcp.slice %element {sizes = array<i64: 2, 8>, starts = array<i64: 0, 16>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %2 = tcp.add %g0, %p0 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %3 = tcp.sigmoid %2 : tensor<2x8xf16> -> tensor<2x8xf16>
    %4 = tcp.add %g1, %p1 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %5 = tcp.sigmoid %4 : tensor<2x8xf16> -> tensor<2x8xf16>
    %11 = tcp.add %p2, %bias : tensor<2x8xf16>, tensor<1x8xf16> -> tensor<2x8xf16>
    %6 = tcp.mul %3, %11 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %7 = tcp.add %g2, %6 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %8 = tcp.tanh %7 : tensor<2x8xf16> -> tensor<2x8xf16>
    %9 = tcp.sub %hidden, %8 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %10 = tcp.mul %5, %9 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %12 = tcp.add %8, %10 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    tcp.yield %12, %12 : tensor<2x8xf16>, tensor<2x8xf16>
  } -> tensor<2x8xf16>, tensor<5x2x8xf16>
  return %0#1 : tensor<5x2x8xf16>
}

// -----

// Without biases.
// CHECK-LABEL: func.func @gru_plain(
// CHECK: pattern = "gru"
func.func @gru_plain(%x: tensor<5x2x24xf16>, %w: tensor<8x24xf16>, %h: tensor<2x8xf16>) -> tensor<5x2x8xf16> attributes {tcp.target = "cuda"} {
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2x8xf16>) sliced(%x : tensor<5x2x24xf16>) invariant(%w : tensor<8x24xf16>) {
  ^bb0(%hidden: tensor<2x8xf16>, %element: tensor<2x24xf16>, %weights: tensor<8x24xf16>):
    %1 = tcp.matmul %hidden, %weights : tensor<2x8xf16>, tensor<8x24xf16> -> tensor<2x24xf16>
    %p0 = tcp.slice %1 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %p1 = tcp.slice %1 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 8>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %p2 = tcp.slice %1 {sizes = array<i64: 2, 8>, starts = array<i64: 0, 16>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %g0 = tcp.slice %element {sizes = array<i64: 2, 8>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %g1 = tcp.slice %element {sizes = array<i64: 2, 8>, starts = array<i64: 0, 8>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %g2 = tcp.slice %element {sizes = array<i64: 2, 8>, starts = array<i64: 0, 16>, strides = array<i64: 1, 1>} : tensor<2x24xf16> -> tensor<2x8xf16>
    %2 = tcp.add %g0, %p0 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %3 = tcp.sigmoid %2 : tensor<2x8xf16> -> tensor<2x8xf16>
    %4 = tcp.add %g1, %p1 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %5 = tcp.sigmoid %4 : tensor<2x8xf16> -> tensor<2x8xf16>
    %6 = tcp.mul %3, %p2 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %7 = tcp.add %g2, %6 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %8 = tcp.tanh %7 : tensor<2x8xf16> -> tensor<2x8xf16>
    %9 = tcp.sub %hidden, %8 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %10 = tcp.mul %5, %9 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    %12 = tcp.add %8, %10 : tensor<2x8xf16>, tensor<2x8xf16> -> tensor<2x8xf16>
    tcp.yield %12, %12 : tensor<2x8xf16>, tensor<2x8xf16>
  } -> tensor<2x8xf16>, tensor<5x2x8xf16>
  return %0#1 : tensor<5x2x8xf16>
}

// -----

// CHECK-LABEL: func.func @rnn_tanh(
// CHECK: pattern = "rnn_tanh"
// CUDNN: cudnn.recurrent rnn_tanh
func.func @rnn_tanh(%x: tensor<5x2x8xf32>, %w: tensor<8x8xf32>, %h: tensor<2x8xf32>) -> tensor<5x2x8xf32> attributes {tcp.target = "cuda"} {
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2x8xf32>) sliced(%x : tensor<5x2x8xf32>) invariant(%w : tensor<8x8xf32>) {
  ^bb0(%state: tensor<2x8xf32>, %element: tensor<2x8xf32>, %weights: tensor<8x8xf32>):
    %1 = tcp.matmul %state, %weights : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %2 = tcp.add %1, %element : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
    %3 = tcp.tanh %2 : tensor<2x8xf32> -> tensor<2x8xf32>
    tcp.yield %3, %3 : tensor<2x8xf32>, tensor<2x8xf32>
  } -> tensor<2x8xf32>, tensor<5x2x8xf32>
  return %0#1 : tensor<5x2x8xf32>
}

// -----

// CHECK-LABEL: func.func @rnn_relu(
// CHECK: pattern = "rnn_relu"
// CUDNN: cudnn.recurrent rnn_relu
func.func @rnn_relu(%x: tensor<5x2x8xf32>, %w: tensor<8x8xf32>, %h: tensor<2x8xf32>) -> tensor<5x2x8xf32> attributes {tcp.target = "cuda"} {
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2x8xf32>) sliced(%x : tensor<5x2x8xf32>) invariant(%w : tensor<8x8xf32>) {
  ^bb0(%state: tensor<2x8xf32>, %element: tensor<2x8xf32>, %weights: tensor<8x8xf32>):
    %1 = tcp.matmul %state, %weights : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %2 = tcp.add %1, %element : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
    %3 = tcp.clamp %2 {min_float = 0.0 : f32} : tensor<2x8xf32> -> tensor<2x8xf32>
    tcp.yield %3, %3 : tensor<2x8xf32>, tensor<2x8xf32>
  } -> tensor<2x8xf32>, tensor<5x2x8xf32>
  return %0#1 : tensor<5x2x8xf32>
}

// -----

// CHECK-LABEL: func.func @cpu(
// CHECK-NOT: tcp.isolated_group
func.func @cpu(%x: tensor<5x2x8xf32>, %w: tensor<8x8xf32>, %h: tensor<2x8xf32>) -> tensor<5x2x8xf32> attributes {tcp.target = "cpu"} {
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2x8xf32>) sliced(%x : tensor<5x2x8xf32>) invariant(%w : tensor<8x8xf32>) {
  ^bb0(%state: tensor<2x8xf32>, %element: tensor<2x8xf32>, %weights: tensor<8x8xf32>):
    %1 = tcp.matmul %state, %weights : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %2 = tcp.add %1, %element : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
    %3 = tcp.tanh %2 : tensor<2x8xf32> -> tensor<2x8xf32>
    tcp.yield %3, %3 : tensor<2x8xf32>, tensor<2x8xf32>
  } -> tensor<2x8xf32>, tensor<5x2x8xf32>
  return %0#1 : tensor<5x2x8xf32>
}

// -----

func.func @formulas(%x: tensor<5x2x8xf32>, %w: tensor<8x8xf32>, %h: tensor<2x8xf32>) -> tensor<5x2x8xf32> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{not a recurrent layer: expects the formulas of an LSTM, a GRU or an RNN}}
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2x8xf32>) sliced(%x : tensor<5x2x8xf32>) invariant(%w : tensor<8x8xf32>) {
  ^bb0(%state: tensor<2x8xf32>, %element: tensor<2x8xf32>, %weights: tensor<8x8xf32>):
    %1 = tcp.matmul %state, %weights : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %2 = tcp.add %1, %element : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
    %3 = tcp.sigmoid %2 : tensor<2x8xf32> -> tensor<2x8xf32>
    tcp.yield %3, %3 : tensor<2x8xf32>, tensor<2x8xf32>
  } -> tensor<2x8xf32>, tensor<5x2x8xf32>
  return %0#1 : tensor<5x2x8xf32>
}

// -----

func.func @no_product(%x: tensor<5x2x8xf32>, %h: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{not a recurrent layer: expects one product, of a state and a matrix that all steps share, a state of at most two parts, and one tensor with an element for each step}}
  %0 = tcp.scan trips 5 carried(%h : tensor<2x8xf32>) sliced(%x : tensor<5x2x8xf32>) {
  ^bb0(%state: tensor<2x8xf32>, %element: tensor<2x8xf32>):
    %1 = tcp.add %state, %element : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
    tcp.yield %1 : tensor<2x8xf32>
  } -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

func.func @outputs(%x: tensor<5x2x8xf32>, %w: tensor<8x8xf32>, %h: tensor<2x8xf32>) -> tensor<5x2x8xf32> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{not a recurrent layer: expects no output but the hidden state}}
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2x8xf32>) sliced(%x : tensor<5x2x8xf32>) invariant(%w : tensor<8x8xf32>) {
  ^bb0(%state: tensor<2x8xf32>, %element: tensor<2x8xf32>, %weights: tensor<8x8xf32>):
    %1 = tcp.matmul %state, %weights : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %2 = tcp.add %1, %element : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
    %3 = tcp.tanh %2 : tensor<2x8xf32> -> tensor<2x8xf32>
    tcp.yield %3, %2 : tensor<2x8xf32>, tensor<2x8xf32>
  } -> tensor<2x8xf32>, tensor<5x2x8xf32>
  return %0#1 : tensor<5x2x8xf32>
}

// -----

func.func @type(%x: tensor<5x2x8xf64>, %w: tensor<8x8xf64>, %h: tensor<2x8xf64>) -> tensor<5x2x8xf64> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{not a recurrent layer: expects all tensors to be of f32, f16 or bf16}}
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2x8xf64>) sliced(%x : tensor<5x2x8xf64>) invariant(%w : tensor<8x8xf64>) {
  ^bb0(%state: tensor<2x8xf64>, %element: tensor<2x8xf64>, %weights: tensor<8x8xf64>):
    %1 = tcp.matmul %state, %weights : tensor<2x8xf64>, tensor<8x8xf64> -> tensor<2x8xf64>
    %2 = tcp.add %1, %element : tensor<2x8xf64>, tensor<2x8xf64> -> tensor<2x8xf64>
    %3 = tcp.tanh %2 : tensor<2x8xf64> -> tensor<2x8xf64>
    tcp.yield %3, %3 : tensor<2x8xf64>, tensor<2x8xf64>
  } -> tensor<2x8xf64>, tensor<5x2x8xf64>
  return %0#1 : tensor<5x2x8xf64>
}

// -----

func.func @steps(%x: tensor<1x2x8xf32>, %w: tensor<8x8xf32>, %h: tensor<2x8xf32>) -> tensor<1x2x8xf32> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{not a recurrent layer: expects at least two steps}}
  %0:2 = tcp.scan trips 1 carried(%h : tensor<2x8xf32>) sliced(%x : tensor<1x2x8xf32>) invariant(%w : tensor<8x8xf32>) {
  ^bb0(%state: tensor<2x8xf32>, %element: tensor<2x8xf32>, %weights: tensor<8x8xf32>):
    %1 = tcp.matmul %state, %weights : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
    %2 = tcp.add %1, %element : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32>
    %3 = tcp.tanh %2 : tensor<2x8xf32> -> tensor<2x8xf32>
    tcp.yield %3, %3 : tensor<2x8xf32>, tensor<2x8xf32>
  } -> tensor<2x8xf32>, tensor<1x2x8xf32>
  return %0#1 : tensor<1x2x8xf32>
}

// -----

func.func @rows(%x: tensor<5x2x7xf32>, %w: tensor<7x7xf32>, %h: tensor<2x7xf32>) -> tensor<5x2x7xf32> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{not a recurrent layer: expects a hidden state of a multiple of 16 bytes, but got 28}}
  %0:2 = tcp.scan trips 5 carried(%h : tensor<2x7xf32>) sliced(%x : tensor<5x2x7xf32>) invariant(%w : tensor<7x7xf32>) {
  ^bb0(%state: tensor<2x7xf32>, %element: tensor<2x7xf32>, %weights: tensor<7x7xf32>):
    %1 = tcp.matmul %state, %weights : tensor<2x7xf32>, tensor<7x7xf32> -> tensor<2x7xf32>
    %2 = tcp.add %1, %element : tensor<2x7xf32>, tensor<2x7xf32> -> tensor<2x7xf32>
    %3 = tcp.tanh %2 : tensor<2x7xf32> -> tensor<2x7xf32>
    tcp.yield %3, %3 : tensor<2x7xf32>, tensor<2x7xf32>
  } -> tensor<2x7xf32>, tensor<5x2x7xf32>
  return %0#1 : tensor<5x2x7xf32>
}

// -----

func.func @traffic(%x: tensor<5x512x512xf32>, %w: tensor<512x512xf32>, %h: tensor<512x512xf32>) -> tensor<5x512x512xf32> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{not a recurrent layer: its kernels would read 67108864 bytes of weights in each step}}
  %0:2 = tcp.scan trips 5 carried(%h : tensor<512x512xf32>) sliced(%x : tensor<5x512x512xf32>) invariant(%w : tensor<512x512xf32>) {
  ^bb0(%state: tensor<512x512xf32>, %element: tensor<512x512xf32>, %weights: tensor<512x512xf32>):
    %1 = tcp.matmul %state, %weights : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
    %2 = tcp.add %1, %element : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
    %3 = tcp.tanh %2 : tensor<512x512xf32> -> tensor<512x512xf32>
    tcp.yield %3, %3 : tensor<512x512xf32>, tensor<512x512xf32>
  } -> tensor<512x512xf32>, tensor<5x512x512xf32>
  return %0#1 : tensor<5x512x512xf32>
}

// -----

func.func @indices(%x: tensor<70000x8x4096xbf16>, %w: tensor<4096x4096xbf16>, %h: tensor<8x4096xbf16>) -> tensor<70000x8x4096xbf16> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{not a recurrent layer: its kernels have 32-bit indices}}
  %0:2 = tcp.scan trips 70000 carried(%h : tensor<8x4096xbf16>) sliced(%x : tensor<70000x8x4096xbf16>) invariant(%w : tensor<4096x4096xbf16>) {
  ^bb0(%state: tensor<8x4096xbf16>, %element: tensor<8x4096xbf16>, %weights: tensor<4096x4096xbf16>):
    %1 = tcp.matmul %state, %weights : tensor<8x4096xbf16>, tensor<4096x4096xbf16> -> tensor<8x4096xbf16>
    %2 = tcp.add %1, %element : tensor<8x4096xbf16>, tensor<8x4096xbf16> -> tensor<8x4096xbf16>
    %3 = tcp.tanh %2 : tensor<8x4096xbf16> -> tensor<8x4096xbf16>
    tcp.yield %3, %3 : tensor<8x4096xbf16>, tensor<8x4096xbf16>
  } -> tensor<8x4096xbf16>, tensor<70000x8x4096xbf16>
  return %0#1 : tensor<70000x8x4096xbf16>
}

// -----

func.func @empty(%x: tensor<5x0x8xf32>, %w: tensor<8x8xf32>, %h: tensor<0x8xf32>) -> tensor<5x0x8xf32> attributes {tcp.target = "cuda"} {
  // expected-remark @+1 {{not a recurrent layer: expects tensors that are not empty}}
  %0:2 = tcp.scan trips 5 carried(%h : tensor<0x8xf32>) sliced(%x : tensor<5x0x8xf32>) invariant(%w : tensor<8x8xf32>) {
  ^bb0(%state: tensor<0x8xf32>, %element: tensor<0x8xf32>, %weights: tensor<8x8xf32>):
    %1 = tcp.matmul %state, %weights : tensor<0x8xf32>, tensor<8x8xf32> -> tensor<0x8xf32>
    %2 = tcp.add %1, %element : tensor<0x8xf32>, tensor<0x8xf32> -> tensor<0x8xf32>
    %3 = tcp.tanh %2 : tensor<0x8xf32> -> tensor<0x8xf32>
    tcp.yield %3, %3 : tensor<0x8xf32>, tensor<0x8xf32>
  } -> tensor<0x8xf32>, tensor<5x0x8xf32>
  return %0#1 : tensor<5x0x8xf32>
}
