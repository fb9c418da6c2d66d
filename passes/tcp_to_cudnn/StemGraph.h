#ifndef CONVOY_PASSES_TCP_TO_CUDNN_STEMGRAPH_H
#define CONVOY_PASSES_TCP_TO_CUDNN_STEMGRAPH_H

#include "dialect/cudnn/CudnnOps.h"
#include "passes/common/Stem.h"

namespace convoy {

/// The graph of a group that is a stem: the image's type changed by an identity, convolution, bias,
/// relu and max pooling. cuDNN has no engine for it; it is marked as one for kernels alone.
cudnn::GraphOp buildStemGraph(mlir::OpBuilder &builder, llvm::StringRef name,
                              tcp::IsolatedGroupOp group, Stem &stem);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_STEMGRAPH_H
