// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/conv_tma.cu for a convolution of many pixels: the tile of a group of
// warps, and the windows that the tensor memory accelerator copies.

#ifndef CONVOY_PASSES_KERNELS_CONVTMAKERNELS_H
#define CONVOY_PASSES_KERNELS_CONVTMAKERNELS_H

#include "passes/kernels/ConvGraph.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `form`, most promising first. If there are none, sets `reason`: for f32, few pixels,
/// few channels of a group, and if a stride or the padding is larger than tensor maps have.
llvm::SmallVector<Variant, 0> convTmaVariants(const ConvGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONVTMAKERNELS_H
