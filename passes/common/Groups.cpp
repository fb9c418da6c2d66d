// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/Groups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

FloatAttr numberOf(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  return splat ? dyn_cast<FloatAttr>(splat.getSplatValue<Attribute>()) : FloatAttr();
}

FloatAttr numberOf(const OpOperand &operand) {
  return operand.getOwner()->hasTrait<Elementwise>() ? numberOf(operand.get()) : FloatAttr();
}

IsolatedGroupOp outlineGroup(ArrayRef<Operation *> ops, Location loc, StringRef anchor,
                             const Twine &pattern) {
  llvm::SetVector<Value> inputs, numbers;
  for (Operation *op : ops)
    for (OpOperand &operand : op->getOpOperands())
      if (numberOf(operand))
        numbers.insert(operand.get());
      else if (!llvm::is_contained(ops, operand.get().getDefiningOp()))
        inputs.insert(operand.get());

  Value result = ops.back()->getResult(0);
  OpBuilder builder(ops.back());
  auto group = IsolatedGroupOp::create(builder, loc, result.getType(), inputs.getArrayRef());
  group->setAttr(kAnchorAttr, builder.getStringAttr(anchor));
  group->setAttr(kPatternAttr, builder.getStringAttr(pattern));
  result.replaceAllUsesWith(group.getResult(0));

  Block &body = group.getBody().emplaceBlock();
  for (Operation *op : ops)
    op->moveBefore(&body, body.end());
  builder.setInsertionPointToStart(&body);
  for (Value number : numbers) {
    Value clone = builder.clone(*number.getDefiningOp())->getResult(0);
    number.replaceUsesWithIf(clone, [&](OpOperand &use) {
      return use.getOwner()->getBlock() == &body && numberOf(use);
    });
  }
  for (Value input : inputs) {
    BlockArgument argument = body.addArgument(input.getType(), input.getLoc());
    input.replaceUsesWithIf(argument,
                            [&](OpOperand &use) { return use.getOwner()->getBlock() == &body; });
  }
  builder.setInsertionPointToEnd(&body);
  YieldOp::create(builder, loc, result);
  return group;
}

} // namespace convoy
