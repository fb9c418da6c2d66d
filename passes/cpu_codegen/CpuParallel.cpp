// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Outlines parallel loops to functions of an iteration range. The remaining call, over the whole
// range, has the attribute `convoy.parallel`; phase llvm converts it to a call of
// convoy_parallel_for.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/cpu_codegen/Outline.h"

namespace convoy {
#define GEN_PASS_DEF_CPUPARALLELPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct CpuParallelPass : public convoy::impl::CpuParallelPassBase<CpuParallelPass> {
  void runOnOperation() override;
};

/// Whether `op` allocates memory of a static size on the stack.
bool isScratch(Operation &op) { return isa<memref::AllocaOp>(op) && op.getNumOperands() == 0; }

LogicalResult outline(scf::ParallelOp loop, convoy::LoopOutliner &outliner) {
  if (loop.getNumLoops() != 1 || loop.getNumReductions() != 0)
    return loop.emitError("expected one loop and no reductions, but got ")
           << loop.getNumLoops() << " and " << loop.getNumReductions();
  auto fill = [&](OpBuilder &builder, ValueRange range, IRMapping &mapping) {
    // All iterations use the same stack memory.
    for (Operation &op : loop.getBody()->without_terminator())
      if (isScratch(op))
        builder.clone(op, mapping);
    auto steps = scf::ForOp::create(builder, loop.getLoc(), range[0], range[1],
                                    mapping.lookup(loop.getStep()[0]));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(steps.getBody());
    mapping.map(loop.getInductionVars()[0], steps.getInductionVar());
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isScratch(op))
        builder.clone(op, mapping);
  };
  func::CallOp call = outliner.outline(loop, {loop.getLowerBound()[0], loop.getUpperBound()[0]},
                                       loop.getStep(), fill);
  call->setAttr("convoy.parallel", UnitAttr::get(call.getContext()));
  return success();
}

} // namespace

void CpuParallelPass::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (convoy::tcp::getTarget(function) != convoy::tcp::Target::Cpu)
      continue;
    llvm::SmallVector<scf::ParallelOp> loops;
    function.walk<WalkOrder::PreOrder>([&](scf::ParallelOp loop) {
      loops.push_back(loop);
      return WalkResult::skip();
    });
    convoy::LoopOutliner outliner(function, "parallel", symbols);
    for (scf::ParallelOp loop : loops)
      if (failed(outline(loop, outliner)))
        return signalPassFailure();
  }
}
