// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/matmul_wgmma.cu for a product of many rows, also that of a 1x1
// convolution: the tile of a group of warps, and the blocks that share columns.

#ifndef CONVOY_PASSES_KERNELS_MATMULWGMMAKERNELS_H
#define CONVOY_PASSES_KERNELS_MATMULWGMMAKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/MatmulGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, most promising first. If there are none, sets `reason`.
llvm::SmallVector<Variant, 0> matmulWgmmaVariants(const MatmulGraph &form, std::string &reason);

/// Kernels for the product of all pixels and the filters, most promising first. None if `form` is
/// no such product, or if it has few pixels.
llvm::SmallVector<Variant, 0> convProductVariants(const ConvGraph &form);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_MATMULWGMMAKERNELS_H
