// Which neighbours of a linalg op its kernel can take in: fills before it, a pointwise op after it.
// Buffers share bytes of the arena, so each answer depends on what lies between the ops.

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

/// The pointwise op after `op` that can take its result from registers: nothing else reads the
/// result, and nothing in between or in the epilogue's output overwrites what `op` reads. Null when
/// there is none.
mlir::linalg::LinalgOp findEpilogue(mlir::linalg::LinalgOp op);

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_FOLDS_H
