// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_cudnn/GraphSteps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

/// The type of a value of a graph if it is stored in memory.
static Type storedType(Value value, GraphOp source, Type dtype) {
  auto type = cast<TensorDescType>(value.getType());
  if (isa<BlockArgument>(value) ||
      llvm::is_contained(source.getBody().front().getTerminator()->getOperands(), value))
    return type;
  return TensorDescType::get(type.getShape(), dtype, type.getStrides(),
                             TensorDescType::kDefaultAlignment);
}

static CutGraph makeGraph(OpBuilder &builder, GraphOp source, ArrayRef<Operation *> part,
                          Type dtype) {
  llvm::SetVector<Value> inputs, outputs;
  // Constants are cloned into each graph that reads them.
  SmallVector<Operation *> ops;
  for (Operation *op : part) {
    for (Value operand : op->getOperands())
      if (auto constant = operand.getDefiningOp<ConstantOp>();
          constant && !llvm::is_contained(ops, constant))
        ops.push_back(constant);
    ops.push_back(op);
  }
  auto isInside = [&](Operation *op) { return llvm::is_contained(ops, op); };
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!isInside(operand.getDefiningOp()))
        inputs.insert(operand);
    for (Value result : op->getResults())
      if (!isa<ConstantOp>(op) && !llvm::all_of(result.getUsers(), isInside))
        outputs.insert(result);
  }
  auto stored = [&](Value value) { return storedType(value, source, dtype); };
  SmallVector<Type> arguments = llvm::map_to_vector(inputs, stored),
                    results = llvm::map_to_vector(outputs, stored);
  auto graph = GraphOp::create(builder, ops.back()->getLoc(), "graph",
                               builder.getFunctionType(arguments, results));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&graph.getBody().front());
  IRMapping values;
  values.map(inputs.getArrayRef(), graph.getBody().front().getArguments());
  for (Operation *op : ops)
    builder.clone(*op, values);
  SmallVector<Value> returned;
  for (auto [output, type] : llvm::zip(outputs, results)) {
    returned.push_back(values.lookup(output));
    returned.back().setType(type);
  }
  ReturnOp::create(builder, ops.back()->getLoc(), returned);
  return {graph, inputs.takeVector(), outputs.takeVector()};
}

SmallVector<CutGraph> cutGraph(OpBuilder &builder, GraphOp source,
                               ArrayRef<SmallVector<Operation *>> parts, Type dtype) {
  return llvm::map_to_vector(parts, [&](const SmallVector<Operation *> &part) {
    return makeGraph(builder, source, part, dtype);
  });
}

} // namespace convoy
