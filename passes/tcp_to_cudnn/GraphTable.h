// The graphs of a module by content, so that equal graphs are one symbol.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_GRAPHTABLE_H
#define CONVOY_PASSES_TCP_TO_CUDNN_GRAPHTABLE_H

#include "dialect/cudnn/CudnnOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace convoy {

class GraphTable {
public:
  /// Knows the graphs that are in `module` already.
  explicit GraphTable(mlir::ModuleOp module);

  /// The graph that stands for `graph`: an equal one that came before, `graph` being erased then,
  /// or `graph` itself, named after `pattern` (a+b becomes @a_b_0, @a_b_1, ...).
  cudnn::GraphOp share(cudnn::GraphOp graph, llvm::StringRef pattern);

private:
  static std::string contentOf(cudnn::GraphOp graph);

  mlir::SymbolTable symbols;
  llvm::StringMap<cudnn::GraphOp> graphs;
  llvm::StringMap<int64_t> counters;
};

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_GRAPHTABLE_H
