// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reorders the operations of a graph into the form for which cuDNN has fast kernels.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_ORDEROPERATIONS_H
#define CONVOY_PASSES_TCP_TO_CUDNN_ORDEROPERATIONS_H

#include "passes/fusion/GraphForm.h"

namespace convoy {

/// Moves residuals before the bias of a convolution, for which cuDNN has precompiled kernels, and
/// adds an identity after a final activation for which it has none. `form` is the form of `graph`,
/// whose operations change.
void orderOperations(cudnn::GraphOp graph, const GraphForm &form);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_ORDEROPERATIONS_H
