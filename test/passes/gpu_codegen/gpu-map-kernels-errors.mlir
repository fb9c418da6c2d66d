// RUN: convoy-opt %s -split-input-file -add-runtime-argument -gpu-map-kernels -verify-diagnostics

func.func @dynamic_shape(%x: memref<?xf32>, %out: memref<?xf32>) attributes {tcp.target = "cuda"} {
  // expected-error @+1 {{'linalg.generic' op expects static shapes to become a kernel}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

func.func @dynamic_offset(%x: memref<4xf32, strided<[1], offset: ?>>, %out: memref<4xf32>) attributes {tcp.target = "cuda"} {
  // expected-error @+1 {{'linalg.generic' op expects operand 0 to have a static shape and strided layout to become a kernel, but got 'memref<4xf32, strided<[1], offset: ?>>'}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32, strided<[1], offset: ?>>) outs(%out : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

func.func @tensors(%x: tensor<4xf32>, %out: tensor<4xf32>) attributes {tcp.target = "cuda"} {
  // expected-error @+1 {{'linalg.generic' op expects memrefs to become a kernel, but got operand 0 of type 'tensor<4xf32>'}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @scalar_argument(%x: f32, %out: memref<4xf32>) attributes {tcp.target = "cuda"} {
  // expected-error @+1 {{'linalg.fill' op expects scalar operands of a kernel to be constants, but got a value of type 'f32'}}
  linalg.fill ins(%x : f32) outs(%out : memref<4xf32>)
  return
}

// -----

func.func @captured(%x: f32, %out: memref<4xf32>) attributes {tcp.target = "cuda"} {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%out : memref<4xf32>) {
  ^bb0(%o: f32):
    // expected-error @+1 {{'arith.addf' op expects constants and loads of static memrefs in a kernel, but got a value of type 'f32'}}
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  }
  return
}

// -----

func.func @reduction_over_the_result(%r: !llvm.ptr, %x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {tcp.target = "cuda"} {
  // expected-error @+1 {{'linalg.generic' op expects results that do not vary along reduced dims to become a kernel, but a result varies along dim 0}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

func.func @size(%x: memref<9223372036854775807x2xf32>) attributes {tcp.target = "cuda"} {
  // expected-error@+1 {{'memref.copy' op expects tensors and buffers of at most 2^40 elements, but got 'memref<9223372036854775807x2xf32>'}}
  memref.copy %x, %x : memref<9223372036854775807x2xf32> to memref<9223372036854775807x2xf32>
  return
}

// -----

func.func @other_region(%x: memref<4xf32>, %out: memref<4xf32>) attributes {tcp.target = "cuda"} {
  // expected-error @+1 {{'scf.execute_region' op expects a fill, a reduction and its epilogue, reductions and elementwise ops over the same rows, or several elementwise ops and such regions, to become a kernel}}
  scf.execute_region no_inline {
    linalg.exp ins(%x : memref<4xf32>) outs(%out : memref<4xf32>)
    scf.yield
  }
  return
}

// -----

func.func @other_result(%x: memref<4x8xf32>, %sums: memref<4xf32>, %y: memref<4xf32>, %out: memref<4xf32>) attributes {tcp.target = "cuda"} {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{'scf.execute_region' op expects a fill, a reduction and its epilogue, reductions and elementwise ops over the same rows, or several elementwise ops and such regions, to become a kernel}}
  scf.execute_region no_inline {
    linalg.fill ins(%zero : f32) outs(%sums : memref<4xf32>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<4x8xf32>) outs(%sums : memref<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %o, %a : f32
      linalg.yield %r : f32
    }
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%y : memref<4xf32>) outs(%out : memref<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    }
    scf.yield
  }
  return
}
