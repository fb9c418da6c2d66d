// Sums commute, and which of them comes first decides which kernels cuDNN has.

#include "passes/Passes.h"
#include "passes/tcp_to_cudnn/ConvSums.h"

namespace convoy {
#define GEN_PASS_DEF_CUDNNREORDERBIASRESIDUALPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

namespace {

struct ReorderBiasResidualPass : public convoy::impl::CudnnReorderBiasResidualPassBase<ReorderBiasResidualPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// Whether another order changes nothing but the rounding of sums in the compute type.
bool commutes(ConvolutionOp conv, ArrayRef<ConvSum> sums) {
  PointwiseOp first = sums.front().op;
  Type type = first.getComputeType();
  auto isWide = [&](Value value) { return cast<TensorDescType>(value.getType()).getElementType() == type; };
  return isWide(conv.getY()) && llvm::all_of(sums.drop_back(), [&](ConvSum sum) { return isWide(sum.op.getY()); }) &&
         llvm::all_of(sums, [&](ConvSum sum) { return sum.op.getComputeType() == type && sum.runningScale.isExactlyValue(1.0); });
}

} // namespace

static void reorder(ConvolutionOp conv, ArrayRef<ConvSum> sums, bool biasFirst) {
  SmallVector<ConvSum> ordered;
  auto isFirst = [&](const ConvSum &sum) { return sum.isBias == biasFirst; };
  llvm::copy_if(sums, std::back_inserter(ordered), isFirst);
  llvm::copy_if(sums, std::back_inserter(ordered), [&](const ConvSum &sum) { return !isFirst(sum); });
  auto isSame = [](const auto &pair) { return std::get<0>(pair).op == std::get<1>(pair).op; };
  if (llvm::all_of(llvm::zip(sums, ordered), isSame) || !commutes(conv, sums))
    return;
  Value running = conv.getY();
  OpBuilder builder(sums.back().op);
  for (auto [place, sum] : llvm::zip(sums, ordered)) {
    PointwiseOp old = place.op;
    auto add = PointwiseOp::create(builder, sum.op->getLoc(), old.getY().getType(), PointwiseMode::Add, {running, sum.other},
                                   old.getComputeType());
    add.setAlpha2(sum.otherScale);
    running = add.getY();
  }
  PointwiseOp last = sums.back().op;
  last.replaceAllUsesWith(running);
  for (const ConvSum &sum : llvm::reverse(sums)) {
    PointwiseOp op = sum.op;
    op.erase();
  }
}

void ReorderBiasResidualPass::runOnOperation() {
  SmallVector<ConvolutionOp> convs;
  getOperation().walk([&](ConvolutionOp conv) { convs.push_back(conv); });
  for (ConvolutionOp conv : convs)
    if (SmallVector<ConvSum> sums = sumsAfter(conv); sums.size() > 1)
      reorder(conv, sums, biasFirst);
}
