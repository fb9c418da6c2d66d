// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts groups to calls of graphs. Equal groups share one graph, so that each distinct graph is
// built and tuned once.

#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/common/Groups.h"
#include "passes/fusion/GroupGraph.h"
#include "passes/fusion/OpsToCudnn.h"
#include "passes/tcp_to_cudnn/GraphTable.h"
#include "passes/tcp_to_cudnn/OrderOperations.h"
#include "passes/tcp_to_cudnn/RecurrentGraph.h"
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
  void runOnStaticShapes() override;

private:
  LogicalResult convert(tcp::IsolatedGroupOp group, GraphTable &graphs);
};

} // namespace

LogicalResult ConvertTcpToCudnnPass::convert(tcp::IsolatedGroupOp group, GraphTable &graphs) {
  // The graph is inserted before the function that first uses it.
  OpBuilder builder(group->getParentOfType<func::FuncOp>());
  std::string reason, pattern;
  cudnn::GraphOp graph;
  SmallVector<Value> inputs(group.getInputs());
  SmallVector<int64_t> offsets;
  auto anchor = group->getAttrOfType<StringAttr>(kAnchorAttr);
  if (anchor && anchor.getValue() == kStemAnchor) {
    if (std::optional<Stem> stem = matchStemGroup(group, reason)) {
      graph = buildStemGraph(builder, "graph", group, *stem);
      offsets.assign(inputs.size(), 0);
      pattern = kStemAnchor;
    }
  } else if (anchor && anchor.getValue() == kRecurrentAnchor) {
    if (std::optional<Recurrent> layer = matchRecurrentGroup(group, reason)) {
      graph = buildRecurrentGraph(builder, "graph", group, *layer);
      offsets.assign(inputs.size(), 0);
      pattern = layer->mode;
    }
  } else if (std::optional<GroupOps> ops = GroupOps::of(group, reason)) {
    if (std::optional<GroupGraph> made = buildGroupGraph(builder, "graph", *ops, reason)) {
      graph = made->graph.release();
      pattern = made->form.pattern();
      orderOperations(graph, made->form);
      if (group->hasAttr(kOnlyKernelAttr))
        setPreference(graph, cudnn::Preference::OnlyKernel);
      inputs.clear();
      for (const GraphArgument &argument : made->arguments) {
        inputs.push_back(group.getInputs()[cast<BlockArgument>(argument.value).getArgNumber()]);
        offsets.push_back(argument.offset);
      }
    }
  }
  if (!graph)
    return group.emitError("does not form one cuDNN graph: ") << reason;
  graph = graphs.share(graph, pattern);

  builder.setInsertionPoint(group);
  SmallVector<Type> types(group.getResultTypes());
  for (Type other : graph.getResultTypes().drop_front(types.size())) {
    auto desc = cast<cudnn::TensorDescType>(other);
    types.push_back(RankedTensorType::get(desc.getPhysicalShape(), desc.getElementType()));
  }
  SmallVector<Value> outs = llvm::map_to_vector(types, [&](Type type) -> Value {
    auto tensor = cast<RankedTensorType>(type);
    return tensor::EmptyOp::create(builder, group.getLoc(), tensor.getShape(),
                                   tensor.getElementType());
  });
  auto execute = cudnn::ExecuteOp::create(builder, group.getLoc(), types,
                                          FlatSymbolRefAttr::get(graph), inputs, outs);
  // Whether each input is the memory of its tensor, as cudnn.execute expects without offsets.
  bool areWhole = llvm::all_of(
      llvm::zip_equal(inputs, graph.getArgumentTypes(), offsets), [](const auto &each) {
        auto [input, type, offset] = each;
        auto desc = cast<cudnn::TensorDescType>(type);
        return offset == 0 && desc.isPacked() && desc.isSameMemoryAs(tcp::shapeOf(input));
      });
  if (!areWhole)
    execute.setOffsets(offsets);
  group.replaceAllUsesWith(execute.getResults().take_front(group.getNumResults()));
  group.erase();
  return success();
}

void ConvertTcpToCudnnPass::runOnStaticShapes() {
  GraphTable graphs(getOperation());
  SmallVector<tcp::IsolatedGroupOp> groups;
  getOperation().walk([&](tcp::IsolatedGroupOp group) { groups.push_back(group); });
  for (tcp::IsolatedGroupOp group : groups)
    if (failed(convert(group, graphs)))
      signalPassFailure();
}
