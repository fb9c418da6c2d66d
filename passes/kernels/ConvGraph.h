// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matches graphs for Convoy's convolution kernels: a convolution and its epilogue.

#ifndef CONVOY_PASSES_KERNELS_CONVGRAPH_H
#define CONVOY_PASSES_KERNELS_CONVGRAPH_H

#include "passes/kernels/Epilogue.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// clamp(conv(x, w) + residual + bias, lower, upper); any epilogue if it has groups.
struct ConvGraph : Epilogue {
  cudnn::ConvolutionOp conv;

  /// The number of pixels and channels of the result, and of products per element.
  int64_t rows() const, columns() const, depth() const;
  /// Whether each channel of the result has a channel of the input for itself.
  bool isDepthwise() const;
  /// Whether each channel of the result is a sum over a part of the channels of the input.
  bool hasGroups() const;
  /// The element type of input and filter.
  mlir::Type element() const;
  /// The common fields of all kernels for it: the tensors, with a scale if it has groups, and
  /// whether factors are rounded to TF32.
  Variant variant() const;
};

/// Matches a `graph` of this form: two spatial dims, channels-last memory, 16-bit floats or f32
/// (with `allowTf32`, or depthwise), accumulation in f32. Otherwise returns nothing and sets
/// `reason`.
std::optional<ConvGraph> matchConvGraph(cudnn::GraphOp graph, bool allowTf32, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONVGRAPH_H
