// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matches graphs for Convoy's product kernels: a product of two matrices and its epilogue.

#ifndef CONVOY_PASSES_KERNELS_MATMULGRAPH_H
#define CONVOY_PASSES_KERNELS_MATMULGRAPH_H

#include "passes/kernels/Epilogue.h"

namespace convoy {

/// A product and its epilogue.
struct MatmulGraph : Epilogue {
  cudnn::MatmulOp matmul;
  mlir::Type resultType; ///< element type of the result

  int64_t rows() const, columns() const, depth() const;
  mlir::Type element() const; ///< element type of both factors
  /// The pointers of the library functions: both factors, bias, scale, residual and result.
  llvm::SmallVector<std::optional<unsigned>> tensors() const;
};

/// Matches a `graph` of this form: one product of row-major matrices of 16-bit floats or f32,
/// accumulation in f32. Otherwise returns nothing and sets `reason`.
std::optional<MatmulGraph> matchMatmulGraph(cudnn::GraphOp graph, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_MATMULGRAPH_H
