// The form of a graph for which cuDNN has its fast kernels.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_ORDEROPERATIONS_H
#define CONVOY_PASSES_TCP_TO_CUDNN_ORDEROPERATIONS_H

#include "passes/fusion/GraphForm.h"

namespace convoy {

/// Puts residuals before the bias of a convolution, for which cuDNN has precompiled kernels, and an
/// identity after an activation at the end for which it has none. `form` is the form of `graph`,
/// whose operations change.
void orderOperations(cudnn::GraphOp graph, const GraphForm &form);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_ORDEROPERATIONS_H
