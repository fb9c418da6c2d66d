// A graph in the words of the support table: what its anchor is, and what each pointwise operation
// is to it.

#ifndef CONVOY_PASSES_TCP_TO_CUDNN_GRAPHROLES_H
#define CONVOY_PASSES_TCP_TO_CUDNN_GRAPHROLES_H

#include "dialect/cudnn/CudnnOps.h"
#include "passes/common/SupportTable.h"

namespace convoy {

/// One pointwise operation of a chain, and its role, as the table calls it; empty when it changes
/// nothing but how a value is rounded.
struct GraphStep {
  cudnn::PointwiseOp op;
  std::string role;
};

/// A forward convolution or a matrix product with a chain of pointwise operations before it and one
/// after, or, without an anchor, one such chain, which is then `epilogue`.
struct GraphRoles {
  mlir::Operation *anchor = nullptr;
  llvm::SmallVector<GraphStep> prologue, epilogue;
  /// Everything about the anchor that the table asks; without an anchor the layout and the type
  /// alone.
  SupportQuery query;
  std::string anchorName;

  /// Parts joined by '+': relu+conv2d+bias.
  std::string pattern() const;
  /// Nothing when the table takes every part, else the reason.
  std::optional<std::string> refuse(const SupportTable &table) const;
};

/// The roles of a graph of this form. Nothing, with the reason, when it has another.
std::optional<GraphRoles> matchRoles(cudnn::GraphOp graph, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_CUDNN_GRAPHROLES_H
