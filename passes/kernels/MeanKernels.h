// The kernels of means over whole images, cuDNN's average pooling with a window as large as the
// image.

#ifndef CONVOY_PASSES_KERNELS_MEANKERNELS_H
#define CONVOY_PASSES_KERNELS_MEANKERNELS_H

#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `graph` when it is one such pooling of a channels-last image, and whether the first
/// of them is a better guess than cuDNN's first plan. None, with the reason, when it is not.
Offer offerMean(cudnn::GraphOp graph, bool allowTf32, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_MEANKERNELS_H
