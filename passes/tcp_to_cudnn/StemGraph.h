// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_STEMGRAPH_H
#define CONVOY_PASSES_TCP_TO_CUDNN_STEMGRAPH_H

#include "dialect/cudnn/CudnnOps.h"
#include "passes/common/Stem.h"

namespace convoy {

/// Creates the graph of a stem: an identity that casts the image, convolution, bias, relu and max
/// pooling. cuDNN has no engine for it, so it is marked as a graph that only kernels run.
cudnn::GraphOp buildStemGraph(mlir::OpBuilder &builder, llvm::StringRef name,
                              tcp::IsolatedGroupOp group, Stem &stem);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_STEMGRAPH_H
