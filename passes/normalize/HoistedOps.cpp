// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/tcp/TcpShapes.h"
#include "passes/normalize/OrderCost.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

/// The maximum number of ops between a transpose and a convolution, so that the time of the pass
/// is linear.
static constexpr size_t kMaxHoisted = 32;

void findHoisted(ConvOpInterface conv, const WeightValues &weights,
                 llvm::DenseSet<Operation *> &hoisted) {
  // What a transpose of `value` moves.
  auto cost = [&](Value value) -> int64_t {
    int64_t rank = shapeOf(value).size();
    bool isFree = weights.contains(value) || value.getDefiningOp<ConvOpInterface>() ||
                  movesUnitDimsOnly(shapeOf(value), toStored(identity(rank), channelsLast(rank)));
    return isFree ? 0 : bytesOf(value);
  };
  llvm::SetVector<Operation *> ops;
  auto isInside = [&](OpOperand &use) {
    auto user = dyn_cast<ConvOpInterface>(use.getOwner());
    return ops.contains(use.getOwner()) ||
           (user && !user.getChannelsLast() && use.getOperandNumber() == 0);
  };
  auto isMovable = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->hasTrait<convoy::tcp::Elementwise>() && !weights.contains(value) &&
           llvm::all_of(value.getUses(), isInside);
  };
  // The values that are transposed. Further ops are added from last to first; in between there may
  // be more values than at the end, as for x * sigmoid(x).
  llvm::SetVector<Value> border;
  border.insert(conv.getInput());
  int64_t limit = bytesOf(conv.getInput());
  size_t best = 0;
  while (ops.size() < kMaxHoisted) {
    Operation *last = nullptr;
    for (Value value : border)
      if (isMovable(value) && (!last || last->isBeforeInBlock(value.getDefiningOp())))
        last = value.getDefiningOp();
    if (!last)
      break;
    ops.insert(last);
    border.remove(last->getResult(0));
    border.insert_range(last->getOperands());
    int64_t total = 0;
    for (Value value : border)
      total += cost(value);
    if (total <= limit)
      best = ops.size();
  }
  hoisted.insert_range(ops.getArrayRef().take_front(best));
}

} // namespace convoy
