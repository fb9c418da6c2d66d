// RUN: convoy-opt %s --split-input-file --tcp-raise-attention | filecheck %s

// A softcap of 50, before a mask, as Gemma 2 writes it. The scale is that of the product.
// CHECK-LABEL: func.func @softcap
// CHECK-SAME: %[[Q:.*]]: tensor<2x4x32x64xf16>, %[[K:.*]]: tensor<2x4x64x32xf16>, %[[M:.*]]: tensor<1x1x32x32xf16>
// CHECK: tcp.attention %[[Q]], %{{.*}}, %[[Q]] mask %{{.*}} {scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64}
// CHECK-NOT: tcp.tanh
func.func @softcap(%q: tensor<2x4x32x64xf16>, %kt: tensor<2x4x64x32xf16>, %m: tensor<1x1x32x32xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %c = arith.constant dense<8.0> : tensor<1x1x1x1xf16>
  %d = arith.constant dense<50.0> : tensor<1x1x1x1xf16>
  %0 = tcp.matmul %q, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.div %0, %c : tensor<2x4x32x32xf16>, tensor<1x1x1x1xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.div %1, %d : tensor<2x4x32x32xf16>, tensor<1x1x1x1xf16> -> tensor<2x4x32x32xf16>
  %3 = tcp.tanh %2 : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %4 = tcp.mul %d, %3 : tensor<1x1x1x1xf16>, tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %5 = tcp.add %4, %m : tensor<2x4x32x32xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x32xf16>
  %6 = tcp.softmax %5 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %7 = tcp.matmul %6, %q : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %7 : tensor<2x4x32x64xf16>
}

// -----

// A query that is scaled before the product, and a tanh that nothing scales: a softcap of 1.
// CHECK-LABEL: func.func @one
// CHECK: tcp.attention %arg0, %{{.*}}, %arg0 {scale = 5.000000e-01 : f64, softcap = 1.000000e+00 : f64}
func.func @one(%q: tensor<2x4x32x64xf16>, %kt: tensor<2x4x64x32xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %c = arith.constant dense<0.5> : tensor<1x1x1x1xf16>
  %s = tcp.mul %q, %c : tensor<2x4x32x64xf16>, tensor<1x1x1x1xf16> -> tensor<2x4x32x64xf16>
  %0 = tcp.matmul %s, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.tanh %0 : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.softmax %1 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %3 = tcp.matmul %2, %q : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %3 : tensor<2x4x32x64xf16>
}

// -----

// A tanh of scores with a mask, a tanh of a tanh, and a negative factor of a tanh.
// CHECK-LABEL: func.func @other_tanh
// CHECK-NOT: tcp.attention
// CHECK-COUNT-3: tcp.softmax
func.func @other_tanh(%x: tensor<2x4x32x64xf16>, %kt: tensor<2x4x64x32xf16>, %m: tensor<1x1x32x32xf16>) -> (tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>) attributes {tcp.target = "cuda"} {
  %c = arith.constant dense<-2.0> : tensor<1x1x1x1xf16>
  %0 = tcp.matmul %x, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %1 = tcp.add %0, %m : tensor<2x4x32x32xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x32xf16>
  %2 = tcp.tanh %1 : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %3 = tcp.softmax %2 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %4 = tcp.matmul %3, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  %5 = tcp.matmul %4, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %6 = tcp.tanh %5 : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %7 = tcp.tanh %6 : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %8 = tcp.softmax %7 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %9 = tcp.matmul %8, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  %10 = tcp.matmul %9, %kt : tensor<2x4x32x64xf16>, tensor<2x4x64x32xf16> -> tensor<2x4x32x32xf16>
  %11 = tcp.tanh %10 : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %12 = tcp.mul %11, %c : tensor<2x4x32x32xf16>, tensor<1x1x1x1xf16> -> tensor<2x4x32x32xf16>
  %13 = tcp.softmax %12 {dim = 3 : i64} : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %14 = tcp.matmul %13, %x : tensor<2x4x32x32xf16>, tensor<2x4x32x64xf16> -> tensor<2x4x32x64xf16>
  return %4, %9, %14 : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>
}
