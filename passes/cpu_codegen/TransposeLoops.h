// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The order of the loops of an op: those of a transpose iterate over blocks, so that the elements
// that are read and written share cache lines.

#ifndef CONVOY_PASSES_CPU_CODEGEN_TRANSPOSELOOPS_H
#define CONVOY_PASSES_CPU_CODEGEN_TRANSPOSELOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace convoy {

/// The dim along which neighbours of an input of `op` are nearest, and share cache lines, while the
/// output, contiguous along the last dim, is not; nullopt if there is none, or if the loops would
/// be short.
std::optional<unsigned> transposedDim(mlir::linalg::LinalgOp op);

/// The op with its loops in `order`; `op`, or an equal generic, if that is not possible.
mlir::linalg::LinalgOp reordered(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op,
                                 llvm::ArrayRef<unsigned> order);

/// Moves `dim` to the place before the last, if possible.
mlir::linalg::LinalgOp moveBeforeLast(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op,
                                      unsigned dim);

/// Makes the two innermost loops iterate over square blocks, with loops over each block in them.
/// Updates the `ranges` of these loops.
void iterateOverBlocks(llvm::ArrayRef<mlir::Operation *> loops,
                       llvm::MutableArrayRef<int64_t> ranges);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_TRANSPOSELOOPS_H
