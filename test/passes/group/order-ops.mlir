// RUN: convoy-opt %s --split-input-file --tcp-order-ops=remarks --verify-diagnostics | filecheck %s

// The second branch is all that is left of %x, so it is computed before %a and %b, the two
// largest tensors.

// CHECK-LABEL: func.func @reader_before
// CHECK:         %[[X:.*]] = tcp.matmul %{{.*}}, %{{.*}} -> tensor<1x64x64xf32>
// CHECK-NEXT:    %[[D:.*]] = tcp.matmul %[[X]], %{{.*}} -> tensor<1x64x16xf32>
// CHECK-NEXT:    %[[A:.*]] = tcp.matmul %[[X]], %{{.*}} -> tensor<1x64x256xf32>
// CHECK-NEXT:    %[[B:.*]] = tcp.matmul %[[A]]
// CHECK-NEXT:    %[[C:.*]] = tcp.matmul %[[B]]
// CHECK-NEXT:    tcp.add %[[C]], %[[D]]
// expected-remark@+1 {{the peak of temporaries falls from 147456 to 135168 bytes}}
func.func @reader_before(%in: tensor<1x64x64xf32>, %w0: tensor<1x64x64xf32>, %w1: tensor<1x64x256xf32>, %w2: tensor<1x256x256xf32>, %w3: tensor<1x256x16xf32>, %w4: tensor<1x64x16xf32>) -> tensor<1x64x16xf32> {
  %x = tcp.matmul %in, %w0 : tensor<1x64x64xf32>, tensor<1x64x64xf32> -> tensor<1x64x64xf32>
  %a = tcp.matmul %x, %w1 : tensor<1x64x64xf32>, tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  %b = tcp.matmul %a, %w2 : tensor<1x64x256xf32>, tensor<1x256x256xf32> -> tensor<1x64x256xf32>
  %c = tcp.matmul %b, %w3 : tensor<1x64x256xf32>, tensor<1x256x16xf32> -> tensor<1x64x16xf32>
  %d = tcp.matmul %x, %w4 : tensor<1x64x64xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  %y = tcp.add %c, %d : tensor<1x64x16xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  return %y : tensor<1x64x16xf32>
}

// -----

// %d is read after the other products only, and is larger than what it is computed from.

// CHECK-LABEL: func.func @writer_after
// CHECK:         %[[X:.*]] = tcp.matmul
// CHECK-NEXT:    %[[A:.*]] = tcp.matmul %[[X]]
// CHECK-NEXT:    %[[B:.*]] = tcp.matmul %[[A]]
// CHECK-NEXT:    %[[C:.*]] = tcp.matmul %[[B]]
// CHECK-NEXT:    %[[D:.*]] = tcp.matmul %[[X]]
// CHECK-NEXT:    tcp.add %[[C]], %[[D]]
// expected-remark@+1 {{the peak of temporaries falls from 196608 to 147456 bytes}}
func.func @writer_after(%in: tensor<1x64x64xf32>, %w0: tensor<1x64x64xf32>, %w1: tensor<1x64x256xf32>, %w2: tensor<1x256x256xf32>) -> tensor<1x64x256xf32> {
  %x = tcp.matmul %in, %w0 : tensor<1x64x64xf32>, tensor<1x64x64xf32> -> tensor<1x64x64xf32>
  %d = tcp.matmul %x, %w1 : tensor<1x64x64xf32>, tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  %a = tcp.matmul %x, %w1 : tensor<1x64x64xf32>, tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  %b = tcp.matmul %a, %w2 : tensor<1x64x256xf32>, tensor<1x256x256xf32> -> tensor<1x64x256xf32>
  %c = tcp.matmul %b, %w2 : tensor<1x64x256xf32>, tensor<1x256x256xf32> -> tensor<1x64x256xf32>
  %y = tcp.add %c, %d : tensor<1x64x256xf32>, tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  return %y : tensor<1x64x256xf32>
}

// -----

// The bias and the relu after the product move with it: a group is computed at its last op.

// CHECK-LABEL: func.func @chain
// CHECK:         %[[X:.*]] = tcp.matmul
// CHECK-NEXT:    %[[D:.*]] = tcp.matmul %[[X]]
// CHECK-NEXT:    %[[E:.*]] = tcp.add %[[D]]
// CHECK-NEXT:    %[[F:.*]] = tcp.clamp %[[E]]
// CHECK-NEXT:    tcp.matmul %[[X]]
// expected-remark@+1 {{the peak of temporaries falls from 147456 to 135168 bytes}}
func.func @chain(%in: tensor<1x64x64xf32>, %w0: tensor<1x64x64xf32>, %w1: tensor<1x64x256xf32>, %w2: tensor<1x256x256xf32>, %w3: tensor<1x256x16xf32>, %w4: tensor<1x64x16xf32>, %bias: tensor<1x1x16xf32>) -> tensor<1x64x16xf32> {
  %x = tcp.matmul %in, %w0 : tensor<1x64x64xf32>, tensor<1x64x64xf32> -> tensor<1x64x64xf32>
  %a = tcp.matmul %x, %w1 : tensor<1x64x64xf32>, tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  %b = tcp.matmul %a, %w2 : tensor<1x64x256xf32>, tensor<1x256x256xf32> -> tensor<1x64x256xf32>
  %c = tcp.matmul %b, %w3 : tensor<1x64x256xf32>, tensor<1x256x16xf32> -> tensor<1x64x16xf32>
  %d = tcp.matmul %x, %w4 : tensor<1x64x64xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  %e = tcp.add %d, %bias : tensor<1x64x16xf32>, tensor<1x1x16xf32> -> tensor<1x64x16xf32>
  %f = tcp.clamp %e {min_float = 0.0 : f32} : tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  %y = tcp.add %c, %f : tensor<1x64x16xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  return %y : tensor<1x64x16xf32>
}

// -----

// An elementwise op takes the memory of its operand if it is the last one that reads it, so %c is
// computed before %a.

// CHECK-LABEL: func.func @in_place
// CHECK:         %[[X:.*]] = tcp.matmul
// CHECK-NEXT:    %[[C:.*]] = tcp.matmul %[[X]], %{{.*}} -> tensor<1x64x16xf32>
// CHECK-NEXT:    %[[A:.*]] = tcp.clamp %[[X]]
// CHECK-NEXT:    %[[B:.*]] = tcp.matmul %[[A]]
// CHECK-NEXT:    tcp.add %[[B]], %[[C]]
// expected-remark@+1 {{the peak of temporaries falls from 36864 to 24576 bytes}}
func.func @in_place(%in: tensor<1x64x64xf32>, %w0: tensor<1x64x64xf32>, %w4: tensor<1x64x16xf32>) -> tensor<1x64x16xf32> {
  %x = tcp.matmul %in, %w0 : tensor<1x64x64xf32>, tensor<1x64x64xf32> -> tensor<1x64x64xf32>
  %a = tcp.clamp %x {min_float = 0.0 : f32} : tensor<1x64x64xf32> -> tensor<1x64x64xf32>
  %b = tcp.matmul %a, %w4 : tensor<1x64x64xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  %c = tcp.matmul %x, %w4 : tensor<1x64x64xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  %y = tcp.add %b, %c : tensor<1x64x16xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  return %y : tensor<1x64x16xf32>
}

// -----

// At the sum the same bytes are live in any order, as after the first block of a stage of a ResNet.

// CHECK-LABEL: func.func @same_peak
// CHECK:         %[[X:.*]] = tcp.matmul
// CHECK-NEXT:    %[[A:.*]] = tcp.matmul %[[X]], %{{.*}} -> tensor<1x64x64xf32>
// CHECK-NEXT:    %[[B:.*]] = tcp.matmul %[[A]]
// CHECK-NEXT:    tcp.matmul %[[X]]
func.func @same_peak(%in: tensor<1x64x64xf32>, %w0: tensor<1x64x64xf32>, %w1: tensor<1x64x256xf32>, %w3: tensor<1x256x16xf32>) -> tensor<1x64x16xf32> {
  %x = tcp.matmul %in, %w0 : tensor<1x64x64xf32>, tensor<1x64x64xf32> -> tensor<1x64x64xf32>
  %a = tcp.matmul %x, %w0 : tensor<1x64x64xf32>, tensor<1x64x64xf32> -> tensor<1x64x64xf32>
  %b = tcp.matmul %a, %w1 : tensor<1x64x64xf32>, tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  %c = tcp.matmul %x, %w1 : tensor<1x64x64xf32>, tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  %d = tcp.add %b, %c : tensor<1x64x256xf32>, tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  %y = tcp.matmul %d, %w3 : tensor<1x64x256xf32>, tensor<1x256x16xf32> -> tensor<1x64x16xf32>
  return %y : tensor<1x64x16xf32>
}

// -----

// %d would be 256 bytes less than %x.

// CHECK-LABEL: func.func @small_difference
// CHECK:         %[[X:.*]] = tcp.matmul
// CHECK-NEXT:    %[[A:.*]] = tcp.matmul %[[X]], %{{.*}} -> tensor<1x64x256xf32>
func.func @small_difference(%in: tensor<1x64x64xf32>, %w0: tensor<1x64x17xf32>, %w1: tensor<1x17x256xf32>, %w2: tensor<1x256x256xf32>, %w3: tensor<1x256x16xf32>, %w4: tensor<1x17x16xf32>) -> tensor<1x64x16xf32> {
  %x = tcp.matmul %in, %w0 : tensor<1x64x64xf32>, tensor<1x64x17xf32> -> tensor<1x64x17xf32>
  %a = tcp.matmul %x, %w1 : tensor<1x64x17xf32>, tensor<1x17x256xf32> -> tensor<1x64x256xf32>
  %b = tcp.matmul %a, %w2 : tensor<1x64x256xf32>, tensor<1x256x256xf32> -> tensor<1x64x256xf32>
  %c = tcp.matmul %b, %w3 : tensor<1x64x256xf32>, tensor<1x256x16xf32> -> tensor<1x64x16xf32>
  %d = tcp.matmul %x, %w4 : tensor<1x64x17xf32>, tensor<1x17x16xf32> -> tensor<1x64x16xf32>
  %y = tcp.add %c, %d : tensor<1x64x16xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  return %y : tensor<1x64x16xf32>
}

// -----

// Nothing moves across an op with side effects.

// CHECK-LABEL: func.func @effects
// CHECK:         %[[X:.*]] = tcp.matmul
// CHECK-NEXT:    call @effect
// CHECK-NEXT:    %[[A:.*]] = tcp.matmul %[[X]], %{{.*}} -> tensor<1x64x256xf32>
// CHECK-NEXT:    tcp.matmul %[[A]]
// CHECK-NEXT:    call @effect
// CHECK-NEXT:    tcp.matmul
// CHECK-NEXT:    tcp.matmul %[[X]]
func.func private @effect()
func.func @effects(%in: tensor<1x64x64xf32>, %w0: tensor<1x64x64xf32>, %w1: tensor<1x64x256xf32>, %w2: tensor<1x256x256xf32>, %w3: tensor<1x256x16xf32>, %w4: tensor<1x64x16xf32>) -> tensor<1x64x16xf32> {
  %x = tcp.matmul %in, %w0 : tensor<1x64x64xf32>, tensor<1x64x64xf32> -> tensor<1x64x64xf32>
  call @effect() : () -> ()
  %a = tcp.matmul %x, %w1 : tensor<1x64x64xf32>, tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  %b = tcp.matmul %a, %w2 : tensor<1x64x256xf32>, tensor<1x256x256xf32> -> tensor<1x64x256xf32>
  call @effect() : () -> ()
  %c = tcp.matmul %b, %w3 : tensor<1x64x256xf32>, tensor<1x256x16xf32> -> tensor<1x64x16xf32>
  %d = tcp.matmul %x, %w4 : tensor<1x64x64xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  %y = tcp.add %c, %d : tensor<1x64x16xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  return %y : tensor<1x64x16xf32>
}

// -----

// CHECK-LABEL: func.func @cpu
// CHECK:         %[[X:.*]] = tcp.matmul
// CHECK-NEXT:    %[[A:.*]] = tcp.matmul %[[X]], %{{.*}} -> tensor<1x64x256xf32>
// CHECK-NEXT:    tcp.matmul %[[A]]
func.func @cpu(%in: tensor<1x64x64xf32>, %w0: tensor<1x64x64xf32>, %w1: tensor<1x64x256xf32>, %w2: tensor<1x256x256xf32>, %w3: tensor<1x256x16xf32>, %w4: tensor<1x64x16xf32>) -> tensor<1x64x16xf32> attributes {tcp.target = "cpu"} {
  %x = tcp.matmul %in, %w0 : tensor<1x64x64xf32>, tensor<1x64x64xf32> -> tensor<1x64x64xf32>
  %a = tcp.matmul %x, %w1 : tensor<1x64x64xf32>, tensor<1x64x256xf32> -> tensor<1x64x256xf32>
  %b = tcp.matmul %a, %w2 : tensor<1x64x256xf32>, tensor<1x256x256xf32> -> tensor<1x64x256xf32>
  %c = tcp.matmul %b, %w3 : tensor<1x64x256xf32>, tensor<1x256x16xf32> -> tensor<1x64x16xf32>
  %d = tcp.matmul %x, %w4 : tensor<1x64x64xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  %y = tcp.add %c, %d : tensor<1x64x16xf32>, tensor<1x64x16xf32> -> tensor<1x64x16xf32>
  return %y : tensor<1x64x16xf32>
}
