// RUN: convoy-opt %s -host-map-kernels -verify-diagnostics

// expected-error @+1 {{'func.func' op expects the runtime's table as its first argument (add-runtime-argument), because it is compiled for 'cuda'}}
func.func @main(%out: memref<4xf32>) attributes {tcp.target = "cuda"} {
  return
}
