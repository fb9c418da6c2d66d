// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bufferization. Unlike the upstream pass, marks arguments as read-only first, because they belong
// to the caller.

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "passes/Passes.h"

namespace convoy {
#define GEN_PASS_DEF_PLANBUFFERIZEPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {
struct PlanBufferizePass : public convoy::impl::PlanBufferizePassBase<PlanBufferizePass> {
  void runOnOperation() override;
};
} // namespace

void PlanBufferizePass::runOnOperation() {
  ModuleOp module = getOperation();
  Builder builder(&getContext());
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument : function.getArguments())
      if (isa<TensorType>(argument.getType()))
        function.setArgAttr(argument.getArgNumber(),
                            bufferization::BufferizationDialect::kWritableAttrName,
                            builder.getBoolAttr(false));

  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotModuleBufferize(module, options, state)))
    return signalPassFailure();
}
