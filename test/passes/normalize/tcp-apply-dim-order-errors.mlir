// RUN: convoy-opt %s --split-input-file --verify-diagnostics --tcp-apply-dim-order

// expected-error@+1 {{expects 'tcp.dim_order' on tensors, but got 'memref<2x4xf32>'}}
func.func @main(%x: memref<2x4xf32> {tcp.dim_order = array<i64: 1, 0>}) { return }

// -----

// expected-error@+1 {{expects 'tcp.dim_order' on tensors, but got 'memref<2x4xf32>'}}
func.func @main(%x: memref<2x4xf32>) -> (memref<2x4xf32> {tcp.dim_order = array<i64: 1, 0>}) { return %x : memref<2x4xf32> }
