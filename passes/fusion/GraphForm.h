// The form of a `cudnn.graph`: one anchor and the roles of the pointwise operations around it. The
// support table is asked about forms, whether a group became the graph or a user wrote it.

#ifndef CONVOY_PASSES_FUSION_GRAPHFORM_H
#define CONVOY_PASSES_FUSION_GRAPHFORM_H

#include "dialect/cudnn/CudnnOps.h"
#include "passes/fusion/SupportTable.h"

namespace convoy {

/// One pointwise operation. It has no role when it changes nothing but how a value is rounded.
struct GraphStep {
  cudnn::PointwiseOp op;
  std::optional<Role> role;
};

/// An anchor and the pointwise operations around it, or pointwise operations alone. They form a
/// DAG: every operation leads to the graph's one result.
struct GraphForm {
  mlir::Operation *anchor = nullptr; ///< null for pointwise operations alone
  /// What the support table is asked about the anchor; without an anchor, its layout and dtype.
  SupportQuery query;
  llvm::SmallVector<GraphStep> steps; ///< in order; alone, operations are of the epilogue

  /// Whether the anchor is a convolution or a matrix product.
  bool isLinear() const;
  /// The steps at a position, in order.
  llvm::SmallVector<GraphStep> at(Position position) const;
  /// Names of the roles in order, joined by '+', e.g. relu+conv2d+bias.
  std::string pattern() const;
  /// Nothing when the table accepts every operation, else the reason.
  std::optional<std::string> refuse(const SupportTable &table) const;
};

/// The form of `graph`. Nothing, with the reason, when it has another.
std::optional<GraphForm> matchGraph(cudnn::GraphOp graph, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_GRAPHFORM_H
