// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The form of a `cudnn.graph`: one anchor and the roles of the pointwise operations around it. The
// support table is queried about forms, for graphs of groups and graphs written by users.

#ifndef CONVOY_PASSES_FUSION_GRAPHFORM_H
#define CONVOY_PASSES_FUSION_GRAPHFORM_H

#include "dialect/cudnn/CudnnOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/fusion/OpsToCudnn.h"
#include "passes/fusion/SupportTable.h"

namespace convoy {

/// One pointwise operation. It has no role if it only rounds a value.
struct GraphStep {
  cudnn::PointwiseOp op;
  std::optional<Role> role;
};

/// An anchor and the pointwise operations around it, only pointwise operations, or attention. They
/// form a DAG: the graph's one result depends on every operation.
struct GraphForm {
  mlir::Operation *anchor = nullptr; ///< null for pointwise operations and attention
  /// Set for attention, which has no steps.
  std::optional<AttentionQuery> attention;
  /// The query for the anchor. Without an anchor, only layout and dtype are set.
  SupportQuery query;
  llvm::SmallVector<GraphStep> steps; ///< in order; without an anchor, all are epilogue

  /// Whether the anchor is a forward convolution or a matrix product.
  bool isLinear() const;
  /// The steps at a position, in order.
  llvm::SmallVector<GraphStep> at(Position position) const;
  /// The name of the anchor.
  llvm::StringRef anchorName() const;
  /// The names of the roles in order, joined by '+', e.g. relu+conv2d+bias.
  std::string pattern() const;
  /// Returns std::nullopt if the table accepts every operation, else the reason.
  std::optional<std::string> refuse(const SupportTable &table) const;
  /// Like `refuse`, but accepts graphs that only a kernel of Convoy computes. Sets `needsKernel` to
  /// whether it accepts one.
  std::optional<std::string> refuse(const SupportTable &table, bool &needsKernel) const;
};

/// Returns the form of `graph`, or std::nullopt with the reason in `reason`.
std::optional<GraphForm> matchGraph(cudnn::GraphOp graph, std::string &reason);

/// An argument of a group's graph: a value that the group reads, from `offset` elements on.
struct GraphArgument {
  mlir::Value value;
  int64_t offset = 0;
};

/// The graph of a group, its form, and its arguments. The first result is that of the group;
/// nothing reads the others, which only some graphs have.
struct GroupGraph {
  mlir::OwningOpRef<cudnn::GraphOp> graph;
  GraphForm form;
  llvm::SmallVector<GraphArgument> arguments;
};

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_GRAPHFORM_H
