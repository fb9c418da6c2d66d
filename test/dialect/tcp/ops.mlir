// Every op: parsed, printed, and parsed again.
// RUN: convoy-opt %s --verify-roundtrip | filecheck %s
// RUN: convoy-opt %s --mlir-print-op-generic | convoy-opt | filecheck %s

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<2x4xf32>, %i: tensor<4xi32>) {
  // CHECK: tcp.abs %{{.*}} : tensor<2x4xf32> -> tensor<2x4xf32>
  %0 = tcp.abs %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.abs %{{.*}} : tensor<4xi32> -> tensor<4xi32>
  %1 = tcp.abs %i : tensor<4xi32> -> tensor<4xi32>
  // CHECK: tcp.ceil
  %2 = tcp.ceil %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.cos
  %3 = tcp.cos %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.erf
  %4 = tcp.erf %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.exp
  %5 = tcp.exp %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.floor
  %6 = tcp.floor %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.log
  %7 = tcp.log %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.neg
  %8 = tcp.neg %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.reciprocal
  %9 = tcp.reciprocal %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.round
  %10 = tcp.round %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.rsqrt
  %11 = tcp.rsqrt %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.sigmoid
  %12 = tcp.sigmoid %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.silu
  %13 = tcp.silu %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.sin
  %14 = tcp.sin %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.sqrt
  %15 = tcp.sqrt %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.tanh
  %16 = tcp.tanh %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.gelu %{{.*}} : tensor<2x4xf32>
  %17 = tcp.gelu %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.gelu %{{.*}} {approximate = "tanh"}
  %18 = tcp.gelu %x {approximate = "tanh"} : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.elu %{{.*}} {alpha = 1.000000e+00 : f64}
  %19 = tcp.elu %x {alpha = 1.0 : f64} : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.leaky_relu %{{.*}} {negative_slope = 1.000000e-02 : f64}
  %20 = tcp.leaky_relu %x {negative_slope = 0.01 : f64} : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.clamp %{{.*}} {max_float = 6.000000e+00 : f32, min_float = 0.000000e+00 : f32}
  %21 = tcp.clamp %x {max_float = 6.0 : f32, min_float = 0.0 : f32} : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.expm1
  %23 = tcp.expm1 %x : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.polynomial %{{.*}} {coefficients = array<f64: 1.000000e+00, 0.000000e+00, 5.000000e-01>}
  %24 = tcp.polynomial %x {coefficients = array<f64: 1.0, 0.0, 0.5>} : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: tcp.cast %{{.*}} : tensor<2x4xf32> -> tensor<2x4xi8>
  %22 = tcp.cast %x : tensor<2x4xf32> -> tensor<2x4xi8>
  return
}

// CHECK-LABEL: func.func @binary_and_ternary
func.func @binary_and_ternary(%a: tensor<2x4xf16>, %b: tensor<1x4xf16>, %c: tensor<2x1xi1>) {
  // CHECK: tcp.add %{{.*}}, %{{.*}} : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  %0 = tcp.add %a, %b : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  // CHECK: tcp.sub
  %1 = tcp.sub %a, %b : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  // CHECK: tcp.mul
  %2 = tcp.mul %a, %b : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  // CHECK: tcp.div
  %3 = tcp.div %a, %b : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  // CHECK: tcp.maximum
  %4 = tcp.maximum %a, %b : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  // CHECK: tcp.minimum
  %5 = tcp.minimum %a, %b : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  // CHECK: tcp.pow
  %6 = tcp.pow %a, %b : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  // CHECK: tcp.copysign %{{.*}}, %{{.*}} : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  %9 = tcp.copysign %a, %b : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  // CHECK: tcp.compare %{{.*}}, %{{.*}} {predicate = "ge"} : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xi1>
  %7 = tcp.compare %a, %b {predicate = "ge"} : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xi1>
  // CHECK: tcp.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x1xi1>, tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  %8 = tcp.select %c, %a, %b : tensor<2x1xi1>, tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  return
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x1: tensor<1x8x16xf32>, %w1: tensor<4x8x3xf32>, %x2: tensor<1x9x9x4xbf16>, %w2: tensor<6x3x3x2xbf16>, %x3: tensor<1x8x4x8x8xf32>, %w3: tensor<4x8x1x1x1xf32>,
                  %xt: tensor<1x4x8x8xf32>, %wt: tensor<4x3x2x2xf32>, %g2: tensor<1x7x8x6xbf16>, %a: tensor<8x128x64xf32>, %b: tensor<1x64x32xf32>) {
  // CHECK: tcp.conv1d %{{.*}}, %{{.*}} {dilation = array<i64: 1>, pad = array<i64: 1, 0>, stride = array<i64: 1>} : tensor<1x8x16xf32>, tensor<4x8x3xf32> -> tensor<1x4x15xf32>
  %0 = tcp.conv1d %x1, %w1 {dilation = array<i64: 1>, pad = array<i64: 1, 0>, stride = array<i64: 1>} : tensor<1x8x16xf32>, tensor<4x8x3xf32> -> tensor<1x4x15xf32>
  // CHECK: tcp.conv2d %{{.*}}, %{{.*}} {channels_last, dilation = array<i64: 1, 2>, groups = 2 : i64, pad = array<i64: 1, 1, 2, 2>, stride = array<i64: 2, 1>}
  %1 = tcp.conv2d %x2, %w2 {channels_last, dilation = array<i64: 1, 2>, groups = 2 : i64, pad = array<i64: 1, 1, 2, 2>, stride = array<i64: 2, 1>}
      : tensor<1x9x9x4xbf16>, tensor<6x3x3x2xbf16> -> tensor<1x5x9x6xbf16>
  // CHECK: tcp.conv3d
  %2 = tcp.conv3d %x3, %w3 {dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>}
      : tensor<1x8x4x8x8xf32>, tensor<4x8x1x1x1xf32> -> tensor<1x4x4x8x8xf32>
  // CHECK: tcp.conv_transpose %{{.*}}, %{{.*}} {dilation = array<i64: 1, 1>, groups = 2 : i64, output_pad = array<i64: 0, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
  %3 = tcp.conv_transpose %xt, %wt {dilation = array<i64: 1, 1>, groups = 2 : i64, output_pad = array<i64: 0, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32> -> tensor<1x6x16x17xf32>
  // CHECK: tcp.conv_backward_data %{{.*}}, %{{.*}} {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32> -> tensor<1x3x15x14xf32>
  %5 = tcp.conv_backward_data %xt, %wt {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
      : tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32> -> tensor<1x3x15x14xf32>
  // CHECK: tcp.conv_backward_filter %{{.*}}, %{{.*}} {channels_last, dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x9x9x4xbf16>, tensor<1x7x8x6xbf16> -> tensor<6x3x2x2xbf16>
  %6 = tcp.conv_backward_filter %x2, %g2 {channels_last, dilation = array<i64: 1, 1>, groups = 2 : i64, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : tensor<1x9x9x4xbf16>, tensor<1x7x8x6xbf16> -> tensor<6x3x2x2xbf16>
  // CHECK: tcp.matmul %{{.*}}, %{{.*}} : tensor<8x128x64xf32>, tensor<1x64x32xf32> -> tensor<8x128x32xf32>
  %4 = tcp.matmul %a, %b : tensor<8x128x64xf32>, tensor<1x64x32xf32> -> tensor<8x128x32xf32>
  return
}

// CHECK-LABEL: func.func @pooling_and_reductions
func.func @pooling_and_reductions(%x: tensor<1x8x9x9xf32>) {
  // CHECK: tcp.max_pool %{{.*}} {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}
  %0 = tcp.max_pool %x {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x8x9x9xf32> -> tensor<1x8x5x5xf32>
  // CHECK: tcp.max_pool_indices %{{.*}}, %{{.*}} {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x8x9x9xf32>, tensor<1x8x5x5xf32> -> tensor<1x8x5x5xi64>
  %7 = tcp.max_pool_indices %x, %0 {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x8x9x9xf32>, tensor<1x8x5x5xf32> -> tensor<1x8x5x5xi64>
  // CHECK: tcp.max_pool_backward %{{.*}}, %{{.*}} {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x8x5x5xf32>, tensor<1x8x5x5xi64> -> tensor<1x8x9x9xf32>
  %8 = tcp.max_pool_backward %0, %7 {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>} : tensor<1x8x5x5xf32>, tensor<1x8x5x5xi64> -> tensor<1x8x9x9xf32>
  // CHECK: tcp.avg_pool %{{.*}} {ceil_pad = array<i64: 1, 1>, channels_last, count_include_pad, divisor = 3 : i64, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
  %1 = tcp.avg_pool %x {ceil_pad = array<i64: 1, 1>, channels_last, count_include_pad, divisor = 3 : i64, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : tensor<1x8x9x9xf32> -> tensor<1x4x5x9xf32>
  // CHECK: tcp.reduce_sum %{{.*}} {dims = array<i64: 2, 3>} : tensor<1x8x9x9xf32> -> tensor<1x8x1x1xf32>
  %2 = tcp.reduce_sum %x {dims = array<i64: 2, 3>} : tensor<1x8x9x9xf32> -> tensor<1x8x1x1xf32>
  // CHECK: tcp.reduce_mean
  %3 = tcp.reduce_mean %x {dims = array<i64: 1>} : tensor<1x8x9x9xf32> -> tensor<1x1x9x9xf32>
  // CHECK: tcp.reduce_max
  %4 = tcp.reduce_max %x {dims = array<i64: 1>} : tensor<1x8x9x9xf32> -> tensor<1x1x9x9xf32>
  // CHECK: tcp.softmax %{{.*}} {dim = 1 : i64}
  %5 = tcp.softmax %x {dim = 1 : i64} : tensor<1x8x9x9xf32> -> tensor<1x8x9x9xf32>
  // CHECK: tcp.layer_norm %{{.*}} {dims = array<i64: 2, 3>, epsilon = 1.000000e-05 : f64}
  %6 = tcp.layer_norm %x {dims = array<i64: 2, 3>, epsilon = 1.0e-5 : f64} : tensor<1x8x9x9xf32> -> tensor<1x8x9x9xf32>
  return
}

// CHECK-LABEL: func.func @shape
func.func @shape(%x: tensor<2x3xf32>, %y: tensor<1x3xi64>) {
  // CHECK: tcp.reshape %{{.*}} : tensor<2x3xf32> -> tensor<6x1xf32>
  %0 = tcp.reshape %x : tensor<2x3xf32> -> tensor<6x1xf32>
  // CHECK: tcp.transpose %{{.*}} {perm = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  %1 = tcp.transpose %x {perm = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK: tcp.slice %{{.*}} {sizes = array<i64: 1, 2>, starts = array<i64: 1, 0>, strides = array<i64: 1, 2>} : tensor<2x3xf32> -> tensor<1x2xf32>
  %2 = tcp.slice %x {sizes = array<i64: 1, 2>, starts = array<i64: 1, 0>, strides = array<i64: 1, 2>} : tensor<2x3xf32> -> tensor<1x2xf32>
  // CHECK: tcp.concat %{{.*}}, %{{.*}}, %{{.*}} {dim = 0 : i64} : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32> -> tensor<6x3xf32>
  %3 = tcp.concat %x, %x, %x {dim = 0 : i64} : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32> -> tensor<6x3xf32>
  // CHECK: tcp.pad %{{.*}} {high = array<i64: 0, -1>, interior = array<i64: 1, 1>, low = array<i64: 2, -1>, value = 0xFFF0000000000000 : f64} : tensor<2x3xf32> -> tensor<5x3xf32>
  %4 = tcp.pad %x {high = array<i64: 0, -1>, interior = array<i64: 1, 1>, low = array<i64: 2, -1>, value = 0xFFF0000000000000 : f64} : tensor<2x3xf32> -> tensor<5x3xf32>
  // CHECK: tcp.broadcast %{{.*}} : tensor<1x3xi64> -> tensor<4x3xi64>
  %5 = tcp.broadcast %y : tensor<1x3xi64> -> tensor<4x3xi64>
  // CHECK: tcp.reverse %{{.*}} {dims = array<i64: 0, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  %6 = tcp.reverse %x {dims = array<i64: 0, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @index
func.func @index(%x: tensor<5x4xf32>, %i: tensor<2x3xi64>, %j: tensor<5x9xi32>, %s: tensor<i32>) {
  // CHECK: tcp.index_select %{{.*}}, %{{.*}} {dim = 0 : index} : tensor<5x4xf32>, tensor<2x3xi64> -> tensor<2x3x4xf32>
  %0 = tcp.index_select %x, %i {dim = 0 : index} : tensor<5x4xf32>, tensor<2x3xi64> -> tensor<2x3x4xf32>
  // CHECK: tcp.index_select %{{.*}}, %{{.*}} {dim = 1 : index} : tensor<5x4xf32>, tensor<i32> -> tensor<5xf32>
  %1 = tcp.index_select %x, %s {dim = 1 : index} : tensor<5x4xf32>, tensor<i32> -> tensor<5xf32>
  // CHECK: tcp.gather %{{.*}}, %{{.*}} {dim = 1 : index} : tensor<5x4xf32>, tensor<5x9xi32> -> tensor<5x9xf32>
  %2 = tcp.gather %x, %j {dim = 1 : index} : tensor<5x4xf32>, tensor<5x9xi32> -> tensor<5x9xf32>
  // CHECK: tcp.scatter %{{.*}}, %{{.*}}, %{{.*}} {dim = 1 : index, kind = "add"} : tensor<5x4xf32>, tensor<5x9xi32>, tensor<5x9xf32> -> tensor<5x4xf32>
  %3 = tcp.scatter %x, %j, %2 {dim = 1 : index, kind = "add"} : tensor<5x4xf32>, tensor<5x9xi32>, tensor<5x9xf32> -> tensor<5x4xf32>
  // CHECK: tcp.argsort %{{.*}} {descending} : tensor<5x4xf32> -> tensor<5x4xi64>
  %4 = tcp.argsort %x {descending} : tensor<5x4xf32> -> tensor<5x4xi64>
  // CHECK: tcp.cumsum %{{.*}} {dim = 1 : index} : tensor<5x4xf32> -> tensor<5x4xf32>
  %5 = tcp.cumsum %x {dim = 1 : index} : tensor<5x4xf32> -> tensor<5x4xf32>
  // CHECK: tcp.cumprod %{{.*}} {dim = 0 : index} : tensor<5x9xi32> -> tensor<5x9xi32>
  %6 = tcp.cumprod %j {dim = 0 : index} : tensor<5x9xi32> -> tensor<5x9xi32>
  return
}

// CHECK-LABEL: func.func @integers
func.func @integers(%a: tensor<4x8xi32>, %b: tensor<1x8xi32>) {
  // CHECK: tcp.bitwise_and %{{.*}}, %{{.*}} : tensor<4x8xi32>, tensor<1x8xi32> -> tensor<4x8xi32>
  %0 = tcp.bitwise_and %a, %b : tensor<4x8xi32>, tensor<1x8xi32> -> tensor<4x8xi32>
  // CHECK: tcp.bitwise_or
  %1 = tcp.bitwise_or %a, %b : tensor<4x8xi32>, tensor<1x8xi32> -> tensor<4x8xi32>
  // CHECK: tcp.bitwise_xor
  %2 = tcp.bitwise_xor %a, %b : tensor<4x8xi32>, tensor<1x8xi32> -> tensor<4x8xi32>
  // CHECK: tcp.shift_left
  %3 = tcp.shift_left %a, %b : tensor<4x8xi32>, tensor<1x8xi32> -> tensor<4x8xi32>
  // CHECK: tcp.shift_right
  %4 = tcp.shift_right %a, %b : tensor<4x8xi32>, tensor<1x8xi32> -> tensor<4x8xi32>
  // CHECK: tcp.gcd
  %5 = tcp.gcd %a, %b : tensor<4x8xi32>, tensor<1x8xi32> -> tensor<4x8xi32>
  return
}

// CHECK-LABEL: func.func @group
func.func @group(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: %[[G:.*]]:2 = tcp.isolated_group %{{.*}}, %{{.*}} {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<2x3xf32>):
  // CHECK: tcp.yield %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2x3xf32>
  // CHECK-NEXT: } : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>, tensor<2x3xf32>
  %0:2 = tcp.isolated_group %x, %y {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>):
    %1 = tcp.add %a, %b : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    tcp.yield %1, %a : tensor<2x3xf32>, tensor<2x3xf32>
  } : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>, tensor<2x3xf32>
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x6x16xf32>, %m: tensor<1x1x8x6xf32>) {
  // CHECK: tcp.attention %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 1.250000e-01 : f64} : tensor<1x4x8x16xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x16xf32> -> tensor<1x4x8x16xf32>
  %0 = tcp.attention %q, %k, %k {causal, scale = 0.125 : f64} : tensor<1x4x8x16xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x16xf32> -> tensor<1x4x8x16xf32>
  // CHECK: tcp.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} {scale = 1.250000e-01 : f64} : tensor<1x4x8x16xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x16xf32>, tensor<1x1x8x6xf32> -> tensor<1x4x8x16xf32>
  %1 = tcp.attention %q, %k, %k mask %m {scale = 0.125 : f64} : tensor<1x4x8x16xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x16xf32>, tensor<1x1x8x6xf32> -> tensor<1x4x8x16xf32>
  // CHECK: tcp.attention %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64, window = 3 : i64} : tensor<1x4x8x16xf32>
  %2 = tcp.attention %q, %k, %k {causal, scale = 0.125 : f64, softcap = 50.0 : f64, window = 3 : i64} : tensor<1x4x8x16xf32>, tensor<1x2x6x16xf32>, tensor<1x2x6x16xf32> -> tensor<1x4x8x16xf32>
  // CHECK: tcp.iota {dim = 1 : index} : tensor<2x4xi64>
  %3 = tcp.iota {dim = 1 : index} : tensor<2x4xi64>
  return
}

// CHECK-LABEL: func.func @scan
func.func @scan(%h: tensor<2x4xf32>, %x: tensor<5x2x4xf32>, %w: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<5x2x4xf32>) {
  // CHECK: %[[S:.*]]:2 = tcp.scan trips 5 reverse carried(%{{.*}} : tensor<2x4xf32>) sliced(%{{.*}} : tensor<5x2x4xf32>) invariant(%{{.*}} : tensor<4x4xf32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x4xf32>, %{{.*}}: tensor<2x4xf32>, %{{.*}}: tensor<4x4xf32>):
  // CHECK: tcp.yield %{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<2x4xf32>
  // CHECK-NEXT: } -> tensor<2x4xf32>, tensor<5x2x4xf32>
  %0:2 = tcp.scan trips 5 reverse carried(%h : tensor<2x4xf32>) sliced(%x : tensor<5x2x4xf32>) invariant(%w : tensor<4x4xf32>) {
  ^bb0(%state: tensor<2x4xf32>, %element: tensor<2x4xf32>, %weights: tensor<4x4xf32>):
    %1 = tcp.matmul %state, %weights : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    %2 = tcp.add %1, %element : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
    tcp.yield %2, %2 : tensor<2x4xf32>, tensor<2x4xf32>
  } -> tensor<2x4xf32>, tensor<5x2x4xf32>
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<5x2x4xf32>
}

// A scan may have a state only, or no state.
// CHECK-LABEL: func.func @scan_parts
func.func @scan_parts(%h: tensor<4xf32>, %x: tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>) {
  // CHECK: tcp.scan trips 3 carried(%{{.*}} : tensor<4xf32>) {
  %0 = tcp.scan trips 3 carried(%h : tensor<4xf32>) {
  ^bb0(%state: tensor<4xf32>):
    %2 = tcp.neg %state : tensor<4xf32> -> tensor<4xf32>
    tcp.yield %2 : tensor<4xf32>
  } -> tensor<4xf32>
  // CHECK: tcp.scan trips 5 sliced(%{{.*}} : tensor<5xf32>) attributes {note = "kept"} {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>):
  %1 = tcp.scan trips 5 sliced(%x : tensor<5xf32>) attributes {note = "kept"} {
  ^bb0(%element: tensor<f32>):
    %2 = tcp.neg %element : tensor<f32> -> tensor<f32>
    tcp.yield %2 : tensor<f32>
  } -> tensor<5xf32>
  return %0, %1 : tensor<4xf32>, tensor<5xf32>
}
