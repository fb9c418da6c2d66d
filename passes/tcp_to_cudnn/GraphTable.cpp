// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_cudnn/GraphTable.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace convoy {

GraphTable::GraphTable(ModuleOp module) : symbols(module) {
  for (auto graph : module.getOps<cudnn::GraphOp>())
    graphs.try_emplace(contentOf(graph), graph);
}

/// The text of `graph` without its name and locations.
std::string GraphTable::contentOf(cudnn::GraphOp graph) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << graph.getFunctionType() << graph.getArgAttrsAttr() << graph.getResAttrsAttr();
  for (Operation &op : graph.getBody().front())
    op.print(os << "\n", OpPrintingFlags().useLocalScope());
  return text;
}

cudnn::GraphOp GraphTable::share(cudnn::GraphOp graph, StringRef pattern) {
  auto [found, isNew] = graphs.try_emplace(contentOf(graph), graph);
  if (!isNew) {
    graph.erase();
    return found->second;
  }
  std::string base = pattern.str(), name;
  llvm::replace(base, '+', '_');
  do
    name = base + "_" + std::to_string(counters[base]++);
  while (symbols.lookup(name));
  graph.setSymName(name);
  symbols.insert(graph);
  return graph;
}

} // namespace convoy
