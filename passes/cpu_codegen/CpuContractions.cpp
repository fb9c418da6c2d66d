// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers products that have a vectorized form, with and without epilogues, and other reductions
// that have one. Inlines the regions of products that are not lowered.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/common/EpilogueRegion.h"
#include "passes/common/Sizes.h"
#include "passes/cpu_codegen/ContractionEmit.h"
#include "passes/cpu_codegen/MatchContraction.h"
#include "passes/cpu_codegen/ReductionEmit.h"
#include "passes/cpu_codegen/RowReductionEmit.h"
#include "passes/cpu_codegen/WinogradEmit.h"
#include "passes/cpu_codegen/WinogradTiles.h"

namespace convoy {
#define GEN_PASS_DEF_CPUCONTRACTIONSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct CpuContractionsPass : public convoy::impl::CpuContractionsPassBase<CpuContractionsPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  bool lower(OpBuilder &builder, linalg::LinalgOp product, linalg::FillOp fill,
             linalg::GenericOp epilogue) {
    FailureOr<convoy::Contraction> contraction = convoy::matchContraction(product, fill, epilogue);
    if (failed(contraction) ||
        (contraction->block != 0 && contraction->block != convoy::packedBlock(lanes)))
      return false;
    convoy::VectorUnit unit{lanes, registers};
    if (convoy::canUseWinograd(*contraction, unit))
      convoy::emitWinograd(builder, *contraction, unit);
    else
      convoy::emitContraction(builder, *contraction, unit);
    return true;
  }
};

} // namespace

void CpuContractionsPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (convoy::tcp::getTarget(function) != convoy::tcp::Target::Cpu)
    return;
  if (failed(convoy::verifySizes(function)))
    return signalPassFailure();

  SmallVector<scf::ExecuteRegionOp> regions;
  function.walk([&](scf::ExecuteRegionOp region) {
    if (region.getNoInline() && region.getNumResults() == 0 && region.getRegion().hasOneBlock())
      regions.push_back(region);
  });
  for (scf::ExecuteRegionOp region : regions) {
    std::optional<convoy::EpilogueRegion> ops = convoy::EpilogueRegion::match(region);
    OpBuilder builder(region);
    if (!ops || !lower(builder, ops->reduction, ops->fill, ops->epilogue))
      for (Operation &op :
           llvm::make_early_inc_range(region.getRegion().front().without_terminator()))
        op.moveBefore(region);
    region.erase();
  }

  SmallVector<linalg::LinalgOp> products;
  function.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() > 0)
      products.push_back(op);
  });
  for (linalg::LinalgOp product : products) {
    OpBuilder builder(product);
    if (lower(builder, product, {}, {}) ||
        convoy::emitReduction(builder, product, {lanes, registers}) ||
        convoy::emitRowReduction(builder, product, {lanes, registers}))
      product.erase();
  }
}
