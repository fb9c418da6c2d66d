// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fuses generics whose intermediate tensor has no other user, without duplicating computations.
// Broadcasts are fused into all of their users.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/common/Cumulative.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"

namespace convoy {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct FuseElementwisePass : public convoy::impl::FuseElementwisePassBase<FuseElementwisePass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// Whether the body only moves or converts its element, so that recomputing is as cheap as reading.
static bool isMove(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(),
                      [](Operation &inner) { return isa<arith::ExtFOp, arith::TruncFOp>(inner); });
}

/// Whether `op` only repeats the elements of a smaller tensor. A user reads those instead, and what
/// it reads takes less memory, however many users there are.
static bool isBroadcast(linalg::GenericOp op) {
  if (!isMove(op) || op.getNumReductionLoops() != 0 || op.getNumDpsInputs() != 1)
    return false;
  auto input = dyn_cast<RankedTensorType>(op.getDpsInputs()[0].getType());
  return input && input.getNumElements() <
                      cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
}

/// Whether `op` reads one element of a dim, as a term of a sum.
static bool readsTerm(linalg::GenericOp op) {
  return op.getNumDpsInputs() == 1 &&
         llvm::any_of(op.getMatchingIndexingMap(op.getDpsInputOperand(0)).getResults(),
                      llvm::IsaPred<AffineConstantExpr>);
}

/// Fuses a producer whose only user reads each element once. A producer that is read repeatedly (by
/// a broadcast or a window) is fused only if it computes nothing, and never into a reduction, whose
/// loops would repeat its strided reads, unless these are the neighbors that a sum reads together.
/// A broadcast may have other users. On the GPU, running totals have only one mapping to threads,
/// which takes no index nor other order of its operand; `plan-group-rows` gives them a producer.
static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  // A producer before a loop would be computed in each step.
  if (!producer || !consumer || producer->getBlock() != consumer->getBlock())
    return false;
  if (convoy::isCuda(consumer) && convoy::cumulativeCombiner(consumer))
    return false;
  if (!isBroadcast(producer) &&
      !llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; }))
    return false;
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  if (map.isPermutation())
    return true;
  return isMove(producer) && (consumer.getNumReductionLoops() == 0 || readsTerm(producer));
}

/// Whether a reshape that splits dims moves before its producer, so that its user and the producer
/// become one generic: the only user reads each element once, e.g. to transpose the split dims.
static bool shouldSplitProducer(OpOperand *operand) {
  auto reshape = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner());
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!reshape || !producer || !producer->hasOneUse() || !reshape->hasOneUse() ||
      producer.getNumReductionLoops() != 0)
    return false;
  OpOperand &use = *reshape->use_begin();
  auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
  return user && user->getBlock() == producer->getBlock() && user.getNumReductionLoops() == 0 &&
         user.getMatchingIndexingMap(&use).isPermutation();
}

namespace {

/// Reads a move through a reshape that only removes dims of size 1, as that of one of several
/// stacked tensors, so that the move can be fused.
struct ReadThroughUnitDims : public OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto collapse = input->get().getDefiningOp<tensor::CollapseShapeOp>();
      auto producer =
          collapse ? collapse.getSrc().getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
      if (!producer || !isMove(producer) || producer.getNumReductionLoops() != 0 ||
          !producer->hasOneUse() || !collapse->hasOneUse() || op.getNumReductionLoops() != 0)
        continue;
      ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
      // A reshape to a scalar has no groups of dims.
      SmallVector<AffineExpr> results(shape.size(), rewriter.getAffineConstantExpr(0));
      auto moves = [&](int64_t dim) { return shape[dim] != 1; };
      if (llvm::any_of(collapse.getReassociationIndices(),
                       [&](ArrayRef<int64_t> dims) { return llvm::count_if(dims, moves) > 1; }))
        continue;
      AffineMap map = op.getMatchingIndexingMap(input);
      for (auto [expr, dims] :
           llvm::zip_equal(map.getResults(), collapse.getReassociationIndices()))
        for (int64_t dim : llvm::make_filter_range(dims, moves))
          results[dim] = expr;
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps[input->getOperandNumber()] =
          AffineMap::get(map.getNumDims(), 0, results, rewriter.getContext());
      rewriter.modifyOpInPlace(op, [&] {
        input->set(collapse.getSrc());
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "reads no move without its dims of size 1");
  }
};

} // namespace

void FuseElementwisePass::runOnOperation() {
  MLIRContext *context = &getContext();
  RewritePatternSet patterns(context);
  if (convoy::tcp::getTarget(getOperation()) == convoy::tcp::Target::Cuda) {
    patterns.add<ReadThroughUnitDims>(context);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, shouldSplitProducer);
  }
  linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
    return signalPassFailure();
  // The remaining conversions are final. Remove their fast-math flag, because the lowering to llvm
  // would keep it as an attribute of arith.
  getOperation().walk([](Operation *op) {
    if (auto extension = dyn_cast<arith::ExtFOp>(op))
      extension.removeFastmathAttr();
    if (auto truncation = dyn_cast<arith::TruncFOp>(op))
      truncation.removeFastmathAttr();
  });
}
