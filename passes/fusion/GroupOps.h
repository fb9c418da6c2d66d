// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The ops of a group, and the values that it reads.

#ifndef CONVOY_PASSES_FUSION_GROUPOPS_H
#define CONVOY_PASSES_FUSION_GROUPOPS_H

#include "dialect/tcp/TcpOps.h"
#include "llvm/ADT/SetVector.h"

namespace convoy {

/// Whether `op` can be the anchor of a group: a convolution, a gradient of one, a matrix product, a
/// pooling, a mean or attention.
bool isAnchor(mlir::Operation *op);

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

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_GROUPOPS_H
