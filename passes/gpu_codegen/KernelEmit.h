// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits a gpu.func for a mapping: one thread per output element or a few elements, several threads
// per output of a long reduction.

#ifndef CONVOY_PASSES_GPU_CODEGEN_KERNELEMIT_H
#define CONVOY_PASSES_GPU_CODEGEN_KERNELEMIT_H

#include "passes/gpu_codegen/Kernel.h"
#include "passes/gpu_codegen/KernelMapping.h"

namespace convoy::gpu_codegen {

/// Emits the kernel of `plan` at `builder`, inside a gpu.module. The kernel is launched with
/// `plan.threads()` threads in blocks of `plan.blockThreads()`. Emits an error and no kernel when
/// the payload uses a value that is neither constant nor loaded from a static memref.
mlir::FailureOr<Kernel> emitKernel(const KernelMapping &plan, mlir::OpBuilder &builder,
                                   llvm::StringRef name);

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_KERNELEMIT_H
