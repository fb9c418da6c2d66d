// RUN: convoy-opt %s --tcp-fold-scale-into-conv | filecheck %s

// CHECK-LABEL: func.func @bias_scale_shift
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[B:[^:]*]]: {{[^,]*}}, %[[S:[^:]*]]: {{[^,]*}}, %[[T:[^:]*]]:
func.func @bias_scale_shift(%x: tensor<1x3x8x8xf32> {tcp.input = "x"}, %w: tensor<4x3x3x3xf32> {tcp.weight = "w"}, %b: tensor<1x4x1x1xf32> {tcp.weight = "b"},
                            %s: tensor<1x4x1x1xf32> {tcp.weight = "s"}, %t: tensor<1x4x1x1xf32> {tcp.weight = "t"}) -> tensor<1x4x6x6xf32> {
  // CHECK-NEXT: %[[R:.*]] = tcp.reshape %[[S]] : tensor<1x4x1x1xf32> -> tensor<4x1x1x1xf32>
  // CHECK-NEXT: %[[F:.*]] = tcp.mul %[[W]], %[[R]]
  // CHECK-NEXT: %[[Y:.*]] = tcp.conv2d %[[X]], %[[F]]
  // CHECK-NEXT: %[[BS:.*]] = tcp.mul %[[B]], %[[S]]
  // CHECK-NEXT: %[[BT:.*]] = tcp.add %[[BS]], %[[T]]
  // CHECK-NEXT: %[[Z:.*]] = tcp.add %[[Y]], %[[BT]]
  // CHECK-NEXT: return %[[Z]]
  %0 = tcp.conv2d %x, %w {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  %1 = tcp.add %b, %0 : tensor<1x4x1x1xf32>, tensor<1x4x6x6xf32> -> tensor<1x4x6x6xf32>
  %2 = tcp.mul %1, %s : tensor<1x4x6x6xf32>, tensor<1x4x1x1xf32> -> tensor<1x4x6x6xf32>
  %3 = tcp.add %2, %t : tensor<1x4x6x6xf32>, tensor<1x4x1x1xf32> -> tensor<1x4x6x6xf32>
  return %3 : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: func.func @division_by_a_scalar
func.func @division_by_a_scalar(%x: tensor<1x8x3xf32> {tcp.input = "x"}, %w: tensor<4x3x3xf32> {tcp.weight = "w"}) -> tensor<1x6x4xf32> {
  // CHECK: %[[R:.*]] = tcp.reshape %{{.*}} : tensor<1x1x1xf32> -> tensor<1x1x1xf32>
  // CHECK-NEXT: %[[F:.*]] = tcp.div %{{.*}}, %[[R]] : tensor<4x3x3xf32>, tensor<1x1x1xf32> -> tensor<4x3x3xf32>
  // CHECK-NEXT: tcp.conv1d %{{.*}}, %[[F]]
  // CHECK-NEXT: return
  %two = arith.constant dense<2.0> : tensor<1x1x1xf32>
  %0 = tcp.conv1d %x, %w {channels_last, dilation = array<i64: 1>, pad = array<i64: 0, 0>, stride = array<i64: 1>} : tensor<1x8x3xf32>, tensor<4x3x3xf32> -> tensor<1x6x4xf32>
  %1 = tcp.div %0, %two : tensor<1x6x4xf32>, tensor<1x1x1xf32> -> tensor<1x6x4xf32>
  return %1 : tensor<1x6x4xf32>
}

// CHECK-LABEL: func.func @matmul_columns
func.func @matmul_columns(%x: tensor<2x8xf32> {tcp.input = "x"}, %w: tensor<8x4xf32> {tcp.weight = "w"}, %s: tensor<1x4xf32> {tcp.weight = "s"}) -> tensor<2x4xf32> {
  // CHECK: %[[F:.*]] = tcp.mul %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<1x4xf32> -> tensor<8x4xf32>
  // CHECK-NEXT: tcp.matmul %{{.*}}, %[[F]]
  // CHECK-NEXT: return
  %0 = tcp.matmul %x, %w : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %1 = tcp.mul %0, %s : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// A subtraction is a bias as well, and consecutive biases become one.
// CHECK-LABEL: func.func @shifts_merge
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[Y:[^:]*]]: {{[^,]*}}, %[[A:[^:]*]]: {{[^,]*}}, %[[B:[^:]*]]:
func.func @shifts_merge(%x: tensor<2x8xf32> {tcp.input = "x"}, %y: tensor<8x4xf32> {tcp.input = "y"}, %a: tensor<1x4xf32> {tcp.weight = "a"}, %b: tensor<1x1xf32> {tcp.weight = "b"}) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[P:.*]] = tcp.matmul %[[X]], %[[Y]]
  // CHECK-NEXT: %[[N:.*]] = tcp.neg %[[B]]
  // CHECK-NEXT: %[[S:.*]] = tcp.add %[[A]], %[[N]] : tensor<1x4xf32>, tensor<1x1xf32> -> tensor<1x4xf32>
  // CHECK-NEXT: %[[Z:.*]] = tcp.add %[[P]], %[[S]]
  // CHECK-NEXT: return %[[Z]]
  %0 = tcp.matmul %x, %y : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %1 = tcp.add %0, %a : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %2 = tcp.sub %1, %b : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @scales_merge
func.func @scales_merge(%x: tensor<2x8xf32> {tcp.input = "x"}, %y: tensor<8x4xf32> {tcp.input = "y"}, %a: tensor<1x4xf32> {tcp.weight = "a"}, %b: tensor<1x4xf32> {tcp.weight = "b"}) -> tensor<2x4xf32> {
  // CHECK: tcp.matmul
  // CHECK-NEXT: tcp.mul {{.*}} -> tensor<1x4xf32>
  // CHECK-NEXT: tcp.mul {{.*}} -> tensor<2x4xf32>
  // CHECK-NEXT: return
  %0 = tcp.matmul %x, %y : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %1 = tcp.mul %0, %a : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %2 = tcp.mul %1, %b : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// Integers have no rounding.
// CHECK-LABEL: func.func @integer_shifts_merge
func.func @integer_shifts_merge(%x: tensor<2x4xi32> {tcp.input = "x"}, %a: tensor<1x4xi32> {tcp.weight = "a"}, %b: tensor<1x4xi32> {tcp.weight = "b"}) -> tensor<2x4xi32> {
  // CHECK-NEXT: tcp.add {{.*}} -> tensor<1x4xi32>
  // CHECK-NEXT: tcp.add {{.*}} -> tensor<2x4xi32>
  // CHECK-NEXT: return
  %0 = tcp.add %x, %a : tensor<2x4xi32>, tensor<1x4xi32> -> tensor<2x4xi32>
  %1 = tcp.add %0, %b : tensor<2x4xi32>, tensor<1x4xi32> -> tensor<2x4xi32>
  return %1 : tensor<2x4xi32>
}

// x * a * b need not overflow where a * b does.
// CHECK-LABEL: func.func @scales_of_other_data
func.func @scales_of_other_data(%x: tensor<2x4xf32> {tcp.input = "x"}, %a: tensor<1x4xf32> {tcp.weight = "a"}, %b: tensor<1x4xf32> {tcp.weight = "b"}) -> tensor<2x4xf32> {
  // CHECK-NEXT: tcp.mul {{.*}} -> tensor<2x4xf32>
  // CHECK-NEXT: tcp.mul {{.*}} -> tensor<2x4xf32>
  %0 = tcp.mul %x, %a : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %1 = tcp.mul %0, %b : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// The sum of both numbers is 0, but the first addition rounds to integers.
// CHECK-LABEL: func.func @rounds_by_sums
func.func @rounds_by_sums(%x: tensor<2x8xf32> {tcp.input = "x"}, %y: tensor<8x4xf32> {tcp.input = "y"}) -> tensor<2x4xf32> {
  // CHECK: tcp.matmul
  // CHECK-NEXT: tcp.add {{.*}} -> tensor<2x4xf32>
  // CHECK: tcp.add {{.*}} -> tensor<2x4xf32>
  %n = arith.constant dense<1.2582912e+07> : tensor<1x1xf32>
  %0 = tcp.matmul %x, %y : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %1 = tcp.add %0, %n : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  %2 = tcp.sub %1, %n : tensor<2x4xf32>, tensor<1x1xf32> -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// The sum of a row and a column of weights would be a whole matrix.
// CHECK-LABEL: func.func @sum_would_grow
func.func @sum_would_grow(%x: tensor<2x8xf32> {tcp.input = "x"}, %y: tensor<8x4xf32> {tcp.input = "y"}, %a: tensor<1x4xf32> {tcp.weight = "a"}, %b: tensor<2x1xf32> {tcp.weight = "b"}) -> tensor<2x4xf32> {
  // CHECK-NEXT: tcp.matmul
  // CHECK-NEXT: tcp.add {{.*}} -> tensor<2x4xf32>
  // CHECK-NEXT: tcp.add {{.*}} -> tensor<2x4xf32>
  %0 = tcp.matmul %x, %y : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %1 = tcp.add %0, %a : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  %2 = tcp.add %1, %b : tensor<2x4xf32>, tensor<2x1xf32> -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @other_user
func.func @other_user(%x: tensor<2x8xf32> {tcp.input = "x"}, %w: tensor<8x4xf32> {tcp.weight = "w"}, %s: tensor<1x4xf32> {tcp.weight = "s"}) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: tcp.matmul
  // CHECK-NEXT: tcp.mul
  %0 = tcp.matmul %x, %w : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %1 = tcp.mul %0, %s : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @scale_of_rows
func.func @scale_of_rows(%x: tensor<2x8xf32> {tcp.input = "x"}, %w: tensor<8x4xf32> {tcp.weight = "w"}, %s: tensor<2x1xf32> {tcp.weight = "s"}) -> tensor<2x4xf32> {
  // CHECK-NEXT: tcp.matmul
  // CHECK-NEXT: tcp.mul
  %0 = tcp.matmul %x, %w : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %1 = tcp.mul %0, %s : tensor<2x4xf32>, tensor<2x1xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @scale_is_data
func.func @scale_is_data(%x: tensor<2x8xf32> {tcp.input = "x"}, %s: tensor<1x4xf32> {tcp.input = "s"}, %w: tensor<8x4xf32> {tcp.weight = "w"}) -> tensor<2x4xf32> {
  // CHECK-NEXT: tcp.matmul
  // CHECK-NEXT: tcp.mul
  %0 = tcp.matmul %x, %w : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %1 = tcp.mul %0, %s : tensor<2x4xf32>, tensor<1x4xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// A constant divided by data is not a scale.
// CHECK-LABEL: func.func @weights_divided_by_data
func.func @weights_divided_by_data(%x: tensor<2x8xf32> {tcp.input = "x"}, %w: tensor<8x4xf32> {tcp.weight = "w"}, %s: tensor<1x4xf32> {tcp.weight = "s"}) -> tensor<2x4xf32> {
  // CHECK-NEXT: tcp.matmul
  // CHECK-NEXT: tcp.div
  %0 = tcp.matmul %x, %w : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32>
  %1 = tcp.div %s, %0 : tensor<1x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// The cast of the scale to f16 and back is omitted.
// CHECK-LABEL: func.func @half
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[S:[^:]*]]:
func.func @half(%x: tensor<2x8xf16> {tcp.input = "x"}, %w: tensor<8x4xf16> {tcp.weight = "w"}, %s: tensor<4xf32> {tcp.weight = "s"}) -> tensor<2x4xf16> {
  // CHECK-DAG: %[[WF:.*]] = tcp.cast %[[W]] : tensor<8x4xf16> -> tensor<8x4xf32>
  // CHECK-DAG: %[[R:.*]] = tcp.reshape %[[S]] : tensor<4xf32> -> tensor<1x4xf32>
  // CHECK: %[[F:.*]] = tcp.mul %[[WF]], %[[R]]
  // Where the scale is near 1, products are rounded up and down in turn.
  // CHECK-NEXT: %[[A:.*]] = tcp.abs %[[R]]
  // CHECK-NEXT: %[[B:.*]] = tcp.polynomial %[[A]] {coefficients = array<f64: -1.000000e+00, 1.000000e+00>}
  // CHECK-NEXT: %[[C:.*]] = tcp.abs %[[B]]
  // CHECK-NEXT: %[[D:.*]] = tcp.polynomial %[[C]] {coefficients = array<f64: -9.765625E-4, 3.250000e+01, -1.638400e+04>}
  // CHECK-NEXT: %[[E:.*]] = tcp.clamp %[[D]] {max_float = 3.45266977E-4 : f32, min_float = 0.000000e+00 : f32}
  // CHECK-NEXT: %[[SPREAD:.*]] = arith.constant dense<{{\[\[}}-8.750000e-01], [3.750000e-01], [-3.750000e-01], [8.750000e-01], [1.250000e-01], [-6.250000e-01], [6.250000e-01], [-1.250000e-01]]>
  // CHECK-NEXT: %[[G:.*]] = tcp.mul %[[SPREAD]], %[[E]] : tensor<8x1xf32>, tensor<1x4xf32> -> tensor<8x4xf32>
  // CHECK-NEXT: %[[H:.*]] = tcp.polynomial %[[G]] {coefficients = array<f64: 1.000000e+00, 1.000000e+00>}
  // CHECK-NEXT: %[[I:.*]] = tcp.mul %[[F]], %[[H]]
  // CHECK-NEXT: %[[FH:.*]] = tcp.cast %[[I]] : tensor<8x4xf32> -> tensor<8x4xf16>
  // CHECK-NEXT: tcp.matmul %[[X]], %[[FH]]
  // CHECK-NEXT: return
  %0 = tcp.matmul %x, %w : tensor<2x8xf16>, tensor<8x4xf16> -> tensor<2x4xf16>
  %h = tcp.cast %s : tensor<4xf32> -> tensor<4xf16>
  %r = tcp.reshape %h : tensor<4xf16> -> tensor<1x4xf16>
  %1 = tcp.mul %0, %r : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  return %1 : tensor<2x4xf16>
}

// Weights that are rounded to f16 once have no bias. A large filter has one change for each index of its largest dim, and a
// depthwise one for each element.
// CHECK-LABEL: func.func @rounded_once
// CHECK-NOT: tcp.abs
func.func @rounded_once(%x: tensor<2x8xf16> {tcp.input = "x"}, %w: tensor<8x4xf32> {tcp.weight = "w"}, %s: tensor<1x4xf32> {tcp.weight = "s"}) -> tensor<2x4xf16> {
  %h = tcp.cast %w : tensor<8x4xf32> -> tensor<8x4xf16>
  %0 = tcp.matmul %x, %h : tensor<2x8xf16>, tensor<8x4xf16> -> tensor<2x4xf16>
  %r = tcp.cast %s : tensor<1x4xf32> -> tensor<1x4xf16>
  %1 = tcp.mul %0, %r : tensor<2x4xf16>, tensor<1x4xf16> -> tensor<2x4xf16>
  return %1 : tensor<2x4xf16>
}

// CHECK-LABEL: func.func @large_filter
// CHECK: arith.constant dense<{{.*}}> : tensor<1x1030x1x1xf32>
// CHECK: arith.constant dense<{{.*}}> : tensor<1x1x3x3xf32>
func.func @large_filter(%x: tensor<1x1030x8x8xbf16> {tcp.input = "x"}, %w: tensor<4x1030x3x3xbf16> {tcp.weight = "w"}, %d: tensor<4x1x3x3xbf16> {tcp.weight = "d"}, %s: tensor<1x4x1x1xbf16> {tcp.weight = "s"}) -> tensor<1x4x4x4xbf16> {
  %0 = tcp.conv2d %x, %w {stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 1 : i64} : tensor<1x1030x8x8xbf16>, tensor<4x1030x3x3xbf16> -> tensor<1x4x6x6xbf16>
  %1 = tcp.mul %0, %s : tensor<1x4x6x6xbf16>, tensor<1x4x1x1xbf16> -> tensor<1x4x6x6xbf16>
  %2 = tcp.conv2d %1, %d {stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, dilation = array<i64: 1, 1>, groups = 4 : i64} : tensor<1x4x6x6xbf16>, tensor<4x1x3x3xbf16> -> tensor<1x4x4x4xbf16>
  %3 = tcp.div %2, %s : tensor<1x4x4x4xbf16>, tensor<1x4x1x1xbf16> -> tensor<1x4x4x4xbf16>
  return %3 : tensor<1x4x4x4xbf16>
}
