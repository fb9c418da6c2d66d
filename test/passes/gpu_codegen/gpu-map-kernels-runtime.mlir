// RUN: convoy-opt %s -split-input-file -gpu-map-kernels -verify-diagnostics

// expected-error @+1 {{'func.func' op expects the runtime's table as its first argument (add-runtime-argument), because it is compiled for 'cuda'}}
func.func @main(%out: memref<4xf32>) attributes {tcp.target = "cuda"} {
  return
}

// -----

memref.global "private" constant @primes : memref<3xf32> = dense<[2.0, 3.0, 5.0]>
func.func @host_constant(%runtime: !llvm.ptr, %out: memref<3xf32>) -> i32 attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0 : i32
  %primes = memref.get_global @primes : memref<3xf32>
  // expected-error @+1 {{'cudnn_backend.execute_graph' op expects GPU memory, but operand 1 is a constant on the host}}
  cudnn_backend.execute_graph %runtime, call = 0 (%primes, %out) : memref<3xf32>, memref<3xf32>
  return %zero : i32
}
