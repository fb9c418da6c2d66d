// Groups become calls of graphs. Equal groups share one graph, so that a network of fifty
// convolutions builds and tunes the few that differ.

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/tcp_to_cudnn/GraphBuilder.h"
#include "passes/tcp_to_cudnn/GraphTable.h"
#include "passes/tcp_to_cudnn/StemGraph.h"

namespace convoy {
#define GEN_PASS_DEF_CONVERTTCPTOCUDNNPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct ConvertTcpToCudnnPass
    : public convoy::impl::ConvertTcpToCudnnPassBase<ConvertTcpToCudnnPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult convert(tcp::IsolatedGroupOp group, GraphTable &graphs);
};

} // namespace

/// Fails where cuDNN has no tensors of the type of a value of the group: phase `group` forms none
/// of these, but text may have them.
static LogicalResult verifyTypes(tcp::IsolatedGroupOp group) {
  auto isTensor = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return succeeded(cudnn::TensorDescType::verify(
        [&] { return group.emitError("group that is not one cuDNN graph: "); }, type.getShape(),
        type.getElementType(), SmallVector<int64_t>(type.getRank(), 1),
        cudnn::TensorDescType::kDefaultAlignment, /*vectorCount=*/1, /*vectorizedDimension=*/0,
        cudnn::TensorReordering::None));
  };
  Block &body = group.getBody().front();
  return success(
      llvm::all_of(body.getArguments(), isTensor) &&
      llvm::all_of(body, [&](Operation &op) { return llvm::all_of(op.getResults(), isTensor); }));
}

LogicalResult ConvertTcpToCudnnPass::convert(tcp::IsolatedGroupOp group, GraphTable &graphs) {
  if (failed(verifyTypes(group)))
    return failure();
  // The graph stands before the function, where its first use is read.
  OpBuilder builder(group->getParentOfType<func::FuncOp>());
  std::string reason, pattern;
  cudnn::GraphOp graph;
  auto anchor = group->getAttrOfType<StringAttr>(kAnchorAttr);
  if (anchor && anchor.getValue() == kStemAnchor) {
    if (std::optional<Stem> stem = matchStemGroup(group, reason)) {
      graph = buildStemGraph(builder, "graph", group, *stem);
      pattern = kStemAnchor;
    }
  } else if (std::optional<GroupForm> form = matchGroup(group, reason)) {
    graph = buildGraph(builder, "graph", group, *form);
    if (!graph)
      return failure();
    pattern = form->pattern();
  }
  if (!graph)
    return group.emitError("group that is not one cuDNN graph: ") << reason;
  graph = graphs.share(graph, pattern);

  builder.setInsertionPoint(group);
  auto type = cast<RankedTensorType>(group.getResult(0).getType());
  Value out =
      tensor::EmptyOp::create(builder, group.getLoc(), type.getShape(), type.getElementType());
  auto execute =
      cudnn::ExecuteOp::create(builder, group.getLoc(), TypeRange(type),
                               FlatSymbolRefAttr::get(graph), group.getInputs(), ValueRange(out));
  group.replaceAllUsesWith(execute);
  group.erase();
  return success();
}

void ConvertTcpToCudnnPass::runOnOperation() {
  GraphTable graphs(getOperation());
  SmallVector<tcp::IsolatedGroupOp> groups;
  getOperation().walk([&](tcp::IsolatedGroupOp group) { groups.push_back(group); });
  for (tcp::IsolatedGroupOp group : groups)
    if (failed(convert(group, graphs)))
      signalPassFailure();
}
