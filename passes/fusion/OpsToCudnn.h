// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts tcp ops and groups to `cudnn.graph`s. Grouping converts candidates to query the support
// table; phase `cudnn` converts the groups.

#ifndef CONVOY_PASSES_FUSION_OPSTOCUDNN_H
#define CONVOY_PASSES_FUSION_OPSTOCUDNN_H

#include "dialect/cudnn/CudnnOps.h"
#include "dialect/tcp/TcpOps.h"

namespace convoy {

/// Whether `op` can be the anchor of a group: a convolution, a gradient of one, a matrix product, a
/// pooling, a mean or attention.
bool isAnchor(mlir::Operation *op);

/// The pointwise modes of the operations to which ops of a group are converted.
llvm::ArrayRef<cudnn::PointwiseMode> groupModes();

/// Ops of one block that become one graph, in order. `inputs` are the other values that they read,
/// except scalar constants, in the order of the graph's arguments. The last op's result is the
/// result of the graph.
struct GroupOps {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SetVector<mlir::Value> inputs;

  /// The given ops, which are not in a group yet.
  static GroupOps of(llvm::ArrayRef<mlir::Operation *> ops);
  /// The body of a group. Fails with the reason if the last op's result is not the only result.
  static std::optional<GroupOps> of(tcp::IsolatedGroupOp group, std::string &reason);
};

/// Creates the graph of `group` at the insertion point, with the operations in the order of the
/// ops. Returns null with the reason in `reason` if an op cannot be converted.
cudnn::GraphOp convertGroup(mlir::OpBuilder &builder, llvm::StringRef name, const GroupOps &group,
                            std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_OPSTOCUDNN_H
