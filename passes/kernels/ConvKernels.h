// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/conv.cu for a convolution: tile sizes, and the numbers of groups and
// blocks that share a tile's sum.

#ifndef CONVOY_PASSES_KERNELS_CONVKERNELS_H
#define CONVOY_PASSES_KERNELS_CONVKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, most promising first; none for convolutions that are large enough to fill a
/// GPU with cuDNN's kernels.
llvm::SmallVector<Variant, 0> convVariants(const ConvGraph &form);

/// Whether the first of them is preferred to cuDNN's first plan without tuning.
bool isSmall(const ConvGraph &form);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONVKERNELS_H
