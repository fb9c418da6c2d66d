// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts tcp ops and groups to `cudnn.graph`s. Grouping converts candidates to query the support
// table; phase `cudnn` converts the groups.

#ifndef CONVOY_PASSES_FUSION_OPSTOCUDNN_H
#define CONVOY_PASSES_FUSION_OPSTOCUDNN_H

#include "dialect/cudnn/CudnnOps.h"
#include "passes/fusion/GroupOps.h"

namespace convoy {

/// The pointwise modes of the operations to which ops of a group are converted.
llvm::ArrayRef<cudnn::PointwiseMode> groupModes();

/// Creates the graph of `group` at the insertion point, with the operations in the order of the
/// ops. Returns null with the reason in `reason` if an op cannot be converted.
cudnn::GraphOp convertGroup(mlir::OpBuilder &builder, llvm::StringRef name, const GroupOps &group,
                            std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_OPSTOCUDNN_H
