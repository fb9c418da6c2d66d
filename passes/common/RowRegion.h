// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The scf.execute_region that plan-group-rows makes of reductions over the same rows and of the
// elementwise ops around them, e.g. a softmax or a layer norm. Code generation computes it row by
// row: a row stays in registers, and temporaries need no memory.

#ifndef CONVOY_PASSES_COMMON_ROWREGION_H
#define CONVOY_PASSES_COMMON_ROWREGION_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/common/RowLoops.h"

namespace convoy {

struct RowOp {
  mlir::linalg::LinalgOp op;
  RowKind kind = RowKind::Full;
  llvm::SmallVector<RowAccess> inputs; ///< those that the op does not use have no buffer
  RowAccess output;
  bool isStored = true; ///< whether an op outside of the region may read the output
  /// Of a reduction or running totals: combines two partial results.
  mlir::Operation *combiner = nullptr;
  mlir::Value init; ///< the initial value of the combined elements, a constant

  /// Whether it has a value for each element.
  bool hasElements() const { return kind == RowKind::Full || kind == RowKind::Cumulative; }
};

struct RowRegion {
  /// Loops over rows, then over the elements of a row, each outermost first.
  llvm::SmallVector<RowLoop> loops;
  /// Whether all memory with elements of rows is contiguous along the last loop.
  bool isContiguous = false;
  /// Whether it is contiguous along the last loop over rows instead, and there are many rows of few
  /// elements.
  bool isAcross = false;
  bool isInOrder = false;          ///< whether one thread has all elements of a row
  llvm::SmallVector<RowOp, 0> ops; ///< in order

  int64_t rows() const { return iterations(/*isReduced=*/false); }
  int64_t length() const { return iterations(/*isReduced=*/true); }

  /// The number of its op with running totals, if it has one. It is the only op that combines
  /// elements then, so that one loop over the groups of a row suffices.
  std::optional<unsigned> cumulative() const;

  /// Describes `ops`, linalg ops and fills of a block in order, or returns nullopt if they cannot
  /// be computed row by row.
  static std::optional<RowRegion> analyze(llvm::ArrayRef<mlir::Operation *> ops);

  /// The ops of `region`, or nullopt when it is not such a region.
  static std::optional<RowRegion> match(mlir::scf::ExecuteRegionOp region);

private:
  int64_t iterations(bool isReduced) const {
    int64_t count = 1;
    for (const RowLoop &loop : loops)
      count *= loop.isReduced == isReduced ? loop.size : 1;
    return count;
  }
};

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_ROWREGION_H
