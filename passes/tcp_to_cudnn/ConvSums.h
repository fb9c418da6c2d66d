// The sums that end a convolution in a graph: what adds a bias, what a residual, and in which order.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_CONVSUMS_H
#define CONVOY_PASSES_TCP_TO_CUDNN_CONVSUMS_H

#include "dialect/cudnn/CudnnOps.h"

namespace convoy {

/// One addition to the running value of a convolution.
struct ConvSum {
  cudnn::PointwiseOp op;
  /// What is added: 1 x K x 1... of a bias, the convolution's shape of a residual.
  mlir::Value other;
  bool isBias = false;
  /// What the running value and `other` are multiplied by.
  llvm::APFloat runningScale, otherScale;
};

/// The additions that follow a forward convolution one after the other, each the only use of the value before it.
llvm::SmallVector<ConvSum> sumsAfter(cudnn::ConvolutionOp conv);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_CONVSUMS_H
