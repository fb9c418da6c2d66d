// RUN: convoy-opt %s --convert-tcp-to-linalg | filecheck %s

// A key has the order of the element in its upper half and the position in its lower half. On the
// CPU, one loop for each row merges the runs of a width.
// CHECK-LABEL: func.func @loops
// CHECK: linalg.generic
// CHECK: arith.shli
// CHECK: arith.ori
// CHECK-COUNT-2: scf.for {{.*}} -> (tensor<1x4xi64>, index, index)
// CHECK-NOT: scf.for
// CHECK: linalg.generic
// CHECK: arith.andi
func.func @loops(%x: tensor<4xi32>) -> tensor<4xi64> attributes {tcp.target = "cpu"} {
  %0 = tcp.argsort %x : tensor<4xi32> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// On the GPU, one generic for each width finds the key at a position by bisection.
// CHECK-LABEL: func.func @bisection
// CHECK-NOT: scf.for
// CHECK-COUNT-3: scf.while
// CHECK-NOT: scf.while
func.func @bisection(%x: tensor<2x5xf32>) -> tensor<2x5xi64> attributes {tcp.target = "cuda"} {
  %0 = tcp.argsort %x {descending} : tensor<2x5xf32> -> tensor<2x5xi64>
  return %0 : tensor<2x5xi64>
}

// Elements of 64 bits are sorted by their lower halves, then by their upper halves.
// CHECK-LABEL: func.func @two_halves
// CHECK-COUNT-4: scf.while
// CHECK-NOT: scf.while
func.func @two_halves(%x: tensor<3xf64>) -> tensor<3xi64> attributes {tcp.target = "cuda"} {
  %0 = tcp.argsort %x : tensor<3xf64> -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
