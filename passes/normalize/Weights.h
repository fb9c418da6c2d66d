// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds values that depend only on weights. They are computed once, in @prepare_weights, so ops on
// them have no cost at run time.

#ifndef CONVOY_PASSES_NORMALIZE_WEIGHTS_H
#define CONVOY_PASSES_NORMALIZE_WEIGHTS_H

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace convoy {

/// The values of a function that depend only on weights and constants. As a listener of a builder
/// it tracks new ops. Erasing ops before the last query requires that all new ops are created by
/// such a builder.
class WeightValues : public mlir::OpBuilder::Listener {
public:
  explicit WeightValues(mlir::func::FuncOp function);

  /// Whether `value` is a weight, a constant, or computed from these alone.
  bool contains(mlir::Value value) const { return values.contains(value); }

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;

private:
  llvm::DenseSet<mlir::Value> values;
};

/// `type` with another element type or another shape.
mlir::RankedTensorType withElementType(mlir::Type type, mlir::Type elementType);
mlir::RankedTensorType withShape(mlir::Type type, llvm::ArrayRef<int64_t> shape);

/// `value` with another shape.
mlir::Value reshaped(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                     llvm::ArrayRef<int64_t> shape);

/// `value` with its dims in the order `perm`; `value` itself if that is its order.
mlir::Value permuted(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                     llvm::ArrayRef<int64_t> perm);

/// Clones `op`, which has one result, with other operands and another result type, at the builder's
/// insertion point.
mlir::Operation *cloneWith(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands,
                           mlir::Type type);

/// Erases the dead ops of a block, from last to first.
void eraseDeadOps(mlir::Block &block);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_WEIGHTS_H
