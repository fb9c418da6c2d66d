// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/matmul.cu for a product of few rows: the width of a block's strip of
// columns, and the numbers of warps and blocks that share its sums.

#ifndef CONVOY_PASSES_KERNELS_MATMULKERNELS_H
#define CONVOY_PASSES_KERNELS_MATMULKERNELS_H

#include "passes/kernels/MatmulGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, most promising first; there is at least one. cuDNN's kernels compute tiles
/// of 64 rows and more, which would be mostly unused, so the first one is preferred to cuDNN's
/// first plan without tuning.
llvm::SmallVector<Variant, 0> matmulVariants(const MatmulGraph &form);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_MATMULKERNELS_H
