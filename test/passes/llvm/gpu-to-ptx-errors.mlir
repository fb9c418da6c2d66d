// RUN: convoy-opt %s -split-input-file -pass-pipeline="builtin.module(gpu.module(llvm-gpu-to-nvvm,llvm-verify-kernels))" -verify-diagnostics

gpu.module @no_instruction {
  gpu.func @kernel(%x: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.load %x[%c0] : memref<4xf32>
    // expected-error @+1 {{'math.erf' op expects to be expanded before phase 'llvm', because PTX has no instruction for it on 'f32'}}
    %r = math.erf %a : f32
    memref.store %r, %x[%c0] : memref<4xf32>
    gpu.return
  }
}

// -----

gpu.module @unresolved {
  llvm.func @__nv_expf(f32) -> f32
  gpu.func @kernel(%x: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.load %x[%c0] : memref<4xf32>
    // expected-error @+1 {{'llvm.call' op expects functions defined in the kernels' module, but got '__nv_expf'}}
    %r = llvm.call @__nv_expf(%a) : (f32) -> f32
    memref.store %r, %x[%c0] : memref<4xf32>
    gpu.return
  }
}

// -----

gpu.module @long_vector {
  gpu.func @kernel(%x: memref<4096xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{'vector.load' op expects vectors of at most 1024 elements in a kernel, but got 'vector<4096xf32>'}}
    %a = vector.load %x[%c0] : memref<4096xf32>, vector<4096xf32>
    vector.store %a, %x[%c0] : memref<4096xf32>, vector<4096xf32>
    gpu.return
  }
}
