// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The class that converts a block to channels-last: convolutions, pools, elementwise ops and groups
// (ChannelsLast.cpp), and the ops that move elements or name dims (ChannelsLastShapes.cpp).

#ifndef CONVOY_PASSES_NORMALIZE_CHANNELSLAST_H
#define CONVOY_PASSES_NORMALIZE_CHANNELSLAST_H

#include "dialect/tcp/TcpShapes.h"
#include "passes/normalize/OrderCost.h"

namespace convoy {

/// A single walk in program order: each value is kept in the order in which it is computed until an
/// op requires a specific order, so most transposes are never created.
class ChannelsLastRewriter {
public:
  /// `block` is the body of `function`, or of a scan in it.
  ChannelsLastRewriter(mlir::func::FuncOp function, mlir::Block &block)
      : block(block), weights(function), builder(function.getContext(), &weights),
        layouts(builder) {}

  void run();

private:
  /// Rewrites `op` to use the stored operands. Returns false if `op` requires the original order.
  bool visit(mlir::Operation *op);
  bool visitShapeOp(mlir::Operation *op);

  bool visitConv(tcp::ConvOpInterface op);
  template <typename GradientOp> bool visitGradient(GradientOp op);
  template <typename PoolOp> bool visitPool(PoolOp op);
  bool visitElementwise(mlir::Operation *op);
  bool visitGroup(tcp::IsolatedGroupOp op);
  bool visitReshape(tcp::ReshapeOp op);
  bool visitMatmul(tcp::MatmulOp op);
  bool keepOrder(tcp::MatmulOp op);
  bool visitConcat(tcp::ConcatOp op);
  bool visitIndexSelect(tcp::IndexSelectOp op);
  /// Copies an op whose result is stored in the order of its operand, with attributes of that
  /// order.
  template <typename Op> bool visitSameOrder(Op op);

  /// The order of the largest of `operands`, which an op with this result has in common. Of several
  /// orders, the one with which fewer bytes are transposed before and after the op.
  Permutation commonOrder(mlir::OperandRange operands, mlir::Value result);
  mlir::RankedTensorType storedType(mlir::Value value, llvm::ArrayRef<int64_t> perm) {
    return withShape(
        value.getType(),
        toStored(mlir::cast<mlir::RankedTensorType>(value.getType()).getShape(), perm));
  }

  mlir::Block &block;
  WeightValues weights;
  mlir::OpBuilder builder;
  Layouts layouts;
  /// Flattened values whose last dim has the order of the stored value: the shape of that dim
  /// before flattening, and the order.
  struct Shuffled {
    llvm::SmallVector<int64_t> shape, transposed;
  };
  llvm::DenseMap<mlir::Value, Shuffled> shuffled;
  /// Elementwise ops that are computed channels-last although no operand is: only convolutions use
  /// their results. The transpose before the convolution moves before these ops, which can then
  /// become its prologue.
  llvm::DenseSet<mlir::Operation *> hoisted;
};

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_CHANNELSLAST_H
