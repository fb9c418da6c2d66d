// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Canonicalization patterns of the tcp ops that create ops or match several of them.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// op(broadcast(x), y) -> op(x, y) if the result shape is unchanged: the op broadcasts implicitly.
struct DropBroadcastOperand : public OpTraitRewritePattern<convoy::tcp::Elementwise> {
  using OpTraitRewritePattern::OpTraitRewritePattern;

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() < 2)
      return rewriter.notifyMatchFailure(op, "does not broadcast");
    for (OpOperand &operand : op->getOpOperands()) {
      auto broadcast = operand.get().getDefiningOp<BroadcastOp>();
      if (!broadcast)
        continue;
      SmallVector<ArrayRef<int64_t>> shapes = llvm::map_to_vector(op->getOperands(), shapeOf);
      shapes[operand.getOperandNumber()] = shapeOf(broadcast.getInput());
      FailureOr<SmallVector<int64_t>> shape = broadcastShape(shapes);
      if (failed(shape) || ArrayRef(*shape) != shapeOf(op->getResult(0)))
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(broadcast.getInput()); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is a redundant broadcast");
  }
};

/// matmul(broadcast(x), y) -> matmul(x, y) if only batch dims are broadcast, to those of y.
struct DropBroadcastBatch : public OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    for (OpOperand &operand : op->getOpOperands()) {
      auto broadcast = operand.get().getDefiningOp<BroadcastOp>();
      if (!broadcast ||
          shapeOf(broadcast.getInput()).take_back(2) != shapeOf(broadcast).take_back(2))
        continue;
      Value other = op->getOperand(1 - operand.getOperandNumber());
      FailureOr<SmallVector<int64_t>> batch =
          broadcastShape({shapeOf(broadcast.getInput()).drop_back(2), shapeOf(other).drop_back(2)});
      if (failed(batch) || ArrayRef(*batch) != shapeOf(op).drop_back(2))
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(broadcast.getInput()); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is a redundant broadcast of batch dims");
  }
};

/// A select by a condition that is known is the chosen operand, broadcast to the result.
struct SelectToBroadcast : public OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    SplatElementsAttr condition;
    if (!matchPattern(op.getCondition(), m_Constant(&condition)))
      return rewriter.notifyMatchFailure(op, "its condition is not a constant of one value");
    Value chosen = condition.getSplatValue<bool>() ? op.getOnTrue() : op.getOnFalse();
    if (!op.getType().hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the size of a ? may be that of another operand");
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), chosen);
    return success();
  }
};

/// A transpose that moves only dims of size 1 is a reshape.
struct TransposeToReshape : public OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> moved;
    llvm::copy_if(op.getPerm(), std::back_inserter(moved),
                  [&](int64_t dim) { return shapeOf(op.getInput())[dim] != 1; });
    if (!llvm::is_sorted(moved))
      return rewriter.notifyMatchFailure(op, "moves elements");
    if (op.getType().getNumDynamicDims() > 1)
      return rewriter.notifyMatchFailure(op, "a reshape does not determine several ?");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

/// transpose(reshape(x)), where the reshape only adds dims of size 1, as an einsum does ->
/// reshape(transpose(x)), so that what matches transposes finds those of the dims of x.
struct TransposeBeforeUnitDims : public OpRewritePattern<TransposeOp> {
  using OpRewritePattern<TransposeOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
    if (!reshape || !reshape.getInput().getType().hasStaticShape() ||
        !op.getType().hasStaticShape())
      return rewriter.notifyMatchFailure(op, "input is no reshape of static shape");
    ArrayRef<int64_t> from = shapeOf(reshape.getInput()), to = shapeOf(reshape.getOutput());
    // The dim of x that each dim of the reshape is, or -1.
    SmallVector<int64_t> source(to.size(), -1);
    size_t next = 0;
    for (auto [dim, size] : llvm::enumerate(to)) {
      if (next < from.size() && from[next] == size)
        source[dim] = static_cast<int64_t>(next++);
      else if (size != 1)
        return rewriter.notifyMatchFailure(op, "the reshape splits or merges dims");
    }
    if (next != from.size() || from.size() == to.size())
      return rewriter.notifyMatchFailure(op, "the reshape adds no dims");
    SmallVector<int64_t> perm;
    for (int64_t dim : op.getPerm())
      if (source[dim] >= 0)
        perm.push_back(source[dim]);
    SmallVector<int64_t> shape = llvm::map_to_vector(perm, [&](int64_t dim) { return from[dim]; });
    Value transposed = TransposeOp::create(rewriter, op.getLoc(), op.getType().clone(shape),
                                           reshape.getInput(), perm);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), transposed);
    return success();
  }
};

/// concat(concat(a, b), c) -> concat(a, b, c) if the inner concat has no other use.
struct FlattenConcat : public OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    for (Value input : op.getInputs()) {
      auto inner = input.getDefiningOp<ConcatOp>();
      if (inner && inner.getDim() == op.getDim() && inner->hasOneUse())
        llvm::append_range(inputs, inner.getInputs());
      else
        inputs.push_back(input);
    }
    if (inputs.size() == op.getInputs().size())
      return rewriter.notifyMatchFailure(op,
                                         "no operand is a concat along the same dim with one use");
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(inputs); });
    return success();
  }
};

/// conv(pad(x)) -> conv with larger padding, if the padding of each dim is symmetric, which every
/// library supports.
template <typename ConvOp> struct FoldPadIntoConv : public OpRewritePattern<ConvOp> {
  using OpRewritePattern<ConvOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getInput().template getDefiningOp<PadOp>();
    if (!pad || !pad.getValue().isZero() ||
        llvm::any_of(pad.getInterior(), [](int64_t number) { return number != 0; }))
      return rewriter.notifyMatchFailure(op, "input is not padded with zeros at the border");
    int64_t first = firstSpatialDim(op.getChannelsLast()), rank = shapeOf(pad).size();
    SmallVector<int64_t> padding(op.getPad());
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t low = pad.getLow()[dim], high = pad.getHigh()[dim], i = dim - first;
      if (low == 0 && high == 0)
        continue;
      if (i < 0 || i >= rank - 2 || low < 0 || high < 0)
        return rewriter.notifyMatchFailure(op, "pads a non-spatial dim, or has negative padding");
      padding[2 * i] += low;
      padding[2 * i + 1] += high;
      if (padding[2 * i] != padding[2 * i + 1])
        return rewriter.notifyMatchFailure(op, "the sum of both paddings is not symmetric");
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.setPad(padding);
      op.getInputMutable().set(pad.getInput());
    });
    return success();
  }
};

} // namespace

void TcpDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<DropBroadcastOperand>(getContext());
}

void MatmulOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropBroadcastBatch>(context);
}
void SelectOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SelectToBroadcast>(context);
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TransposeToReshape, TransposeBeforeUnitDims>(context);
}
void ConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FlattenConcat>(context);
}
void Conv1dOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldPadIntoConv<Conv1dOp>>(context);
}
void Conv2dOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldPadIntoConv<Conv2dOp>>(context);
}
void Conv3dOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldPadIntoConv<Conv3dOp>>(context);
}
