// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The epilogue of Convoy's convolution and product kernels: a bias, a scale, a residual, an
// activation and a clamp.

#ifndef CONVOY_PASSES_KERNELS_EPILOGUE_H
#define CONVOY_PASSES_KERNELS_EPILOGUE_H

#include "dialect/cudnn/CudnnOps.h"
#include "runtime/device/kernel_abi.h"
#include <limits>
#include <optional>

namespace convoy {

/// The epilogue of device::EpilogueArguments. `bias`, `scale` and `residual` are numbers of
/// arguments of the graph.
struct Epilogue {
  std::optional<unsigned> bias, scale, residual;
  device::Activation activation = device::kIdentity;
  bool early = false; ///< whether the activation precedes scale and residual
  bool gates = false; ///< whether the residual is a factor, that of a gated layer
  double lower = -std::numeric_limits<double>::infinity(),
         upper = std::numeric_limits<double>::infinity();
  double slope = 0.0; ///< of device::kLeakyRelu

  bool isClipped() const {
    return lower != -std::numeric_limits<double>::infinity() ||
           upper != std::numeric_limits<double>::infinity();
  }
  /// The epilogue as an argument of a library function.
  device::EpilogueArguments epilogue() const {
    return {activation,
            early,
            gates,
            static_cast<float>(lower),
            static_cast<float>(upper),
            static_cast<float>(slope)};
  }
};

/// The result of a graph's first operation, and the requirements on the operands of the sums.
struct AnchorResult {
  mlir::Value value;
  llvm::SmallVector<int64_t> vector; ///< the shape of a bias
  llvm::function_ref<bool(cudnn::TensorDescType)>
      isOperand;       ///< whether the kernel supports a tensor's element type and memory layout
  bool isWide = false; ///< whether it computes f32, for which GELU and tanh are too inaccurate
};

/// Matches all operations of `graph` after the first one, and sets `result` to the result of the
/// last one. Returns false and sets `reason` if they are not an Epilogue and casts, or if the
/// kernel does not compute it.
bool matchEpilogue(cudnn::GraphOp graph, const AnchorResult &anchor, Epilogue &epilogue,
                   mlir::Value &result, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_EPILOGUE_H
