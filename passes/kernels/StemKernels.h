// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of stems, the first layers of a convolutional network (passes/common/Stem.h).

#ifndef CONVOY_PASSES_KERNELS_STEMKERNELS_H
#define CONVOY_PASSES_KERNELS_STEMKERNELS_H

#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `graph`, if it has the form of buildStemGraph, most promising first. Otherwise there
/// are none and `reason` is set.
llvm::SmallVector<Variant, 0> stemVariants(cudnn::GraphOp graph, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_STEMKERNELS_H
