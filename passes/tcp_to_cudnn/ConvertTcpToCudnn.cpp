// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts groups to calls of graphs. Equal groups share one graph, so that each distinct graph is
// built and tuned once.

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/common/Groups.h"
#include "passes/fusion/GraphForm.h"
#include "passes/fusion/OpsToCudnn.h"
#include "passes/tcp_to_cudnn/GraphTable.h"
#include "passes/tcp_to_cudnn/OrderOperations.h"
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

LogicalResult ConvertTcpToCudnnPass::convert(tcp::IsolatedGroupOp group, GraphTable &graphs) {
  // The graph is inserted before the function that first uses it.
  OpBuilder builder(group->getParentOfType<func::FuncOp>());
  std::string reason, pattern;
  cudnn::GraphOp graph;
  auto anchor = group->getAttrOfType<StringAttr>(kAnchorAttr);
  if (anchor && anchor.getValue() == kStemAnchor) {
    if (std::optional<Stem> stem = matchStemGroup(group, reason)) {
      graph = buildStemGraph(builder, "graph", group, *stem);
      pattern = kStemAnchor;
    }
  } else if (std::optional<GroupOps> ops = GroupOps::of(group, reason)) {
    if (std::optional<GroupGraph> made = buildGroupGraph(builder, "graph", *ops, reason)) {
      graph = made->graph.release();
      pattern = made->form.pattern();
      orderOperations(graph, made->form);
    }
  }
  if (!graph)
    return group.emitError("does not form one cuDNN graph: ") << reason;
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
