// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Outlines the remaining loops of a function: small loops that run on the calling thread. Every
// layer adds loops, mainly to @prepare_weights, and LLVM's compile time is superlinear in the size
// of a function.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/cpu_codegen/Outline.h"

namespace convoy {
#define GEN_PASS_DEF_CPUOUTLINELOOPSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct CpuOutlineLoopsPass : public convoy::impl::CpuOutlineLoopsPassBase<CpuOutlineLoopsPass> {
  void runOnOperation() override;
};

/// The outermost loops of the function without a call, whose code is already outlined.
llvm::SmallVector<scf::ForOp> loopsOf(func::FuncOp function) {
  llvm::SmallVector<scf::ForOp> loops;
  function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (loop.walk([](func::CallOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return WalkResult::advance();
    if (loop.getNumResults() == 0)
      loops.push_back(loop);
    return WalkResult::skip();
  });
  return loops;
}

} // namespace

void CpuOutlineLoopsPass::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (convoy::tcp::getTarget(function) != convoy::tcp::Target::Cpu || function.isExternal())
      continue;
    convoy::LoopOutliner outliner(function, "loop", symbols);
    for (scf::ForOp loop : loopsOf(function)) {
      auto fill = [&](OpBuilder &builder, ValueRange, IRMapping &mapping) {
        builder.clone(*loop, mapping);
      };
      func::CallOp call = outliner.outline(loop, {}, loop->getOperands(), fill);
      // Keep LLVM from inlining it. `no_inline` of func.func is not translated to LLVM IR.
      symbols.lookup(call.getCallee())
          ->setAttr("passthrough", Builder(&getContext()).getStrArrayAttr({"noinline"}));
    }
  }
}
