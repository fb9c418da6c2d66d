// RUN: convoy-opt %s --split-input-file --verify-diagnostics --plan-out-params

// expected-error@+1 {{expected results to be memrefs of static shape and identity layout, but result #0 is 'memref<?xf32>'}}
func.func @dynamic(%x: memref<?xf32>) -> memref<?xf32> {
  return %x : memref<?xf32>
}

// -----

// expected-error@+1 {{expected one block, but got 2}}
func.func @blocks(%x: memref<4xf32>) -> memref<4xf32> {
  cf.br ^next
^next:
  return %x : memref<4xf32>
}

// -----

// expected-error@+1 {{expected a body that ends in 'func.return'}}
func.func @no_return() -> memref<4xf32> {
  llvm.unreachable
}
