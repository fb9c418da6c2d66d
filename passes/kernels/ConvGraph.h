// Graphs that a kernel of our own computes: a convolution with sums and clipping after it.

#ifndef CONVOY_PASSES_KERNELS_CONVGRAPH_H
#define CONVOY_PASSES_KERNELS_CONVGRAPH_H

#include "passes/kernels/Epilogue.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// clamp(conv(x, w) + residual + bias, lower, upper).
struct ConvGraph : Epilogue {
  cudnn::ConvolutionOp conv;

  /// Pixels of the result, its channels, and products a number of it.
  int64_t rows() const, columns() const, depth() const;
  /// What is multiplied.
  mlir::Type element() const;
  /// What each kernel for it has: the tensors, the bounds, and whether it rounds factors.
  Variant variant() const;
};

/// `graph` in this form: two spatial dims, no groups, 16-bit floats, or with `allowTf32` f32, in
/// channels-last memory, sums in f32. Nothing, with the reason, when it has another.
std::optional<ConvGraph> matchConvGraph(cudnn::GraphOp graph, bool allowTf32, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONVGRAPH_H
