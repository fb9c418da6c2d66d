// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/conv1x1_wgmma.cu for 1x1 convolutions.

#ifndef CONVOY_PASSES_KERNELS_CONV1X1WGMMAKERNELS_H
#define CONVOY_PASSES_KERNELS_CONV1X1WGMMAKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, most promising first; none if they do not support it. ConvWgmmaKernels.h is
/// then tried, and reports the reason.
llvm::SmallVector<Variant, 0> conv1x1WgmmaVariants(const ConvGraph &form);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONV1X1WGMMAKERNELS_H
