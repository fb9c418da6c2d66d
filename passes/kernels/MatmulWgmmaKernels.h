// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/matmul_wgmma.cu for a product of many rows.

#ifndef CONVOY_PASSES_KERNELS_MATMULWGMMAKERNELS_H
#define CONVOY_PASSES_KERNELS_MATMULWGMMAKERNELS_H

#include "passes/kernels/MatmulGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, most promising first. If there are none, sets `reason`.
llvm::SmallVector<Variant, 0> matmulWgmmaVariants(const MatmulGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_MATMULWGMMAKERNELS_H
