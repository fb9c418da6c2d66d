// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The sums of a bias and residuals after a convolution, and their order.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_CONVSUMS_H
#define CONVOY_PASSES_TCP_TO_CUDNN_CONVSUMS_H

#include "dialect/cudnn/CudnnOps.h"

namespace convoy {

/// Reorders the sums after `conv`, a forward convolution: the bias before residuals, or after them.
/// Returns false if they already have that order, or if reordering would change more than the
/// rounding of sums in the compute type.
bool reorderSums(cudnn::ConvolutionOp conv, bool biasFirst);

/// Whether residuals or a relu follow `conv`, a forward convolution, without a bias. cuDNN has
/// precompiled kernels for the form with a bias.
bool lacksBias(cudnn::ConvolutionOp conv);

/// Adds a bias to the sums after `conv`, as the last argument of `graph`. Fails if the graph cannot
/// have another argument.
mlir::LogicalResult insertBias(cudnn::GraphOp graph, cudnn::ConvolutionOp conv);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_CONVSUMS_H
