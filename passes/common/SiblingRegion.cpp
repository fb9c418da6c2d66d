// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/SiblingRegion.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace convoy {

bool SiblingRegion::mayContain(Operation *op) {
  if (auto region = dyn_cast<scf::ExecuteRegionOp>(op))
    return region.getNumResults() == 0 && region.getRegion().hasOneBlock() && !match(region);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && !isa<linalg::FillOp>(op) && linalgOp.getNumReductionLoops() == 0;
}

std::optional<SiblingRegion> SiblingRegion::match(scf::ExecuteRegionOp region) {
  if (region.getNumResults() != 0 || !region.getRegion().hasOneBlock())
    return std::nullopt;
  SiblingRegion found;
  for (Operation &op : region.getRegion().front().without_terminator()) {
    if (!mayContain(&op))
      return std::nullopt;
    found.members.push_back(&op);
  }
  if (found.members.size() < 2)
    return std::nullopt;
  return found;
}

} // namespace convoy
