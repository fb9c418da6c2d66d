// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_PASSES_GPU_CODEGEN_KERNEL_H
#define CONVOY_PASSES_GPU_CODEGEN_KERNEL_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "passes/common/Buffers.h"

namespace convoy::gpu_codegen {

/// A kernel and the arguments of its launch.
struct Kernel {
  mlir::gpu::GPUFuncOp func;
  /// Roots of memrefs, in the order of the kernel's arguments.
  llvm::SmallVector<mlir::Value> arguments;
  /// Memory that the payload loads from by index, which is no operand.
  llvm::SmallVector<Buffer> gathered;
};

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_KERNEL_H
