// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace convoy {
#define GEN_PASS_DEF_TCPSINKCASTSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct TcpSinkCastsPass : public convoy::impl::TcpSinkCastsPassBase<TcpSinkCastsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

/// Only between floats: an element that `index_select` does not find is NaN, which stays NaN.
static bool isWidening(CastOp cast) {
  auto from = dyn_cast<FloatType>(getElementTypeOrSelf(cast.getInput()));
  auto to = dyn_cast<FloatType>(getElementTypeOrSelf(cast.getOutput()));
  return from && to && from.getWidth() < to.getWidth();
}

void TcpSinkCastsPass::runOnStaticShapes() {
  getOperation().walk([&](Operation *op) {
    if (!isa<IndexSelectOp, SliceOp, TransposeOp>(op))
      return;
    auto cast = op->getOperand(0).getDefiningOp<CastOp>();
    if (!cast || !isWidening(cast))
      return;
    Value moved = op->getResult(0);
    auto wide = llvm::cast<RankedTensorType>(moved.getType());
    op->setOperand(0, cast.getInput());
    moved.setType(wide.clone(getElementTypeOrSelf(cast.getInput())));
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    auto widened = CastOp::create(builder, cast.getLoc(), wide, moved);
    moved.replaceAllUsesExcept(widened, widened);
    if (cast->use_empty())
      cast.erase();
  });
}
