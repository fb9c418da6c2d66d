// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Builders of reductions. The result of a linalg reduction lacks the reduced dims, so that every
// map is a projected permutation; a reshape adds them with size 1.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_REDUCTIONUTILS_H
#define CONVOY_PASSES_TCP_TO_LINALG_REDUCTIONUTILS_H

#include "passes/tcp_to_linalg/LinalgUtils.h"

namespace convoy {

/// `shape` with 1 at `dims`.
llvm::SmallVector<int64_t> keptShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);

/// Reduces `inputs` (of equal rank; dims of size 1 broadcast to the first one's) over `dims`,
/// beginning with `start`. The last argument of `combine` is the accumulator. The result keeps the
/// dims with size 1.
mlir::Value reduce(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                   llvm::ArrayRef<int64_t> dims, mlir::Value start, ScalarBody combine);

/// One step of a sum that may be reassociated, so that it can use several vector lanes, which is
/// also more accurate.
mlir::Value addInAnyOrder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value soFar,
                          mlir::Value next);

/// The sum over `dims` in the compute type.
mlir::Value sum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                llvm::ArrayRef<int64_t> dims);

/// For each element the sum over `dims`, on which the result does not depend.
mlir::Value sumForEach(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                       llvm::ArrayRef<int64_t> dims);

/// The number of elements of `input` along `dims`.
double countOver(mlir::Value input, llvm::ArrayRef<int64_t> dims);

/// On a GPU, the most elements of a contiguous row that one block reduces: with few rows, most
/// multiprocessors would have none.
inline int64_t mostOfBlock(int64_t rows) {
  constexpr int64_t kMostOfRow = 1 << 16, kMostOfManyRows = 1 << 18, kManyRows = 64;
  return rows >= kManyRows ? kMostOfManyRows : kMostOfRow;
}

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_REDUCTIONUTILS_H
