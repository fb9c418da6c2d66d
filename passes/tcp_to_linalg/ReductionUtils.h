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

/// On a GPU, norms and softmaxes of longer contiguous rows are divided into parts. A block has no
/// registers for all elements of such a row, and would read it from the cache in each pass: of 512
/// log softmaxes of 128,256 f16 on an H200, one kernel takes 139 us, the three kernels of parts
/// 106.
inline constexpr int64_t kLongContiguousRow = 1 << 16;

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_REDUCTIONUTILS_H
