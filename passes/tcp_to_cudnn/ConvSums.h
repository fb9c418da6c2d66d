// The sums that end a convolution in a graph: what adds a bias, what a residual, and in which
// order.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_CONVSUMS_H
#define CONVOY_PASSES_TCP_TO_CUDNN_CONVSUMS_H

#include "dialect/cudnn/CudnnOps.h"

namespace convoy {

/// Puts the sums that follow `conv`, a forward convolution, into another order: the bias before
/// residuals, or behind them. False when they are in that order, or another one would change more
/// than the rounding of sums in the compute type.
bool reorderSums(cudnn::ConvolutionOp conv, bool biasFirst);

/// Whether a bias would complete a form of a forward convolution that cuDNN has precompiled kernels
/// for: residuals, or a relu, and no bias.
bool wantsBias(cudnn::ConvolutionOp conv);

/// Adds a bias to the sums that follow `conv`, as a last argument of `graph`. Fails when the graph
/// cannot have another argument.
mlir::LogicalResult insertBias(cudnn::GraphOp graph, cudnn::ConvolutionOp conv);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_CONVSUMS_H
