// RUN: convoy-opt %s --split-input-file --tcp-raise-activations --canonicalize | filecheck %s

// GPT-2: 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
// CHECK-LABEL: func.func @gelu_tanh
// CHECK-NEXT: %[[Y:.*]] = tcp.gelu %arg0 {approximate = "tanh"}
// CHECK-NEXT: return %[[Y]]
func.func @gelu_tanh(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %half = arith.constant dense<0.5> : tensor<1x1xf32>
  %cube = arith.constant dense<0.044715> : tensor<1x1xf32>
  %c = arith.constant dense<0.797884583> : tensor<1x1xf32>
  %0 = tcp.mul %x, %half : tensor<4x8xf32>, tensor<1x1xf32> -> tensor<4x8xf32>
  %1 = tcp.mul %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = tcp.mul %1, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = tcp.mul %2, %cube : tensor<4x8xf32>, tensor<1x1xf32> -> tensor<4x8xf32>
  %4 = tcp.add %x, %3 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = tcp.mul %4, %c : tensor<4x8xf32>, tensor<1x1xf32> -> tensor<4x8xf32>
  %6 = tcp.tanh %5 : tensor<4x8xf32> -> tensor<4x8xf32>
  %7 = tcp.add %6, %one : tensor<4x8xf32>, tensor<1x1xf32> -> tensor<4x8xf32>
  %8 = tcp.mul %0, %7 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return %8 : tensor<4x8xf32>
}

// -----

// Bloom: x * 0.5 * (1 + tanh(0.79788456 * x * (1 + 0.044715 * x * x))), with numbers of f16.
// CHECK-LABEL: func.func @gelu_tanh_f16
// CHECK-NEXT: tcp.gelu %arg0 {approximate = "tanh"}
func.func @gelu_tanh_f16(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %one = arith.constant dense<1.0> : tensor<1x1xf16>
  %half = arith.constant dense<0.5> : tensor<1x1xf16>
  %cube = arith.constant dense<0.044715> : tensor<1x1xf16>
  %c = arith.constant dense<0.79788456> : tensor<1x1xf16>
  %0 = tcp.mul %x, %half : tensor<4x8xf16>, tensor<1x1xf16> -> tensor<4x8xf16>
  %1 = tcp.mul %x, %c : tensor<4x8xf16>, tensor<1x1xf16> -> tensor<4x8xf16>
  %2 = tcp.mul %x, %cube : tensor<4x8xf16>, tensor<1x1xf16> -> tensor<4x8xf16>
  %3 = tcp.mul %2, %x : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x8xf16>
  %4 = tcp.add %one, %3 : tensor<1x1xf16>, tensor<4x8xf16> -> tensor<4x8xf16>
  %5 = tcp.mul %1, %4 : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x8xf16>
  %6 = tcp.tanh %5 : tensor<4x8xf16> -> tensor<4x8xf16>
  %7 = tcp.add %one, %6 : tensor<1x1xf16>, tensor<4x8xf16> -> tensor<4x8xf16>
  %8 = tcp.mul %0, %7 : tensor<4x8xf16>, tensor<4x8xf16> -> tensor<4x8xf16>
  return %8 : tensor<4x8xf16>
}

// -----

// (x * (1 + erf(x / sqrt(2)))) / 2, of an x that is a product itself.
// CHECK-LABEL: func.func @gelu_erf
// CHECK-NEXT: %[[X:.*]] = tcp.mul %arg0, %arg1
// CHECK-NEXT: tcp.gelu %[[X]] : tensor<4x8xf32> -> tensor<4x8xf32>
func.func @gelu_erf(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %two = arith.constant dense<2.0> : tensor<1x1xf32>
  %c = arith.constant dense<1.41421356> : tensor<1x1xf32>
  %x = tcp.mul %a, %b : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = tcp.div %x, %c : tensor<4x8xf32>, tensor<1x1xf32> -> tensor<4x8xf32>
  %2 = tcp.erf %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = tcp.add %2, %one : tensor<4x8xf32>, tensor<1x1xf32> -> tensor<4x8xf32>
  %4 = tcp.mul %x, %3 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = tcp.div %4, %two : tensor<4x8xf32>, tensor<1x1xf32> -> tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @silu
// CHECK-NEXT: tcp.silu %arg0
func.func @silu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tcp.sigmoid %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = tcp.mul %0, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// The gate of another value; another number; a value that is broadcast.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tcp.silu
// CHECK-NOT: tcp.gelu
// CHECK: return
func.func @others(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<1x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %half = arith.constant dense<0.5> : tensor<1x1xf32>
  %c = arith.constant dense<0.707> : tensor<1x1xf32>
  %0 = tcp.sigmoid %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = tcp.mul %0, %y : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = tcp.mul %x, %c : tensor<4x8xf32>, tensor<1x1xf32> -> tensor<4x8xf32>
  %3 = tcp.erf %2 : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = tcp.add %3, %one : tensor<4x8xf32>, tensor<1x1xf32> -> tensor<4x8xf32>
  %5 = tcp.mul %x, %half : tensor<4x8xf32>, tensor<1x1xf32> -> tensor<4x8xf32>
  %6 = tcp.mul %5, %4 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %7 = tcp.mul %0, %z : tensor<4x8xf32>, tensor<1x8xf32> -> tensor<4x8xf32>
  return %1, %6, %7 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
