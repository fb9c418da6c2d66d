// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the manifest says about a kernel, and the name of its function.

#ifndef CONVOY_PASSES_GPU_CODEGEN_KERNELENTRY_H
#define CONVOY_PASSES_GPU_CODEGEN_KERNELENTRY_H

#include "passes/gpu_codegen/Kernel.h"
#include "passes/gpu_codegen/KernelMapping.h"

namespace convoy::gpu_codegen {

/// A kernel's entry in the manifest: its arguments, and the bytes that it reads and writes.
mlir::Attribute manifestEntry(llvm::ArrayRef<KernelMapping> plans, Kernel kernel);

/// The name of a kernel that computes `plans`.
std::string nameOf(llvm::ArrayRef<KernelMapping> plans);

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_KERNELENTRY_H
