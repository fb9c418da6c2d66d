// RUN: convoy-opt %s --split-input-file --verify-diagnostics --plan-arena

func.func @nested(%c: i1) {
  scf.if %c {
    // expected-error@+1 {{expected allocations in the function's entry block only}}
    %a = memref.alloc() : memref<4xf32>
    memref.dealloc %a : memref<4xf32>
  }
  return
}

// -----

func.func @dynamic(%n: index) {
  // expected-error@+1 {{expected a memref of numbers with static shape and identity layout, but got 'memref<?xf32>'}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

func.func @select(%c: i1, %x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{expected a view of its operand: cannot tell how long the buffer lives}}
  %b = arith.select %c, %a, %x : memref<4xf32>
  return
}

// -----

func.func @escapes(%c: i1, %x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %b = scf.if %c -> memref<4xf32> {
    // expected-error@+1 {{expected buffers to stay inside their block: cannot tell how long the buffer lives}}
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  return
}

// -----

// expected-error@+1 {{expected one block, but got 2}}
func.func @blocks() {
  cf.br ^next
^next:
  return
}

// -----

func.func @size() attributes {tcp.target = "cpu"} {
  // expected-error@+1 {{'memref.alloc' op expects tensors and buffers of at most 2^40 elements, but got 'memref<9223372036854775807x2xf32>'}}
  %0 = memref.alloc() : memref<9223372036854775807x2xf32>
  return
}
