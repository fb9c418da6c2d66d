// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is known about the masks of attention at compile time.

#ifndef CONVOY_PASSES_NORMALIZE_ATTENTIONMASK_H
#define CONVOY_PASSES_NORMALIZE_ATTENTIONMASK_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace convoy {

/// The columns that the rows of square scores see: with `causal` those up to their own index, with
/// a window those less than `window` before it. Each row sees the column of its own index.
struct Band {
  bool causal = false;
  std::optional<int64_t> window;

  /// The columns that rows see in both.
  Band operator&(const Band &other) const;
};

/// The band where `condition`, of bools, is true (`kept`) or false (not `kept`), or std::nullopt.
std::optional<Band> bandOfCondition(mlir::Value condition, bool kept);

/// The band where `mask`, which is added to scores, is zero if it hides all other scores, or
/// std::nullopt.
std::optional<Band> bandOfMask(mlir::Value mask);

/// A mask of which a band is left out.
struct MaskInBand {
  Band band;
  mlir::Value mask;
};

/// The band and the rest of `mask`, if it is minus infinity where one of several conditions hides a
/// score and zero elsewhere, and only some of the conditions are a band.
std::optional<MaskInBand> withoutBand(mlir::OpBuilder &builder, mlir::Value mask);

/// A value that `mask` is a broadcast of, or `mask`. Elementwise ops of broadcasts are computed
/// before them.
mlir::Value withoutBroadcast(mlir::OpBuilder &builder, mlir::Value mask);

/// Whether `number` hides a score of this type that it is added to, next to one that is not hidden.
bool hidesScores(const llvm::APFloat &number);

/// Whether every element of `mask` is finite, or NaN, whatever the inputs are.
bool isNeverInfinite(mlir::Value mask);

/// `mask` with NaN in the rows that are minus infinity in all columns. `tcp.attention` makes such
/// rows 0; a softmax makes them NaN.
mlir::Value withNanRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value mask);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_ATTENTIONMASK_H
