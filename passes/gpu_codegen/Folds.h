// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fills that the kernel of a linalg op takes in. Buffers share bytes of the arena, so this
// depends on the ops between them.

#ifndef CONVOY_PASSES_GPU_CODEGEN_FOLDS_H
#define CONVOY_PASSES_GPU_CODEGEN_FOLDS_H

#include "passes/gpu_codegen/KernelMapping.h"

namespace convoy::gpu_codegen {

/// What a linalg op takes over from fills before it.
struct Absorbed {
  llvm::SmallVector<mlir::Value> inits;
  std::optional<Padding> padding;
  llvm::SmallVector<mlir::linalg::FillOp> fills;
};

/// The fills that only start or surround the result of `op`.
Absorbed absorbFills(mlir::linalg::LinalgOp op);

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_FOLDS_H
