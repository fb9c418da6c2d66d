// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The epilogue of Convoy's convolution and product kernels: sums, then a clamp or swish.

#ifndef CONVOY_PASSES_KERNELS_EPILOGUE_H
#define CONVOY_PASSES_KERNELS_EPILOGUE_H

#include "dialect/cudnn/CudnnOps.h"
#include <limits>
#include <optional>

namespace convoy {

/// clamp(value + residual + bias, lower, upper), or with `swish` v * sigmoid(v) of the sum v.
/// `bias` and `residual` are numbers of arguments of the graph.
struct Epilogue {
  std::optional<unsigned> bias, residual;
  bool swish = false;
  double lower = -std::numeric_limits<double>::infinity(),
         upper = std::numeric_limits<double>::infinity();

  /// Sets the bounds in the arguments of a library function.
  template <typename Arguments> void setClip(Arguments &arguments) const {
    arguments.lower = static_cast<float>(lower);
    arguments.upper = static_cast<float>(upper);
  }
};

/// The result of a graph's first operation, and the requirements on the operands of the sums.
struct AnchorResult {
  mlir::Value value;
  llvm::SmallVector<int64_t> vector; ///< the shape of a bias
  llvm::function_ref<bool(cudnn::TensorDescType)>
      isOperand; ///< whether the kernel supports a tensor's element type and memory layout
  bool allowsSwish = false; ///< whether the kernel computes swish
};

/// Matches all operations of `graph` after the first one, and sets `result` to the result of the
/// last one. Returns false and sets `reason` if they are not sums, one relu or swish, and casts.
bool matchEpilogue(cudnn::GraphOp graph, const AnchorResult &anchor, Epilogue &epilogue,
                   mlir::Value &result, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_EPILOGUE_H
