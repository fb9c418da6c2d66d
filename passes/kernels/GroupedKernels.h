// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variants of the kernel for convolutions with groups, runtime/device/grouped.cu.

#ifndef CONVOY_PASSES_KERNELS_GROUPEDKERNELS_H
#define CONVOY_PASSES_KERNELS_GROUPEDKERNELS_H

#include "passes/kernels/ConvGraph.h"

namespace convoy {

/// Up to three variants for a convolution with groups, and whether the first one is preferred to
/// cuDNN's first plan without tuning. If there are none, sets `reason`.
Offer groupedOffer(const ConvGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_GROUPEDKERNELS_H
