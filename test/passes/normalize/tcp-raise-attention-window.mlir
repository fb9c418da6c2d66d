// RUN: convoy-opt %s --split-input-file --tcp-raise-attention | filecheck %s

// The last eight columns up to the own index of a row.
// CHECK-LABEL: func.func @window
// CHECK: tcp.attention %arg0, %arg0, %arg0 {causal, scale = 1.000000e+00 : f64, window = 8 : i64}
func.func @window(%x: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %n = arith.constant dense<8> : tensor<1x1x1x1xi64>
  %end = tcp.add %column, %n : tensor<1x1x1x32xi64>, tensor<1x1x1x1xi64> -> tensor<1x1x1x32xi64>
  %a = tcp.compare %row, %column {predicate = "ge"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %b = tcp.compare %end, %row {predicate = "gt"} : tensor<1x1x1x32xi64>, tensor<1x1x32x1xi64> -> tensor<1x1x32x32xi1>
  %c = tcp.bitwise_and %a, %b : tensor<1x1x32x32xi1>, tensor<1x1x32x32xi1> -> tensor<1x1x32x32xi1>
  %m = tcp.select %c, %zero, %low : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<1x1x32x32xf16>
  %o = tcp.attention %x, %x, %x mask %m {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x64xf16>
  return %o : tensor<2x4x32x64xf16>
}

// -----

// The same as the scores that are hidden, with the row moved.
// CHECK-LABEL: func.func @hidden
// CHECK: tcp.attention %arg0, %arg0, %arg0 {causal, scale = 1.000000e+00 : f64, window = 8 : i64}
func.func @hidden(%x: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %n = arith.constant dense<8> : tensor<1x1x1x1xi64>
  %start = tcp.sub %row, %n : tensor<1x1x32x1xi64>, tensor<1x1x1x1xi64> -> tensor<1x1x32x1xi64>
  %a = tcp.compare %column, %row {predicate = "gt"} : tensor<1x1x1x32xi64>, tensor<1x1x32x1xi64> -> tensor<1x1x32x32xi1>
  %b = tcp.compare %column, %start {predicate = "le"} : tensor<1x1x1x32xi64>, tensor<1x1x32x1xi64> -> tensor<1x1x32x32xi1>
  %c = tcp.select %a, %a, %b : tensor<1x1x32x32xi1>, tensor<1x1x32x32xi1>, tensor<1x1x32x32xi1> -> tensor<1x1x32x32xi1>
  %m = tcp.select %c, %low, %zero : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<1x1x32x32xf16>
  %o = tcp.attention %x, %x, %x mask %m {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x64xf16>
  return %o : tensor<2x4x32x64xf16>
}

// -----

// A window as wide as the scores hides none.
// CHECK-LABEL: func.func @wide
// CHECK: tcp.attention %arg0, %arg0, %arg0 {causal, scale = 1.000000e+00 : f64}
func.func @wide(%x: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %n = arith.constant dense<32> : tensor<1x1x1x1xi64>
  %end = tcp.add %column, %n : tensor<1x1x1x32xi64>, tensor<1x1x1x1xi64> -> tensor<1x1x1x32xi64>
  %a = tcp.compare %row, %column {predicate = "ge"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %b = tcp.compare %row, %end {predicate = "lt"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %c = tcp.select %a, %b, %a : tensor<1x1x32x32xi1>, tensor<1x1x32x32xi1>, tensor<1x1x32x32xi1> -> tensor<1x1x32x32xi1>
  %m = tcp.select %c, %zero, %low : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<1x1x32x32xf16>
  %o = tcp.attention %x, %x, %x mask %m {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x64xf16>
  return %o : tensor<2x4x32x64xf16>
}

// -----

// A window that is not causal.
// CHECK-LABEL: func.func @only_window
// CHECK: tcp.attention %arg0, %arg0, %arg0 {scale = 1.000000e+00 : f64, window = 3 : i64}
func.func @only_window(%x: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %n = arith.constant dense<2> : tensor<1x1x1x1xi64>
  %end = tcp.add %n, %column : tensor<1x1x1x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x1x32xi64>
  %b = tcp.compare %row, %end {predicate = "le"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %m = tcp.select %b, %zero, %low : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<1x1x32x32xf16>
  %o = tcp.attention %x, %x, %x mask %m {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x64xf16>
  return %o : tensor<2x4x32x64xf16>
}

// -----

// Of two windows the smaller one.
// CHECK-LABEL: func.func @two
// CHECK: tcp.attention %arg0, %arg0, %arg0 {scale = 1.000000e+00 : f64, window = 3 : i64}
func.func @two(%x: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %n = arith.constant dense<2> : tensor<1x1x1x1xi64>
  %k = arith.constant dense<9> : tensor<1x1x1x1xi64>
  %end = tcp.add %n, %column : tensor<1x1x1x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x1x32xi64>
  %far = tcp.add %column, %k : tensor<1x1x1x32xi64>, tensor<1x1x1x1xi64> -> tensor<1x1x1x32xi64>
  %a = tcp.compare %row, %far {predicate = "le"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %b = tcp.compare %row, %end {predicate = "le"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %c = tcp.bitwise_and %a, %b : tensor<1x1x32x32xi1>, tensor<1x1x32x32xi1> -> tensor<1x1x32x32xi1>
  %m = tcp.select %c, %zero, %low : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<1x1x32x32xf16>
  %o = tcp.attention %x, %x, %x mask %m {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x64xf16>
  return %o : tensor<2x4x32x64xf16>
}

// -----

// The columns of either band are none.
// CHECK-LABEL: func.func @either
// CHECK: tcp.attention %arg0, %arg0, %arg0 mask %{{.*}} {scale = 1.000000e+00 : f64}
func.func @either(%x: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %n = arith.constant dense<8> : tensor<1x1x1x1xi64>
  %end = tcp.add %column, %n : tensor<1x1x1x32xi64>, tensor<1x1x1x1xi64> -> tensor<1x1x1x32xi64>
  %a = tcp.compare %row, %column {predicate = "ge"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %b = tcp.compare %end, %row {predicate = "gt"} : tensor<1x1x1x32xi64>, tensor<1x1x32x1xi64> -> tensor<1x1x32x32xi1>
  %c = tcp.bitwise_or %a, %b : tensor<1x1x32x32xi1>, tensor<1x1x32x32xi1> -> tensor<1x1x32x32xi1>
  %m = tcp.select %c, %zero, %low : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<1x1x32x32xf16>
  %o = tcp.attention %x, %x, %x mask %m {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x64xf16>
  return %o : tensor<2x4x32x64xf16>
}

// -----

// The own index of a row is hidden.
// CHECK-LABEL: func.func @before
// CHECK: tcp.attention %arg0, %arg0, %arg0 mask %{{.*}} {scale = 1.000000e+00 : f64}
func.func @before(%x: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %n = arith.constant dense<1> : tensor<1x1x1x1xi64>
  %end = tcp.add %column, %n : tensor<1x1x1x32xi64>, tensor<1x1x1x1xi64> -> tensor<1x1x1x32xi64>
  %b = tcp.compare %row, %end {predicate = "ge"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %m = tcp.select %b, %zero, %low : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<1x1x32x32xf16>
  %o = tcp.attention %x, %x, %x mask %m {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x64xf16>
  return %o : tensor<2x4x32x64xf16>
}

// -----

// A row sees three columns after its own index.
// CHECK-LABEL: func.func @after
// CHECK: tcp.attention %arg0, %arg0, %arg0 mask %{{.*}} {scale = 1.000000e+00 : f64}
func.func @after(%x: tensor<2x4x32x64xf16>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %n = arith.constant dense<3> : tensor<1x1x1x1xi64>
  %end = tcp.add %row, %n : tensor<1x1x32x1xi64>, tensor<1x1x1x1xi64> -> tensor<1x1x32x1xi64>
  %b = tcp.compare %end, %column {predicate = "ge"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %m = tcp.select %b, %zero, %low : tensor<1x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<1x1x32x32xf16>
  %o = tcp.attention %x, %x, %x mask %m {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<1x1x32x32xf16> -> tensor<2x4x32x64xf16>
  return %o : tensor<2x4x32x64xf16>
}

// -----

// Of a causal mask, a window and two masks of padding, the latter remain, without rows. Minus
// infinity hides scores whatever the others are.
// CHECK-LABEL: func.func @padding
// CHECK-SAME: %[[X:.*]]: tensor<2x4x32x64xf16>, %[[P:.*]]: tensor<2x1x1x32xi1>, %[[R:.*]]: tensor<2x1x1x32xi1>
// CHECK: %[[BOTH:.*]] = tcp.select %[[P]], %[[R]], %[[P]] : {{.*}} -> tensor<2x1x1x32xi1>
// CHECK: %[[M:.*]] = tcp.select %[[BOTH]], %{{.*}}, %{{.*}} : tensor<2x1x1x32xi1>, {{.*}} -> tensor<2x1x1x32xf16>
// CHECK: tcp.attention %[[X]], %[[X]], %[[X]] mask %[[M]] {causal, scale = 1.000000e+00 : f64, window = 8 : i64}
func.func @padding(%x: tensor<2x4x32x64xf16>, %p: tensor<2x1x1x32xi1>, %r: tensor<2x1x1x32xi1>) -> tensor<2x4x32x64xf16> attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %n = arith.constant dense<8> : tensor<1x1x1x1xi64>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %end = tcp.add %column, %n : tensor<1x1x1x32xi64>, tensor<1x1x1x1xi64> -> tensor<1x1x1x32xi64>
  %a = tcp.compare %row, %column {predicate = "ge"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %b = tcp.compare %end, %row {predicate = "gt"} : tensor<1x1x1x32xi64>, tensor<1x1x32x1xi64> -> tensor<1x1x32x32xi1>
  %wide = tcp.broadcast %p : tensor<2x1x1x32xi1> -> tensor<2x1x32x32xi1>
  %c = tcp.select %a, %wide, %a : tensor<1x1x32x32xi1>, tensor<2x1x32x32xi1>, tensor<1x1x32x32xi1> -> tensor<2x1x32x32xi1>
  %d = tcp.select %b, %r, %b : tensor<1x1x32x32xi1>, tensor<2x1x1x32xi1>, tensor<1x1x32x32xi1> -> tensor<2x1x32x32xi1>
  %e = tcp.select %c, %d, %c : tensor<2x1x32x32xi1>, tensor<2x1x32x32xi1>, tensor<2x1x32x32xi1> -> tensor<2x1x32x32xi1>
  %m = tcp.select %e, %zero, %low : tensor<2x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<2x1x32x32xf16>
  %o = tcp.attention %x, %x, %x mask %m {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x1x32x32xf16> -> tensor<2x4x32x64xf16>
  return %o : tensor<2x4x32x64xf16>
}

// -----

// A row whose columns are all hidden by a finite number is uniform: the mask stays as it is. So does
// one of either condition.
// CHECK-LABEL: func.func @finite
// CHECK: tcp.attention %{{.*}} mask %{{.*}} {scale = 1.000000e+00 : f64} : {{.*}}, tensor<2x1x32x32xf16> ->
// CHECK: tcp.attention %{{.*}} mask %{{.*}} {scale = 1.000000e+00 : f64} : {{.*}}, tensor<2x1x32x32xf16> ->
func.func @finite(%x: tensor<2x4x32x64xf16>, %p: tensor<2x1x1x32xi1>) -> (tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant dense<0.0> : tensor<1x1x1x1xf16>
  %low = arith.constant dense<-65504.0> : tensor<1x1x1x1xf16>
  %none = arith.constant dense<0xFC00> : tensor<1x1x1x1xf16>
  %i = tcp.iota {dim = 0 : index} : tensor<32xi64>
  %row = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x32x1xi64>
  %column = tcp.reshape %i : tensor<32xi64> -> tensor<1x1x1x32xi64>
  %a = tcp.compare %row, %column {predicate = "ge"} : tensor<1x1x32x1xi64>, tensor<1x1x1x32xi64> -> tensor<1x1x32x32xi1>
  %c = tcp.select %a, %p, %a : tensor<1x1x32x32xi1>, tensor<2x1x1x32xi1>, tensor<1x1x32x32xi1> -> tensor<2x1x32x32xi1>
  %m = tcp.select %c, %zero, %low : tensor<2x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<2x1x32x32xf16>
  %o = tcp.attention %x, %x, %x mask %m {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x1x32x32xf16> -> tensor<2x4x32x64xf16>
  %d = tcp.select %a, %a, %p : tensor<1x1x32x32xi1>, tensor<1x1x32x32xi1>, tensor<2x1x1x32xi1> -> tensor<2x1x32x32xi1>
  %r = tcp.select %d, %zero, %none : tensor<2x1x32x32xi1>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16> -> tensor<2x1x32x32xf16>
  %s = tcp.attention %x, %x, %x mask %r {scale = 1.0 : f64} : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>, tensor<2x1x32x32xf16> -> tensor<2x4x32x64xf16>
  return %o, %s : tensor<2x4x32x64xf16>, tensor<2x4x32x64xf16>
}
