// Which kernels of runtime/device/conv1x1_wgmma.cu a convolution of one tap is offered.

#ifndef CONVOY_PASSES_KERNELS_CONV1X1WGMMAKERNELS_H
#define CONVOY_PASSES_KERNELS_CONV1X1WGMMAKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, the most promising first; none when it is not of the kind that they compute,
/// and then one for ConvWgmmaKernels.h, which says what it is not.
llvm::SmallVector<Variant, 0> conv1x1WgmmaVariants(const ConvGraph &form);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONV1X1WGMMAKERNELS_H
