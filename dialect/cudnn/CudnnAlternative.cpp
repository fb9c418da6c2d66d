// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of alternatives and their steps. Each check has the label of its constraint in the op's
// description.

#include "dialect/cudnn/CudnnOps.h"

using namespace mlir;
using namespace convoy::cudnn;

/// Compares `got` with the types of a graph's tensors; `what` names them in messages.
static LogicalResult expectTypes(Operation *op, StringRef what, TypeRange got, TypeRange expected,
                                 FlatSymbolRefAttr graph) {
  if (got.size() != expected.size())
    return op->emitOpError("expects ")
           << expected.size() << " " << what << "s for " << graph << ", but got " << got.size();
  for (auto [i, pair] : llvm::enumerate(llvm::zip(got, expected)))
    if (std::get<0>(pair) != std::get<1>(pair))
      return op->emitOpError("expects ") << what << " #" << i << " of type " << std::get<1>(pair)
                                         << " for " << graph << ", but got " << std::get<0>(pair);
  return success();
}

LogicalResult AlternativeOp::verifyRegions() {
  // alternative_c3
  Block &body = getBody().front();
  if (!body.mightHaveTerminator() || !isa<ReturnOp>(body.getTerminator()))
    return emitOpError("expects 'cudnn.return' at the end of its body");
  for (Operation &op : body.without_terminator())
    if (!isa<StepOp, ZerosOp>(op))
      return op.emitOpError("is neither 'cudnn.step' nor 'cudnn.zeros'");
  if (body.getOps<StepOp>().empty())
    return emitOpError("expects at least one step in its body");
  // alternative_c4
  llvm::SmallDenseSet<Value> seen;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    if (!value.getDefiningOp<StepOp>())
      return emitOpError("expects results that steps compute, but no step computes result #") << i;
    if (!seen.insert(value).second)
      return emitOpError("expects distinct results, but result #") << i << " is a duplicate";
  }
  return success();
}

LogicalResult AlternativeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // alternative_c1
  auto graph = symbols.lookupNearestSymbolFrom<GraphOp>(*this, getGraphAttr());
  if (!graph)
    return emitOpError("expects the name of a cudnn.graph, but got ") << getGraphAttr();
  // alternative_c2
  if (failed(expectTypes(*this, "argument", getBody().getArgumentTypes(), graph.getArgumentTypes(),
                         getGraphAttr())))
    return failure();
  // alternative_c4
  return expectTypes(*this, "result", getBody().front().getTerminator()->getOperandTypes(),
                     graph.getResultTypes(), getGraphAttr());
}

LogicalResult StepOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // step_c1
  auto graph = symbols.lookupNearestSymbolFrom<GraphOp>(*this, getGraphAttr());
  if (!graph)
    return emitOpError("expects the name of a cudnn.graph, but got ") << getGraphAttr();
  if (getGraphAttr() == cast<AlternativeOp>((*this)->getParentOp()).getGraphAttr())
    return emitOpError("expects a graph other than the alternative's, but got ") << getGraphAttr();
  // step_c2
  if (failed(expectTypes(*this, "operand", getInputs().getTypes(), graph.getArgumentTypes(),
                         getGraphAttr())))
    return failure();
  return expectTypes(*this, "result", getOutputs().getTypes(), graph.getResultTypes(),
                     getGraphAttr());
}
