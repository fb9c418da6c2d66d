#include "passes/tcp_to_cudnn/GraphSteps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

/// The type of a value of a graph where it has memory.
static Type storedType(Value value, GraphOp source, Type dtype) {
  auto type = cast<TensorDescType>(value.getType());
  if (isa<BlockArgument>(value) ||
      llvm::is_contained(source.getBody().front().getTerminator()->getOperands(), value))
    return type;
  return TensorDescType::get(type.getShape(), dtype, type.getStrides(),
                             TensorDescType::kDefaultAlignment);
}

static CutGraph makeGraph(OpBuilder &builder, GraphOp source, ArrayRef<Operation *> ops,
                          Type dtype) {
  llvm::SetVector<Value> inputs, outputs;
  auto isInside = [&](Operation *op) { return llvm::is_contained(ops, op); };
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!isInside(operand.getDefiningOp()))
        inputs.insert(operand);
    for (Value result : op->getResults())
      if (!llvm::all_of(result.getUsers(), isInside))
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

SmallVector<CutGraph> cutGraph(OpBuilder &builder, GraphOp source, ArrayRef<size_t> ends,
                               Type dtype) {
  SmallVector<Operation *> ops =
      llvm::map_to_vector(source.getBody().front().without_terminator(),
                          [](Operation &op) -> Operation * { return &op; });
  SmallVector<CutGraph> graphs;
  SmallVector<size_t> all(ends);
  all.push_back(ops.size());
  size_t begin = 0;
  for (size_t end : all) {
    graphs.push_back(makeGraph(builder, source, ArrayRef(ops).slice(begin, end - begin), dtype));
    begin = end;
  }
  return graphs;
}

} // namespace convoy
