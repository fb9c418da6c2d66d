// Empty products, which are left to loops, and products that are too large.
// RUN: convoy-opt %s --split-input-file --verify-diagnostics --cpu-contractions | filecheck %s

// CHECK-LABEL: func.func @empty(
// CHECK: linalg.matmul
func.func @empty(%x: memref<4x8xf32>, %w: memref<8x0xf32>, %y: memref<4x0xf32>) attributes {tcp.target = "cpu"} {
  linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x0xf32>) outs(%y : memref<4x0xf32>)
  return
}

// -----

func.func @size(%x: memref<9223372036854775807x9223372036854775807xf32>) attributes {tcp.target = "cpu"} {
  // expected-error@+1 {{'linalg.matmul' op expects tensors and buffers of at most 2^40 elements, but got 'memref<9223372036854775807x9223372036854775807xf32>'}}
  linalg.matmul ins(%x, %x : memref<9223372036854775807x9223372036854775807xf32>, memref<9223372036854775807x9223372036854775807xf32>)
      outs(%x : memref<9223372036854775807x9223372036854775807xf32>)
  return
}
