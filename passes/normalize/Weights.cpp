// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/normalize/Weights.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace convoy {

WeightValues::WeightValues(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), tcp::kWeightAttr) ||
        function.getArgAttr(argument.getArgNumber(), tcp::kPreparedAttr))
      values.insert(argument);
  // In the bodies of scans constants only: the weights among their block arguments are not known.
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function)
      notifyOperationInserted(op, {});
  });
}

void WeightValues::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) {
  bool weightOnly =
      op->getNumRegions() == 0 && op->getNumResults() == 1 && isMemoryEffectFree(op) &&
      llvm::all_of(op->getOperands(), [&](Value operand) { return values.contains(operand); });
  // The address of a value may be that of an erased value.
  for (Value result : op->getResults())
    weightOnly ? (void)values.insert(result) : (void)values.erase(result);
}

RankedTensorType withElementType(Type type, Type elementType) {
  return cast<RankedTensorType>(type).clone(elementType);
}

RankedTensorType withShape(Type type, ArrayRef<int64_t> shape) {
  return cast<RankedTensorType>(type).clone(shape);
}

Value reshaped(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  return tcp::ReshapeOp::create(builder, loc, withShape(value.getType(), shape), value);
}

Value permuted(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> perm) {
  if (isIdentityPermutation(perm))
    return value;
  SmallVector<int64_t> shape = applyPermutation(tcp::shapeOf(value), perm);
  return tcp::TransposeOp::create(builder, loc, withShape(value.getType(), shape), value, perm);
}

Operation *cloneWith(OpBuilder &builder, Operation *op, ValueRange operands, Type type) {
  Operation *copy = op->clone();
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  return builder.insert(copy);
}

void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

} // namespace convoy
