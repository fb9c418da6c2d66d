// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts the gradients of convolutions to forward ops before layouts are chosen, for the CPU.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/common/ConvGradients.h"

namespace convoy {
#define GEN_PASS_DEF_TCPDECOMPOSECONVGRADIENTSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct DecomposeConvGradientsPass
    : public convoy::impl::TcpDecomposeConvGradientsPassBase<DecomposeConvGradientsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

template <typename GradientOp> static void decompose(GradientOp op) {
  OpBuilder builder(op);
  op.replaceAllUsesWith(decomposeGradient(builder, op, op->getOperand(0), op->getOperand(1)));
  op.erase();
}

void DecomposeConvGradientsPass::runOnStaticShapes() {
  getOperation().walk([](ConvBackwardDataOp op) { decompose(op); });
  getOperation().walk([](ConvBackwardFilterOp op) { decompose(op); });
}
