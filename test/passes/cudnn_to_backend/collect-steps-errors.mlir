// RUN: convoy-opt %s --collect-steps --verify-diagnostics

func.func @main(%runtime: !llvm.ptr, %x: memref<8xf32>, %y: memref<8xf32>, %n: index) -> i32 {
  %ok = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expects constant bounds, because it has calls of the runtime}}
  scf.for %i = %c0 to %n step %c1 {
    cudnn_backend.copy %runtime, %y, %x : memref<8xf32>, memref<8xf32>
  }
  return %ok : i32
}
