// A graph cut into graphs that are run one after another.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_GRAPHSTEPS_H
#define CONVOY_PASSES_TCP_TO_CUDNN_GRAPHSTEPS_H

#include "dialect/cudnn/CudnnOps.h"

namespace convoy {

/// A graph of some of another one's operations: argument i is `inputs[i]` there, result i
/// `outputs[i]`.
struct CutGraph {
  cudnn::GraphOp graph;
  llvm::SmallVector<mlir::Value> inputs, outputs;
};

/// The operations of `source` as graphs at `builder`'s place, one for each of `parts`, which hold
/// them all but its constants, in order. A value that goes from one graph to another is rounded to
/// `dtype`.
llvm::SmallVector<CutGraph> cutGraph(mlir::OpBuilder &builder, cudnn::GraphOp source,
                                     llvm::ArrayRef<llvm::SmallVector<mlir::Operation *>> parts,
                                     mlir::Type dtype);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_GRAPHSTEPS_H
