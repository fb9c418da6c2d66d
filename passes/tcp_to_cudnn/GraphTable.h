// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The graphs of a module by content, so that equal graphs become one symbol.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_GRAPHTABLE_H
#define CONVOY_PASSES_TCP_TO_CUDNN_GRAPHTABLE_H

#include "dialect/cudnn/CudnnOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace convoy {

class GraphTable {
public:
  /// Contains the graphs of `module`.
  explicit GraphTable(mlir::ModuleOp module);

  /// Returns the graph to use for `graph`. If an equal graph exists, erases `graph` and returns
  /// that one. Otherwise names `graph` after `pattern` (a+b becomes @a_b_0, @a_b_1, ...) and
  /// returns it.
  cudnn::GraphOp share(cudnn::GraphOp graph, llvm::StringRef pattern);

private:
  static std::string contentOf(cudnn::GraphOp graph);

  mlir::SymbolTable symbols;
  llvm::StringMap<cudnn::GraphOp> graphs;
  llvm::StringMap<int64_t> counters;
};

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_GRAPHTABLE_H
