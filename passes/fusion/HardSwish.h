// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_PASSES_FUSION_HARDSWISH_H
#define CONVOY_PASSES_FUSION_HARDSWISH_H

#include "dialect/cudnn/CudnnOps.h"

namespace convoy {

/// Matches v * relu6(v + 3) / 6 in f32, whose first operation is `add`, where v has no other uses.
/// Returns its four operations in order, or none.
llvm::SmallVector<cudnn::PointwiseOp, 4> matchHardSwish(cudnn::PointwiseOp add);

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_HARDSWISH_H
