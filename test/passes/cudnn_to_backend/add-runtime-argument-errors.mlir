// RUN: convoy-opt %s --split-input-file --add-runtime-argument --verify-diagnostics

// expected-error @+1 {{expects no results before the status is added, but got 1}}
func.func @main(%x: memref<4xf32>) -> memref<4xf32> attributes {tcp.target = "cuda"} {
  return %x : memref<4xf32>
}

// -----

// expected-error @+1 {{expects a body, because it is compiled for 'cuda', but got a declaration}}
func.func private @main(%x: memref<4xf32>) attributes {tcp.target = "cuda"}
