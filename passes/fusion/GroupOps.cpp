// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/fusion/GroupOps.h"
#include "passes/common/Groups.h"

using namespace mlir;

namespace convoy {

bool isAnchor(Operation *op) {
  return isa<tcp::ConvOpInterface, tcp::ConvBackwardDataOp, tcp::ConvBackwardFilterOp,
             tcp::MatmulOp, tcp::MaxPoolOp, tcp::AvgPoolOp, tcp::ReduceMeanOp, tcp::AttentionOp>(
      op);
}

GroupOps GroupOps::of(ArrayRef<Operation *> ops) {
  GroupOps group{SmallVector<Operation *>(ops), {}};
  for (Operation *op : ops)
    for (OpOperand &operand : op->getOpOperands())
      if (!llvm::is_contained(ops, operand.get().getDefiningOp()) && !numberOf(operand))
        group.inputs.insert(operand.get());
  return group;
}

std::optional<GroupOps> GroupOps::of(tcp::IsolatedGroupOp op, std::string &reason) {
  Block &body = op.getBody().front();
  GroupOps group;
  for (Operation &each : body.without_terminator())
    if (each.getNumResults() != 1 || !numberOf(each.getResult(0)))
      group.ops.push_back(&each);
  group.inputs.insert_range(body.getArguments());
  if (group.ops.empty() || body.getTerminator()->getNumOperands() != 1 ||
      body.getTerminator()->getOperand(0).getDefiningOp() != group.ops.back()) {
    reason = "expects the last op's result as the only result";
    return std::nullopt;
  }
  return group;
}

} // namespace convoy
