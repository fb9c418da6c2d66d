// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/fusion/GroupGraph.h"
#include "passes/fusion/Attention.h"

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

std::optional<GroupGraph> buildGroupGraph(OpBuilder &builder, StringRef name, const GroupOps &group,
                                          std::string &reason) {
  for (Operation *op : group.ops)
    if (auto attention = dyn_cast<tcp::AttentionOp>(op))
      return buildAttentionGraph(builder, name, attention, group, reason);
  OwningOpRef<GraphOp> graph = convertGroup(builder, name, group, reason);
  if (!graph)
    return std::nullopt;
  std::optional<GraphForm> form = matchGraph(*graph, reason);
  if (!form)
    return std::nullopt;
  auto arguments =
      llvm::map_to_vector(group.inputs, [](Value value) { return GraphArgument{value}; });
  return GroupGraph{std::move(graph), std::move(*form), std::move(arguments)};
}

} // namespace convoy
