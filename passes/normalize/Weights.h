// Which values of a function are made of weights alone: what may be computed once, in
// @prepare_weights, and what the passes of this phase may therefore change without cost.

#ifndef CONVOY_PASSES_NORMALIZE_WEIGHTS_H
#define CONVOY_PASSES_NORMALIZE_WEIGHTS_H

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace convoy {

/// The values of a function that depend on weights and constants only. As a listener of a builder
/// it follows new ops by itself; ops must not be erased before the last query unless all new ones
/// come from such a builder.
class WeightValues : public mlir::OpBuilder::Listener {
public:
  explicit WeightValues(mlir::func::FuncOp function);

  /// Whether `value` is a weight, a constant, or computed from these alone.
  bool contains(mlir::Value value) const { return values.contains(value); }

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;

private:
  llvm::DenseSet<mlir::Value> values;
};

/// `op`'s type with another element type or another shape.
mlir::RankedTensorType withElementType(mlir::Type type, mlir::Type elementType);
mlir::RankedTensorType withShape(mlir::Type type, llvm::ArrayRef<int64_t> shape);

/// Copies `op`, which has one result, with other operands and another result type, at the builder's
/// insertion point.
mlir::Operation *cloneWith(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands,
                           mlir::Type type);

/// Erases the ops of a block that nothing uses, last first.
void eraseDeadOps(mlir::Block &block);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_WEIGHTS_H
