// RUN: convoy-opt %s --verify-diagnostics --cpu-parallel

func.func @main(%x: memref<8x8xf32>) attributes {tcp.target = "cpu"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  // expected-error@+1 {{expected one loop and no reductions, but got 2 and 0}}
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    memref.store %one, %x[%i, %j] : memref<8x8xf32>
  }
  return
}
