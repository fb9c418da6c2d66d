// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The graph of a recurrent layer, which only Convoy's kernels compute.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_RECURRENTGRAPH_H
#define CONVOY_PASSES_TCP_TO_CUDNN_RECURRENTGRAPH_H

#include "dialect/cudnn/CudnnOps.h"
#include "passes/common/Recurrent.h"

namespace convoy {

/// Creates the graph of `group`, which is `layer`: one cudnn.recurrent on packed tensors.
cudnn::GraphOp buildRecurrentGraph(mlir::OpBuilder &builder, llvm::StringRef name,
                                   tcp::IsolatedGroupOp group, const Recurrent &layer);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_RECURRENTGRAPH_H
