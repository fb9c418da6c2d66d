// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lists the runtime calls of @main in the manifest, for readers that do not run native code.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/common/Buffers.h"
#include "passes/common/Manifest.h"
#include "llvm/ADT/TypeSwitch.h"

namespace convoy {
#define GEN_PASS_DEF_COLLECTSTEPSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct CollectStepsPass : public convoy::impl::CollectStepsPassBase<CollectStepsPass> {
  void runOnOperation() override;
};

/// Key and number of a step.
using Step = std::pair<StringRef, int64_t>;

std::optional<Step> describe(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::optional<Step>>(&op)
      .Case([](cudnn_backend::ExecuteGraphOp execute) { return Step("call", execute.getCall()); })
      .Case([](cudnn_backend::LaunchKernelOp launch) { return Step("kernel", launch.getKernel()); })
      .Case([](cudnn_backend::CopyOp copy) {
        auto type = cast<MemRefType>(copy.getDestination().getType());
        return Step("copy", packedBytes(type));
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Adds the steps of `block` to `steps`, those of a loop for each of its iterations.
LogicalResult collect(Block &block, SmallVectorImpl<Attribute> &steps) {
  Builder builder(block.getParentOp()->getContext());
  for (Operation &op : block) {
    if (std::optional<Step> step = describe(op)) {
      steps.push_back(builder.getDictionaryAttr(
          builder.getNamedAttr(step->first, builder.getI64IntegerAttr(step->second))));
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    SmallVector<Attribute> once;
    if (failed(collect(*loop.getBody(), once)))
      return failure();
    std::optional<llvm::APInt> trips = loop.getStaticTripCount();
    if (!once.empty() && !trips)
      return loop.emitOpError("expects constant bounds, because it has calls of the runtime");
    for (uint64_t trip = 0; !once.empty() && trip < trips->getZExtValue(); ++trip)
      llvm::append_range(steps, once);
  }
  return success();
}

} // namespace

void CollectStepsPass::runOnOperation() {
  auto main = getOperation().lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return;
  Builder builder(&getContext());
  SmallVector<Attribute> steps;
  if (failed(collect(main.getBody().front(), steps)))
    return signalPassFailure();
  if (!steps.empty())
    setManifest(getOperation(), "steps", builder.getArrayAttr(steps));
}
