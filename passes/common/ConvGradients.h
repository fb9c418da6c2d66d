// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The gradients of a convolution as forward ops, for the CPU and for what cuDNN does not support.

#ifndef CONVOY_PASSES_COMMON_CONVGRADIENTS_H
#define CONVOY_PASSES_COMMON_CONVGRADIENTS_H

#include "dialect/tcp/TcpOps.h"

namespace convoy {

/// Builds the input's gradient as a `tcp.conv_transpose` of the operands' current values.
mlir::Value decomposeGradient(mlir::OpBuilder &builder, tcp::ConvBackwardDataOp op,
                              mlir::Value gradient, mlir::Value weights);

/// Builds the gradient of the weights as a convolution that contracts the batch: the input with
/// batch and channels swapped, with the gradient as weights, and stride and dilation swapped. Long
/// sums are split over images and added, which loses fewer digits.
mlir::Value decomposeGradient(mlir::OpBuilder &builder, tcp::ConvBackwardFilterOp op,
                              mlir::Value input, mlir::Value gradient);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_CONVGRADIENTS_H
