// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/mean.cu for means over whole images: average pooling with a window of
// the image's size.

#ifndef CONVOY_PASSES_KERNELS_MEANKERNELS_H
#define CONVOY_PASSES_KERNELS_MEANKERNELS_H

#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `graph`, if it is one such pooling of a channels-last image. Otherwise there are
/// none and `reason` is set.
Offer offerMean(cudnn::GraphOp graph, bool allowTf32, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_MEANKERNELS_H
