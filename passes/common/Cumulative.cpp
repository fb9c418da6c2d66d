// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/Cumulative.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

Operation *convoy::cumulativeCombiner(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 2 || op.getNumReductionLoops() != 1)
    return nullptr;
  unsigned reduced = 0;
  while (op.getIteratorTypesArray()[reduced] != utils::IteratorType::reduction)
    ++reduced;
  OpOperand *totals = op.getDpsInitOperand(0), *total = op.getDpsInitOperand(1);
  BlockArgument before = op.getMatchingBlockArgument(total);
  Operation *yield = op.getBlock()->getTerminator();
  Value result = yield->getOperand(0), next = yield->getOperand(1);
  if (auto narrow = result.getDefiningOp<arith::TruncFOp>())
    result = narrow.getIn();
  if (!op.getMatchingIndexingMap(totals).isFunctionOfDim(reduced) ||
      op.getMatchingIndexingMap(total).isFunctionOfDim(reduced) ||
      op.payloadUsesValueFromOperand(totals) || result != next || !before.hasOneUse())
    return nullptr;
  Operation *combiner = next.getDefiningOp();
  return combiner && combiner == *before.user_begin() && combiner->getNumOperands() == 2 &&
                 combiner->getNumResults() == 1
             ? combiner
             : nullptr;
}
