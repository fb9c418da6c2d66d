// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/depthwise.cu: depthwise convolutions.

#ifndef CONVOY_PASSES_KERNELS_DEPTHWISEKERNELS_H
#define CONVOY_PASSES_KERNELS_DEPTHWISEKERNELS_H

#include "passes/kernels/ConvGraph.h"

namespace convoy {

/// The variants for a depthwise convolution, most promising first. If there are none, sets
/// `reason`.
llvm::SmallVector<Variant, 0> depthwiseVariants(const ConvGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_DEPTHWISEKERNELS_H
