// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The scores of attention that a model writes out: a product, its scale and softcap, and what is
// added to it.

#ifndef CONVOY_PASSES_NORMALIZE_ATTENTIONSCORES_H
#define CONVOY_PASSES_NORMALIZE_ATTENTIONSCORES_H

#include "dialect/tcp/TcpOps.h"
#include "passes/normalize/AttentionMask.h"

namespace convoy {

/// What is added to the scores, and the shape of the scores there: they may be reshaped on their
/// way, but for rows and columns.
struct MaskTerm {
  mlir::Value mask;
  llvm::SmallVector<int64_t> shape;
  /// For scores that a select replaces: whether the condition `mask` is true for those that stay,
  /// and what replaces the others.
  bool kept = false;
  mlir::FloatAttr fill;
};

/// The scores of attention as they are written out. With a softcap `c` a product `s`, which `scale`
/// multiplies, becomes `c * tanh(s / c)` before the terms.
struct Scores {
  tcp::MatmulOp product;
  double scale = 1;
  std::optional<double> softcap;
  llvm::SmallVector<MaskTerm> terms;
};

/// The shape of the scores with one batch dim and one of heads.
using ScoresShape = llvm::SmallVector<int64_t>;

/// Whether `op` changes only the dims before the last two.
bool keepsRows(tcp::ReshapeOp op);

/// The operand of `op` that it scales by a number, which `scale` is multiplied by; null if it does
/// not, or if the number is not positive: kernels compute the maximum of a row before they scale
/// it.
mlir::Value scaledOperand(mlir::Operation *op, double &scale);

/// Finds the scores that `x` is. Nothing else uses them.
std::optional<Scores> scoresOf(mlir::Value x);

/// Whether a select of scores and `fill` is the same as the sum of the scores and zero or `fill`.
bool isSum(const MaskTerm &term);

/// The band outside of which a term hides all scores if it does nothing else, or std::nullopt.
std::optional<Band> bandOf(const MaskTerm &term);

/// The band of all `terms` of scores of `shape`, or std::nullopt if one does anything else.
std::optional<Band> bandOf(llvm::ArrayRef<MaskTerm> terms, const ScoresShape &shape);

/// The sum of the terms of scores of `shape` and `dtype`.
mlir::Value maskOf(mlir::OpBuilder &builder, mlir::Location loc, const Scores &found,
                   const ScoresShape &shape, mlir::Type dtype);

/// `value` with another shape; `value` itself if it has this one.
mlir::Value reshapedTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       llvm::ArrayRef<int64_t> shape);
mlir::Value broadcastedTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          llvm::ArrayRef<int64_t> shape);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_ATTENTIONSCORES_H
