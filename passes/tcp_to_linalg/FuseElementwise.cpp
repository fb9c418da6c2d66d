// Joins generics whose intermediate tensor is needed nowhere else, without computing anything
// twice.

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

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

/// Whether the body only moves its element: recomputing it costs no more than reading it.
static bool isMove(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(),
                      [](Operation &inner) { return isa<arith::ExtFOp, arith::TruncFOp>(inner); });
}

/// Fused is a producer with one user that reads each element once. One that is read more often (by
/// a broadcast or a window) is fused only when it computes nothing, and into no reduction, whose
/// loops would repeat its strided reads.
static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer)
    return false;
  if (!llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; }))
    return false;
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  if (map.isPermutation())
    return true;
  return consumer.getNumReductionLoops() == 0 && isMove(producer);
}

void FuseElementwisePass::runOnOperation() {
  MLIRContext *context = &getContext();
  RewritePatternSet patterns(context);
  linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
    return signalPassFailure();
  // The conversions that are left round for good. Their flag goes, because the lowering to llvm
  // would keep it as an attribute of arith.
  getOperation().walk([](Operation *op) {
    if (auto extension = dyn_cast<arith::ExtFOp>(op))
      extension.removeFastmathAttr();
    if (auto truncation = dyn_cast<arith::TruncFOp>(op))
      truncation.removeFastmathAttr();
  });
}
