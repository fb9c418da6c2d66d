// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_cudnn/RecurrentGraph.h"

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

GraphOp buildRecurrentGraph(OpBuilder &builder, StringRef name, tcp::IsolatedGroupOp group,
                            const Recurrent &layer) {
  auto describe = [](Type type) -> Type {
    auto tensor = cast<RankedTensorType>(type);
    return TensorDescType::get(tensor.getShape(), tensor.getElementType(), /*channelsLast=*/false);
  };
  tcp::ScanOp scan = layer.scan;
  SmallVector<Type> arguments = llvm::map_to_vector(group.getInputs().getTypes(), describe),
                    results = llvm::map_to_vector(group.getResultTypes(), describe);
  auto graph =
      GraphOp::create(builder, scan.getLoc(), name, builder.getFunctionType(arguments, results));
  setPreference(graph, Preference::OnlyKernel);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&graph.getBody().front());
  auto argument = [&](Value value) {
    return value ? graph.getBody().getArgument(cast<BlockArgument>(value).getArgNumber()) : Value();
  };
  auto recurrent =
      RecurrentOp::create(builder, scan.getLoc(), results, *symbolizeRecurrentMode(layer.mode),
                          scan.getReverse(), argument(layer.given), argument(layer.weights),
                          argument(layer.hidden), argument(layer.cell), argument(layer.bias));
  ReturnOp::create(builder, scan.getLoc(), recurrent.getResults());
  return graph;
}

} // namespace convoy
