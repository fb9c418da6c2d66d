// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits a gpu.func for a mapping: one thread per output element or a few elements, several threads
// per output of a long reduction. Or for several mappings, each of which gets a part of the blocks.

#ifndef CONVOY_PASSES_GPU_CODEGEN_KERNELEMIT_H
#define CONVOY_PASSES_GPU_CODEGEN_KERNELEMIT_H

#include "passes/gpu_codegen/Kernel.h"
#include "passes/gpu_codegen/KernelMapping.h"

namespace convoy::gpu_codegen {

/// Emits the kernel that computes `plans` at `builder`, inside a gpu.module. They have equal
/// `blockThreads()`, and the kernel is launched with the sum of their `blocks()`: those of the
/// first plan, then those of the second, and so on. No plan may depend on another. Emits an error
/// and no kernel when a payload uses a value that is neither constant nor loaded from a static
/// memref.
mlir::FailureOr<Kernel> emitKernel(llvm::ArrayRef<KernelMapping> plans, mlir::OpBuilder &builder,
                                   llvm::StringRef name);

/// The bytes of shared memory that a block of `plan` has.
int64_t sharedBytes(const KernelMapping &plan, mlir::OpBuilder &builder);

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_KERNELEMIT_H
