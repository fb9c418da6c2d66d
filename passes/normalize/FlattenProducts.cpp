// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Collapses the batch dims of matrix products, and sinks reshapes of products and convolutions
// below elementwise ops: cuDNN's matrix products have at most three dims, and a group is a chain
// without reshapes. Before that, products with a weight that repeats get one copy of it.

#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/normalize/RepeatedFactors.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPFLATTENPRODUCTSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct FlattenProductsPass : public convoy::impl::TcpFlattenProductsPassBase<FlattenProductsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// Whether `value` has one use and is computed by a matrix product or a convolution, possibly
/// followed by elementwise ops.
bool isOfProduct(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse())
    return false;
  return isa<MatmulOp, ConvOpInterface>(op) ||
         (op->hasTrait<Elementwise>() && llvm::any_of(op->getOperands(), isOfProduct));
}

/// Collapses several batch dims to one.
struct FlattenBatch : public OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
    if (lhs.size() <= 3)
      return rewriter.notifyMatchFailure(op, "at most one batch dim");
    if (lhs.drop_back(2) != rhs.drop_back(2))
      return rewriter.notifyMatchFailure(op, "an operand broadcasts along a batch dim");
    int64_t batch = ShapedType::getNumElements(lhs.drop_back(2));
    auto flat = [&](Value value) -> Value {
      SmallVector<int64_t> shape = {batch};
      llvm::append_range(shape, shapeOf(value).take_back(2));
      return ReshapeOp::create(rewriter, op.getLoc(), withShape(value.getType(), shape), value);
    };
    SmallVector<int64_t> shape = {batch, lhs[lhs.size() - 2], rhs.back()};
    Value product = MatmulOp::create(rewriter, op.getLoc(), withShape(op.getType(), shape),
                                     flat(op.getLhs()), flat(op.getRhs()));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), product);
    return success();
  }
};

/// Makes one matrix of a batch of matrices that are multiplied by one matrix.
struct FlattenRows : public OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs()),
                      result = shapeOf(op.getOutput());
    if (lhs.size() < 3 || llvm::any_of(rhs.drop_back(2), [](int64_t size) { return size != 1; }))
      return rewriter.notifyMatchFailure(op, "its right factor is a batch");
    int64_t rows = ShapedType::getNumElements(lhs.drop_back());
    auto flat = [&](Value value, ArrayRef<int64_t> shape) -> Value {
      return ReshapeOp::create(rewriter, op.getLoc(), withShape(value.getType(), shape), value);
    };
    Value product = MatmulOp::create(
        rewriter, op.getLoc(), withShape(op.getType(), {rows, result.back()}),
        flat(op.getLhs(), {rows, lhs.back()}), flat(op.getRhs(), rhs.take_back(2)));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), product);
    return success();
  }
};

/// Moves a reshape of a product or a convolution below the elementwise op that uses it.
struct SinkReshape : public OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (!isOfProduct(op.getInput()))
      return rewriter.notifyMatchFailure(
          op, "its input is not a product or a convolution, or has other uses");
    if (!op->hasOneUse() || !(*op->user_begin())->hasTrait<Elementwise>())
      return rewriter.notifyMatchFailure(op, "its only use is not an elementwise op");
    Operation *user = *op->user_begin();
    ArrayRef<int64_t> from = shapeOf(op.getInput()), to = shapeOf(op);
    if (shapeOf(user->getResult(0)) != to)
      return rewriter.notifyMatchFailure(op, "it broadcasts to the result");
    SmallVector<SmallVector<int64_t>> shapes;
    for (Value operand : user->getOperands()) {
      ArrayRef<int64_t> shape = shapeOf(operand);
      bool isRow = !shape.empty() &&
                   llvm::all_of(shape.drop_back(), [](int64_t dim) { return dim == 1; }) &&
                   shape.back() == from.back();
      if (shape != to && !isRow)
        return rewriter.notifyMatchFailure(
            op, "another operand broadcasts to the result, and is not a row");
      // With two products, the reshape of one would sink and that of the other would have to rise.
      if (operand != op.getOutput() && isOfProduct(operand))
        return rewriter.notifyMatchFailure(op, "another operand is a product as well");
      // Groups have no constants as operands, and an op with a constant may be part of a later
      // group.
      if (matchPattern(operand, m_Constant()))
        return rewriter.notifyMatchFailure(op, "another operand is a constant");
      SmallVector<int64_t> &own = shapes.emplace_back(from);
      if (shape != to)
        std::fill(own.begin(), std::prev(own.end()), 1);
    }
    rewriter.setInsertionPoint(user);
    SmallVector<Value> operands;
    for (auto [operand, shape] : llvm::zip_equal(user->getOperands(), shapes)) {
      Value before = operand == op.getOutput() ? op.getInput() : operand;
      operands.push_back(
          shapeOf(before) == ArrayRef(shape)
              ? before
              : ReshapeOp::create(rewriter, op.getLoc(), withShape(before.getType(), shape), before)
                    .getOutput());
    }
    Operation *flat =
        cloneWith(rewriter, user, operands, withShape(user->getResult(0).getType(), from));
    rewriter.replaceOpWithNewOp<ReshapeOp>(user, user->getResult(0).getType(), flat->getResult(0));
    return success();
  }
};

} // namespace

void FlattenProductsPass::runOnStaticShapes() {
  mergeRepeatedFactors(getOperation());
  RewritePatternSet patterns(&getContext());
  patterns.add<FlattenRows, FlattenBatch, SinkReshape>(&getContext());
  ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
    signalPassFailure();
}
