// RUN: convoy-opt %s --kernels-to-ptx --split-input-file --verify-diagnostics

// The library has no function of this name.
// expected-error @+1 {{expects kernels that only call the kernel library, but a function has no body}}
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80">] {
  llvm.func @missing(!llvm.ptr)
  llvm.func @kernel(%x: !llvm.ptr) attributes {nvvm.kernel} {
    llvm.call @missing(%x) : (!llvm.ptr) -> ()
    llvm.return
  }
}

// -----

// expected-error @+1 {{expects one target, an #nvvm.target, but got none}}
gpu.module @no_target {
}

// -----

// expected-error @+1 {{expects one target, an #nvvm.target, but got [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90">]}}
gpu.module @two_targets [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90">] {
}

// -----

// expected-error @+1 {{expects one target, an #nvvm.target, but got [#rocdl.target]}}
gpu.module @other_target [#rocdl.target] {
}

// -----

// expected-error @+1 {{expected chip to be an architecture that the kernels can be compiled for, one of sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121, but got 'sm_60'}}
gpu.module @old [#nvvm.target<chip = "sm_60">] {
}

// -----

// LLVM has no PTX 8.0 for this architecture, and aborts.
// expected-error @+1 {{expects a target without features, but got '+ptx80'}}
gpu.module @version [#nvvm.target<chip = "sm_100", features = "+ptx80">] {
}

// -----

// expected-error @+1 {{expects a target without features, or with '+ptx80', but got '+nonsense'}}
gpu.module @feature [#nvvm.target<chip = "sm_90", features = "+nonsense">] {
}

// -----

// expected-error @+1 {{expects a target of triple 'nvptx64-nvidia-cuda', but got 'x86_64-linux-gnu'}}
gpu.module @triple [#nvvm.target<chip = "sm_90", triple = "x86_64-linux-gnu">] {
}

// -----

// A struct with other members than in the library.
// expected-error @+1 {{expects 'convoy_mean_f16' of the kernel library with the arguments (ptr, ptr, struct of 20 bytes), but calls it with (ptr, ptr, struct of 16 bytes)}}
gpu.module @arguments [#nvvm.target<O = 3, chip = "sm_80">] {
  llvm.func @convoy_mean_f16(!llvm.ptr, !llvm.ptr, !llvm.ptr {llvm.byval = !llvm.array<4 x i32>})
  llvm.func @kernel(%x: !llvm.ptr, %y: !llvm.ptr) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %place = llvm.alloca %one x !llvm.array<4 x i32> : (i32) -> !llvm.ptr
    llvm.call @convoy_mean_f16(%x, %y, %place) : (!llvm.ptr, !llvm.ptr, !llvm.ptr {llvm.byval = !llvm.array<4 x i32>}) -> ()
    llvm.return
  }
}

// -----

// expected-error @+1 {{expects functions of the kernel library, but calls 'convoy_median_f16'}}
gpu.module @unknown [#nvvm.target<O = 3, chip = "sm_80">] {
  llvm.func @convoy_median_f16(!llvm.ptr)
  llvm.func @kernel(%x: !llvm.ptr) attributes {nvvm.kernel} {
    llvm.call @convoy_median_f16(%x) : (!llvm.ptr) -> ()
    llvm.return
  }
}
