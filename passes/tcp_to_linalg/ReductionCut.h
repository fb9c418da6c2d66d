// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where a long reduction is cut into parts.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_REDUCTIONCUT_H
#define CONVOY_PASSES_TCP_TO_LINALG_REDUCTIONCUT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace convoy {

/// The longest reduction that need not be cut for its precision.
inline constexpr int64_t kLongReduction = 1 << 13;

/// The split of the loops: loops outside of `dim` become parallel, loops inside stay in a part, and
/// `dim` becomes `parts` times `size` iterations, with `rest` remaining iterations. With one part
/// `dim` belongs to the inside, with size one to the outside.
struct ReductionCut {
  unsigned dim = 0;
  int64_t parts = 1, size = 1, rest = 0;
};

/// The number of elements that `op` reduces to each result.
int64_t lengthOf(mlir::linalg::GenericOp op);

/// The number of results of `op`.
int64_t resultsOf(mlir::linalg::GenericOp op);

/// The innermost loop of more than one iteration along which `map` varies, or nullopt.
std::optional<unsigned> innermostLoop(mlir::AffineMap map, llvm::ArrayRef<int64_t> ranges);

/// The cut of a reduction of more than `kLongReduction` elements, or that `isSlow`: into parts of
/// at most 2048 elements, on a GPU into those that take the least time.
ReductionCut chooseCut(mlir::linalg::GenericOp op);

/// Whether a reduction that one kernel may compute takes longer than its parts, because few threads
/// of a GPU read many elements one after another.
bool isSlow(mlir::linalg::GenericOp op);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_REDUCTIONCUT_H
