// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Expands the math ops that would become calls of libm on the CPU or of libdevice on the GPU.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/tcp_to_linalg/Patterns.h"

namespace convoy {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct ExpandMathPass : public convoy::impl::ExpandMathPassBase<ExpandMathPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

void ExpandMathPass::runOnOperation() {
  RewritePatternSet patterns(&getContext());
  convoy::populateMathExpansionPatterns(patterns);
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
    signalPassFailure();
}
