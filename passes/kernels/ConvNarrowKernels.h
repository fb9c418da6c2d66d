// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/conv_narrow.cu for a convolution of few channels: the tile of a block,
// and the filters that it keeps in shared memory.

#ifndef CONVOY_PASSES_KERNELS_CONVNARROWKERNELS_H
#define CONVOY_PASSES_KERNELS_CONVNARROWKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, which is narrow, most promising first. If there are none, sets `reason`: for
/// windows whose filters do not fit into shared memory or into an unrolled loop.
llvm::SmallVector<Variant, 0> convNarrowVariants(const ConvGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONVNARROWKERNELS_H
