// What a kernel of our own does with a convolution or a product before it stores it: sums, then a
// clamp.

#ifndef CONVOY_PASSES_KERNELS_EPILOGUE_H
#define CONVOY_PASSES_KERNELS_EPILOGUE_H

#include "dialect/cudnn/CudnnOps.h"
#include <limits>
#include <optional>

namespace convoy {

/// clamp(value + residual + bias, lower, upper). Numbers are places in the list of the graph's
/// arguments.
struct Epilogue {
  std::optional<unsigned> bias, residual;
  double lower = -std::numeric_limits<double>::infinity(),
         upper = std::numeric_limits<double>::infinity();

  /// The bounds as arguments of a function of the library.
  template <typename Arguments> void setClip(Arguments &arguments) const {
    arguments.lower = static_cast<float>(lower);
    arguments.upper = static_cast<float>(upper);
  }
};

/// What a graph's first operation computes, as the sums after it have to fit it.
struct AnchorResult {
  mlir::Value value;
  llvm::SmallVector<int64_t> vector; ///< the shape of a bias
  llvm::function_ref<bool(cudnn::TensorDescType)>
      isOperand; ///< whether a tensor has the elements and the memory that the kernel reads
};

/// Matches all operations of `graph` after the first one. `result` is then what the last of them
/// computes. False, with the reason, when they are something else than sums, one relu and casts.
bool matchEpilogue(cudnn::GraphOp graph, AnchorResult anchor, Epilogue &epilogue,
                   mlir::Value &result, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_EPILOGUE_H
