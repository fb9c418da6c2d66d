// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/conv_wgmma.cu for a convolution, which differ in the tiling of the
// result.

#ifndef CONVOY_PASSES_KERNELS_CONVWGMMAKERNELS_H
#define CONVOY_PASSES_KERNELS_CONVWGMMAKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, most promising first. If they do not support it, there are none and `reason`
/// is set.
llvm::SmallVector<Variant, 0> convWgmmaVariants(const ConvGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONVWGMMAKERNELS_H
