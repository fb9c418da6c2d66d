// Which kernels a convolution is offered: tiles, and how many groups and blocks share a tile's sum.

#ifndef CONVOY_PASSES_KERNELS_CONVKERNELS_H
#define CONVOY_PASSES_KERNELS_CONVKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, the most promising first; none when the convolution is large enough to fill
/// a GPU with cuDNN's.
llvm::SmallVector<Variant, 0> convVariants(const ConvGraph &form);

/// Whether the first of them is a better guess than cuDNN's first plan.
bool isSmall(const ConvGraph &form);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONVKERNELS_H
