// Which kernels of runtime/device/conv_wgmma.cu a convolution is offered: how the result is cut
// into tiles.

#ifndef CONVOY_PASSES_KERNELS_CONVWGMMAKERNELS_H
#define CONVOY_PASSES_KERNELS_CONVWGMMAKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, the most promising first; none, with the reason, when it is not of the kind
/// that they compute.
llvm::SmallVector<Variant, 0> convWgmmaVariants(const ConvGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONVWGMMAKERNELS_H
