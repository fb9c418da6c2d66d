// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @scan_c1(%h: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.scan' op expects 'trips' of at least 1, but got 0}}
  %0 = tcp.scan trips 0 carried(%h : tensor<4xf32>) {
  ^bb0(%state: tensor<4xf32>):
    tcp.yield %state : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

func.func @scan_c2(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{'tcp.scan' op expects sliced operands with 5 elements along dim 0, but got 'tensor<4x2xf32>'}}
  %0 = tcp.scan trips 5 sliced(%x : tensor<4x2xf32>) {
  ^bb0(%element: tensor<2xf32>):
    tcp.yield %element : tensor<2xf32>
  } -> tensor<5x2xf32>
  return
}

// -----

func.func @scan_c2_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'tcp.scan' op expects sliced operands with 5 elements along dim 0, but got 'tensor<f32>'}}
  %0 = tcp.scan trips 5 sliced(%x : tensor<f32>) {
  ^bb0(%element: tensor<f32>):
    tcp.yield %element : tensor<f32>
  } -> tensor<5xf32>
  return
}

// -----

func.func @scan_c3(%x: tensor<5x2xf32>) {
  // expected-error@+1 {{'tcp.scan' op expects block arguments of types 'tensor<2xf32>', but got 'tensor<5x2xf32>'}}
  %0 = tcp.scan trips 5 sliced(%x : tensor<5x2xf32>) {
  ^bb0(%element: tensor<5x2xf32>):
    tcp.yield %element : tensor<5x2xf32>
  } -> tensor<5x5x2xf32>
  return
}

// -----

func.func @scan_c4_end(%x: tensor<5x2xf32>) {
  // expected-error@+1 {{'tcp.scan' op expects a body that ends in 'tcp.yield'}}
  %0 = tcp.scan trips 5 sliced(%x : tensor<5x2xf32>) {
  ^bb0(%element: tensor<2xf32>):
    %1 = tcp.neg %element : tensor<2xf32> -> tensor<2xf32>
  } -> tensor<5x2xf32>
  return
}

// -----

func.func @scan_c4_state(%h: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.scan' op expects 'tcp.yield' with the state's types first: 'tensor<4xf32>', but got 'tensor<1xf32>'}}
  %0 = tcp.scan trips 5 carried(%h : tensor<4xf32>) {
  ^bb0(%state: tensor<4xf32>):
    %1 = tcp.reduce_sum %state {dims = array<i64: 0>} : tensor<4xf32> -> tensor<1xf32>
    tcp.yield %1 : tensor<1xf32>
  } -> tensor<4xf32>
  return
}

// -----

func.func @scan_c4_missing(%h: tensor<4xf32>) {
  // expected-error@+1 {{'tcp.scan' op expects 'tcp.yield' with the state's types first: 'tensor<4xf32>', but got }}
  %0 = tcp.scan trips 5 carried(%h : tensor<4xf32>) {
  ^bb0(%state: tensor<4xf32>):
    tcp.yield
  } -> tensor<4xf32>
  return
}

// -----

func.func @scan_c5(%x: tensor<5x2xf32>) {
  // expected-error@+1 {{'tcp.scan' op expects results of types 'tensor<5x2xf32>', but got 'tensor<2xf32>'}}
  %0 = tcp.scan trips 5 sliced(%x : tensor<5x2xf32>) {
  ^bb0(%element: tensor<2xf32>):
    tcp.yield %element : tensor<2xf32>
  } -> tensor<2xf32>
  return
}

// -----

// The body uses no values from above.
func.func @scan_isolated(%x: tensor<5x2xf32>, %y: tensor<2xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  %0 = "tcp.scan"(%x) <{trips = 5 : i64, operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0(%element: tensor<2xf32>):
    // expected-error@+1 {{using value defined outside the region}}
    "tcp.yield"(%y) : (tensor<2xf32>) -> ()
  }) : (tensor<5x2xf32>) -> tensor<5x2xf32>
  return
}
