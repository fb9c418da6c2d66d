// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of recurrent layers (passes/common/Recurrent.h).

#ifndef CONVOY_PASSES_KERNELS_RECURRENTKERNELS_H
#define CONVOY_PASSES_KERNELS_RECURRENTKERNELS_H

#include "passes/kernels/Variant.h"

namespace convoy {

/// Kernels for `graph`, if it is one cudnn.recurrent with at least two steps, of packed tensors
/// whose rows are a multiple of 16 bytes; most promising first. Otherwise there are none and
/// `reason` is set.
llvm::SmallVector<Variant, 0> recurrentVariants(cudnn::GraphOp graph, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_RECURRENTKERNELS_H
