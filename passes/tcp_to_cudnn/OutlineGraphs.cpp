// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts inline graphs to symbols and calls, the only form that later passes support.

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/tcp_to_cudnn/GraphTable.h"

namespace convoy {
#define GEN_PASS_DEF_CUDNNOUTLINEGRAPHSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

namespace {

struct OutlineGraphsPass : public convoy::impl::CudnnOutlineGraphsPassBase<OutlineGraphsPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  void outline(BuildAndExecGraphOp op, GraphTable &graphs);
};

} // namespace

/// The operations of a graph joined by '+', like the patterns of groups.
static std::string patternOf(GraphOp graph) {
  std::string text;
  for (Operation &op : graph.getBody().front().without_terminator()) {
    if (isa<ConstantOp>(op))
      continue;
    if (!text.empty())
      text += "+";
    if (auto pointwise = dyn_cast<PointwiseOp>(op))
      text += stringifyPointwiseMode(pointwise.getMode());
    else
      text += op.getName().stripDialect();
  }
  return text;
}

/// Removes `spatial_dim_count`, and replaces `pointwise_relu` by `pointwise relu_fwd`.
static void normalize(GraphOp graph) {
  graph.walk([](ConvolutionOp op) { op.removeSpatialDimCountAttr(); });
  graph.walk([](PointwiseReluOp op) {
    OpBuilder builder(op);
    auto relu = PointwiseOp::create(builder, op.getLoc(), op.getY().getType(),
                                    PointwiseMode::ReluFwd, op.getX(), op.getComputeType());
    relu.setLowerClipAttr(op.getLowerClipAttr());
    op.replaceAllUsesWith(relu.getY());
    op.erase();
  });
}

void OutlineGraphsPass::outline(BuildAndExecGraphOp op, GraphTable &graphs) {
  Block &body = op.getBody().front();
  Operation *terminator = body.getTerminator();
  OpBuilder builder(op->getParentOfType<func::FuncOp>());
  auto type = builder.getFunctionType(body.getArgumentTypes(), terminator->getOperandTypes());
  auto graph = GraphOp::create(builder, op.getLoc(), "graph", type);
  Block &entry = graph.getBody().front();
  entry.getOperations().splice(entry.end(), body.getOperations());
  for (auto [from, to] : llvm::zip(body.getArguments(), entry.getArguments()))
    from.replaceAllUsesWith(to);
  builder.setInsertionPoint(terminator);
  ReturnOp::create(builder, terminator->getLoc(), terminator->getOperands());
  terminator->erase();
  normalize(graph);
  std::string pattern = patternOf(graph);
  graph = graphs.share(graph, pattern);

  builder.setInsertionPoint(op);
  SmallVector<Value> outs;
  for (Type result : op.getResultTypes())
    outs.push_back(tensor::EmptyOp::create(builder, op.getLoc(),
                                           cast<RankedTensorType>(result).getShape(),
                                           cast<RankedTensorType>(result).getElementType()));
  auto execute = ExecuteOp::create(builder, op.getLoc(), op.getResultTypes(),
                                   FlatSymbolRefAttr::get(graph), op.getInputs(), ValueRange(outs));
  Value handle = op.getHandle();
  op.replaceAllUsesWith(execute);
  op.erase();
  if (auto get = handle.getDefiningOp<GetCurrentHandleOp>(); get && get.use_empty())
    get.erase();
}

void OutlineGraphsPass::runOnOperation() {
  GraphTable graphs(getOperation());
  SmallVector<BuildAndExecGraphOp> ops;
  getOperation().walk([&](BuildAndExecGraphOp op) { ops.push_back(op); });
  for (BuildAndExecGraphOp op : ops)
    outline(op, graphs);
  getOperation().walk([](GetCurrentHandleOp op) {
    if (op.use_empty())
      op.erase();
  });
}
