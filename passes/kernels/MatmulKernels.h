// Which kernels a product of few rows is offered: how wide a strip of columns a block makes, and
// how many warps and blocks share its sums.

#ifndef CONVOY_PASSES_KERNELS_MATMULKERNELS_H
#define CONVOY_PASSES_KERNELS_MATMULKERNELS_H

#include "passes/kernels/MatmulGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, the most promising first; there is always one. cuDNN's make tiles of 64 rows
/// and more, of which few are used, so the first of them is a better guess than its first plan.
llvm::SmallVector<Variant, 0> matmulVariants(const MatmulGraph &form);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_MATMULKERNELS_H
