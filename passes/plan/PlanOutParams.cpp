// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts results to out-parameters, into which results are computed directly. The upstream pass
// copies a result that is a view of a buffer (e.g. a reshape at the end of a model); this pass
// looks through views that do not move elements.

#include "passes/Passes.h"
#include "passes/common/Buffers.h"
#include "passes/plan/LoopSlices.h"

namespace convoy {
#define GEN_PASS_DEF_PLANOUTPARAMSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct PlanOutParamsPass : public convoy::impl::PlanOutParamsPassBase<PlanOutParamsPass> {
  void runOnOperation() override;
};

/// The allocation that `value` covers completely, with the same order of elements, or null.
memref::AllocOp findAllocation(Value value) {
  while (value) {
    Operation *def = value.getDefiningOp();
    if (auto alloc = dyn_cast_if_present<memref::AllocOp>(def))
      return alloc.getType().getLayout().isIdentity() ? alloc : memref::AllocOp();
    if (!isa_and_present<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(def))
      return {};
    value = def->getOperand(0);
  }
  return {};
}

LogicalResult convert(func::FuncOp function) {
  if (function.isExternal() || function.getNumResults() == 0)
    return success();
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected one block, but got ")
           << function.getBody().getBlocks().size();
  auto returnOp = dyn_cast<func::ReturnOp>(function.getBody().front().getTerminator());
  if (!returnOp)
    return function.emitError("expected a body that ends in 'func.return'");

  for (auto [index, value] : llvm::enumerate(returnOp.getOperands())) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity())
      return function.emitError(
                 "expected results to be memrefs of static shape and identity layout, but result #")
             << index << " is " << value.getType();
    DictionaryAttr attributes = function.getResultAttrDict(index);
    if (failed(
            function.insertArgument(function.getNumArguments(), type, attributes, value.getLoc())))
      return failure();
    BlockArgument out = function.getArguments().back();

    memref::AllocOp alloc = findAllocation(value);
    if (alloc && alloc->getBlock() == returnOp->getBlock() && loopSlices(alloc).empty()) {
      convoy::replaceAllocation(alloc, out);
    } else {
      OpBuilder builder(returnOp);
      memref::CopyOp::create(builder, returnOp.getLoc(), value, out);
    }
  }
  returnOp->setOperands({});
  return function.eraseResults(llvm::BitVector(function.getNumResults(), true));
}

} // namespace

void PlanOutParamsPass::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (failed(convert(function)))
      return signalPassFailure();
}
