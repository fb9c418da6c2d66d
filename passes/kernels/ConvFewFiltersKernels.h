// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/conv_few_filters.cu for a convolution with few filters: the tile of a
// block, and the taps whose products are computed together.

#ifndef CONVOY_PASSES_KERNELS_CONVFEWFILTERSKERNELS_H
#define CONVOY_PASSES_KERNELS_CONVFEWFILTERSKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, which has few filters, most promising first. If there are none, sets
/// `reason`: for windows whose filters do not fit into shared memory or registers.
llvm::SmallVector<Variant, 0> convFewFiltersVariants(const ConvGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONVFEWFILTERSKERNELS_H
