// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels for attention, and those of runtime/device/attention.cu: the number of warps of a block.

#ifndef CONVOY_PASSES_KERNELS_ATTENTIONKERNELS_H
#define CONVOY_PASSES_KERNELS_ATTENTIONKERNELS_H

#include "passes/kernels/AttentionGraph.h"

namespace convoy {

/// Kernels for `form`, most promising first. If there are none, sets `reason`. For windows, whose
/// scores are one step of the kernel, they are preferred to cuDNN's first plan without tuning: 3072
/// windows of 49 x 49 take 4 us, cuDNN's plans 11 to 17. ViT's 197 x 197 take 38 us, cuDNN's 25.
Offer offerAttention(const AttentionGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_ATTENTIONKERNELS_H
