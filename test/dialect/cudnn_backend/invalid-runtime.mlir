// RUN: convoy-opt %s --split-input-file --verify-diagnostics

func.func @execute_c1(%runtime: !llvm.ptr, %x: memref<4xf32>) {
  // expected-error @+1 {{expects to be at the top level, or in a loop, of a function whose only result is an i32, the status}}
  cudnn_backend.execute_graph %runtime, call = 0 (%x) : memref<4xf32>
  return
}

// -----

func.func @launch_c1(%runtime: !llvm.ptr, %x: memref<4xf32>) {
  // expected-error @+1 {{expects to be at the top level, or in a loop, of a function whose only result is an i32, the status}}
  cudnn_backend.launch_kernel %runtime, kernel = 0 grid [1, 1, 1] block [1, 1, 1] shared 0 (%x) : memref<4xf32>
  return
}

// -----

func.func @copy_c1(%runtime: !llvm.ptr, %x: memref<4xf32>) {
  // expected-error @+1 {{expects to be at the top level, or in a loop, of a function whose only result is an i32, the status}}
  cudnn_backend.copy %runtime, %x, %x : memref<4xf32>, memref<4xf32>
  return
}

// -----

func.func @execute_c1_nested(%runtime: !llvm.ptr, %x: memref<4xf32>, %c: i1) -> i32 {
  %zero = arith.constant 0 : i32
  scf.if %c {
    // expected-error @+1 {{expects to be at the top level, or in a loop, of a function whose only result is an i32, the status}}
    cudnn_backend.execute_graph %runtime, call = 0 (%x) : memref<4xf32>
  }
  return %zero : i32
}

// -----

func.func @execute_c2(%runtime: !llvm.ptr, %x: memref<4xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects a non-negative 'call', but got -1}}
  cudnn_backend.execute_graph %runtime, call = -1 (%x) : memref<4xf32>
  return %zero : i32
}

// -----

func.func @launch_c2(%runtime: !llvm.ptr, %x: memref<4xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects a non-negative 'kernel', but got -1}}
  cudnn_backend.launch_kernel %runtime, kernel = -1 grid [1, 1, 1] block [1, 1, 1] shared 0 (%x) : memref<4xf32>
  return %zero : i32
}

// -----

func.func @launch_c2_shared(%runtime: !llvm.ptr, %x: memref<4xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects a non-negative 'shared', but got -8}}
  cudnn_backend.launch_kernel %runtime, kernel = 0 grid [1, 1, 1] block [1, 1, 1] shared -8 (%x) : memref<4xf32>
  return %zero : i32
}

// -----

func.func @execute_c3(%runtime: !llvm.ptr, %x: memref<?xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects buffers of static shape, but got 'memref<?xf32>'}}
  cudnn_backend.execute_graph %runtime, call = 0 (%x) : memref<?xf32>
  return %zero : i32
}

// -----

func.func @launch_c3(%runtime: !llvm.ptr, %x: memref<*xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects buffers of static shape, but got 'memref<*xf32>'}}
  cudnn_backend.launch_kernel %runtime, kernel = 0 grid [1, 1, 1] block [1, 1, 1] shared 0 (%x) : memref<*xf32>
  return %zero : i32
}

// -----

func.func @launch_c4_count(%runtime: !llvm.ptr, %x: memref<4xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects three positive sizes in 'grid', but got [1, 1]}}
  cudnn_backend.launch_kernel %runtime, kernel = 0 grid [1, 1] block [1, 1, 1] shared 0 (%x) : memref<4xf32>
  return %zero : i32
}

// -----

func.func @launch_c4_zero(%runtime: !llvm.ptr, %x: memref<4xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects three positive sizes in 'block', but got [1, 0, 1]}}
  cudnn_backend.launch_kernel %runtime, kernel = 0 grid [1, 1, 1] block [1, 0, 1] shared 0 (%x) : memref<4xf32>
  return %zero : i32
}

// -----

func.func @copy_c2_count(%runtime: !llvm.ptr, %x: memref<4xf32>, %y: memref<5xf32>) -> i32 {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects packed memrefs with equal numbers and types of elements, but got 'memref<4xf32>' and 'memref<5xf32>'}}
  cudnn_backend.copy %runtime, %x, %y : memref<4xf32>, memref<5xf32>
  return %zero : i32
}

// -----

func.func @copy_c2_type(%runtime: !llvm.ptr, %x: memref<4xf32>, %y: memref<4xi32>) -> i32 {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects packed memrefs with equal numbers and types of elements, but got 'memref<4xf32>' and 'memref<4xi32>'}}
  cudnn_backend.copy %runtime, %x, %y : memref<4xf32>, memref<4xi32>
  return %zero : i32
}

// -----

func.func @copy_c2_layout(%runtime: !llvm.ptr, %x: memref<4xf32>, %y: memref<4xf32, strided<[2]>>) -> i32 {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{expects packed memrefs with equal numbers and types of elements, but got 'memref<4xf32>' and 'memref<4xf32, strided<[2]>>'}}
  cudnn_backend.copy %runtime, %x, %y : memref<4xf32>, memref<4xf32, strided<[2]>>
  return %zero : i32
}
