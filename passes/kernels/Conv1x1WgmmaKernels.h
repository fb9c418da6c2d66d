// Which kernels of runtime/device/conv1x1_wgmma.cu a convolution of one tap is offered.

#ifndef CONVOY_PASSES_KERNELS_CONV1X1WGMMAKERNELS_H
#define CONVOY_PASSES_KERNELS_CONV1X1WGMMAKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, the most promising first; none, with the reason, when it is not of the kind that they compute.
llvm::SmallVector<Variant, 0> conv1x1WgmmaVariants(const ConvGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONV1X1WGMMAKERNELS_H
