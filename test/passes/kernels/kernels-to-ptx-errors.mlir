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
