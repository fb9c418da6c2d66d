// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/EpilogueRegion.h"
#include "passes/common/Buffers.h"

using namespace mlir;

namespace convoy {

/// Whether indices of `op`, which is pointwise on the result of `reduction`, are those of the
/// reduction. Its loops are not merged then.
static bool sharesIndices(linalg::LinalgOp reduction, linalg::GenericOp op) {
  OpOperand *result = reduction.getDpsInitOperand(0);
  AffineMap written = reduction.getMatchingIndexingMap(result);
  return reduction.hasIndexSemantics() && llvm::is_contained(op.getInputs(), result->get()) &&
         written == AffineMap::getMultiDimIdentityMap(written.getNumDims(), op.getContext())
                        .getMajorSubMap(op.getNumLoops());
}

/// Whether `op` is pointwise on `result`, which it reads once and in the order of its output: a
/// transposed result would be computed in the output's order, by neighbours that read far apart.
static bool isPointwiseOn(Value result, linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumParallelLoops() != op.getNumLoops() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      !llvm::all_of(*op.getBody(), [](Operation &inner) { return isMemoryEffectFree(&inner); }))
    return false;
  SmallVector<OpOperand *> reads =
      llvm::filter_to_vector(op.getDpsInputOperands(), [&](OpOperand *input) {
        return withoutUnitReshapes(input->get()) == withoutUnitReshapes(result);
      });
  return reads.size() == 1 && op.getMatchingIndexingMap(reads[0]).isIdentity();
}

bool EpilogueRegion::isValid() {
  return fill && reduction && epilogue && reduction.getNumDpsInits() == 1 &&
         reduction.getNumReductionLoops() != 0 &&
         fill.getOutputs()[0] == reduction.getDpsInits()[0] && isConstant(fill.getInputs()[0]) &&
         isPointwiseOn(reduction.getDpsInits()[0], epilogue) &&
         (!epilogue.hasIndexSemantics() || sharesIndices(reduction, epilogue));
}

std::optional<EpilogueRegion> EpilogueRegion::match(scf::ExecuteRegionOp region) {
  if (region.getNumResults() != 0 || !region.getRegion().hasOneBlock() ||
      llvm::range_size(region.getRegion().front()) != 4)
    return std::nullopt;
  auto op = region.getRegion().front().begin();
  EpilogueRegion found;
  found.fill = dyn_cast<linalg::FillOp>(*op++);
  found.reduction = dyn_cast<linalg::LinalgOp>(*op++);
  found.epilogue = dyn_cast<linalg::GenericOp>(*op);
  if (!found.isValid())
    return std::nullopt;
  return found;
}

} // namespace convoy
