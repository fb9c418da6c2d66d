// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels of runtime/device/attention_wgmma.cu: the rows of a block and the columns of a step.

#ifndef CONVOY_PASSES_KERNELS_ATTENTIONWGMMAKERNELS_H
#define CONVOY_PASSES_KERNELS_ATTENTIONWGMMAKERNELS_H

#include "passes/kernels/AttentionGraph.h"

namespace convoy {

/// Kernels for `form`, whose rows have at most `bound` elements, most promising first. There are
/// none for few rows and for windows, which a step of attention.cu computes.
llvm::SmallVector<Variant, 0> attentionWgmmaVariants(const AttentionGraph &form, int bound);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_ATTENTIONWGMMAKERNELS_H
