// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Splits a graph into graphs that run one after another.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_GRAPHSTEPS_H
#define CONVOY_PASSES_TCP_TO_CUDNN_GRAPHSTEPS_H

#include "dialect/cudnn/CudnnOps.h"

namespace convoy {

/// A graph with a part of another graph's operations. Argument i is `inputs[i]` of that graph,
/// result i is `outputs[i]`.
struct CutGraph {
  cudnn::GraphOp graph;
  llvm::SmallVector<mlir::Value> inputs, outputs;
};

/// Creates one graph for each of `parts` at the insertion point. `parts` are all operations of
/// `source` except constants, in order. Values that one graph passes to another are rounded to
/// `dtype`.
llvm::SmallVector<CutGraph> cutGraph(mlir::OpBuilder &builder, cudnn::GraphOp source,
                                     llvm::ArrayRef<llvm::SmallVector<mlir::Operation *>> parts,
                                     mlir::Type dtype);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_GRAPHSTEPS_H
