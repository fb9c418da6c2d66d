// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Moves all that loops slice to the arena, in which a slice is a view at another shift. What the
// caller passes has no such views.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/plan/LoopSlices.h"

namespace convoy {
#define GEN_PASS_DEF_PLANLOOPBUFFERSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {
struct PlanLoopBuffersPass : public convoy::impl::PlanLoopBuffersPassBase<PlanLoopBuffersPass> {
  void runOnOperation() override;
};
} // namespace

void PlanLoopBuffersPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal())
    return;
  SmallVector<Value> roots(function.getArguments());
  function.walk([&](memref::GetGlobalOp global) { roots.push_back(global); });
  OpBuilder builder(&getContext());
  for (Value root : roots) {
    auto type = dyn_cast<MemRefType>(root.getType());
    if (!type || convoy::loopSlices(root).empty())
      continue;
    builder.setInsertionPointAfterValue(root);
    Value copy = memref::AllocOp::create(builder, root.getLoc(), type);
    auto move = memref::CopyOp::create(builder, root.getLoc(), root, copy);
    root.replaceAllUsesExcept(copy, move);
  }
}
