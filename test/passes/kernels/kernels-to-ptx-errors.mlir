// RUN: convoy-opt %s --kernels-to-ptx --split-input-file --verify-diagnostics

// A function of another name than the library's is in no module that kernels are linked with.
// expected-error @+1 {{expects kernels that call nothing but the library of kernels, but a function has no body}}
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
