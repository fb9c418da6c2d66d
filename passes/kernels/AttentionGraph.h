// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matches graphs of attention for Convoy's kernels.

#ifndef CONVOY_PASSES_KERNELS_ATTENTIONGRAPH_H
#define CONVOY_PASSES_KERNELS_ATTENTIONGRAPH_H

#include "passes/kernels/Variant.h"

namespace convoy {

/// softmax(scale * q * k + mask) * v, with k already transposed, as `buildAttentionGraph` of
/// passes/fusion writes it: arguments q, k, v and the mask, and two results, of which the second
/// one is the logarithms of the sums of exponentials. A softcap and a window are 0 if there is
/// none.
struct AttentionGraph {
  cudnn::GraphOp graph;
  double scale = 1, softcap = 0;
  bool hasMask = false, causal = false;
  int64_t window = 0;

  cudnn::TensorDescType argument(unsigned number) const;
  cudnn::TensorDescType result() const;

  /// The arguments of the device functions, without the warps.
  device::AttentionArguments arguments() const;
  /// The pointers of the device functions: q, k, v, the mask or null, and both results.
  llvm::SmallVector<std::optional<unsigned>> tensors() const;
};

/// Matches a `graph` of this form. Otherwise returns nothing.
std::optional<AttentionGraph> matchAttentionGraph(cudnn::GraphOp graph);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_ATTENTIONGRAPH_H
