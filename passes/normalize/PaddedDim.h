// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Follows a dim that gets zeros through views: a run of elements of it, e.g. one head, becomes a
// longer run, in whichever dim views put the runs.

#ifndef CONVOY_PASSES_NORMALIZE_PADDEDDIM_H
#define CONVOY_PASSES_NORMALIZE_PADDEDDIM_H

#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/Builders.h"

namespace convoy {

/// A dim whose size is a multiple of `from`. Each run of `from` elements gets zeros at its end, so
/// that it has `to`.
struct PaddedDim {
  int64_t dim, from, to;
  bool operator==(const PaddedDim &other) const {
    return dim == other.dim && from == other.from && to == other.to;
  }
};

/// `shape` with the padded dim.
llvm::SmallVector<int64_t> paddedShape(llvm::ArrayRef<int64_t> shape, PaddedDim dim);

/// The dim of the result of `view`, a reshape, transpose or slice, that has the runs of `dim` of
/// its operand. Returns std::nullopt if the result is not of whole runs.
std::optional<PaddedDim> through(mlir::Operation *view, PaddedDim dim);

/// A copy of `view` that reads `input`, the padded form of its operand. `dim` is that of the
/// result.
mlir::Value cloneView(mlir::OpBuilder &builder, mlir::Operation *view, mlir::Value input,
                      PaddedDim dim);

/// `value` with zeros at the end of each run.
mlir::Value padWithZeros(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                         PaddedDim dim);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_PADDEDDIM_H
