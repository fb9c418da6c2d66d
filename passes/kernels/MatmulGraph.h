// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matches graphs that are a product of matrices and its epilogue, for Convoy's kernels and for
// cuBLASLt.

#ifndef CONVOY_PASSES_KERNELS_MATMULGRAPH_H
#define CONVOY_PASSES_KERNELS_MATMULGRAPH_H

#include "passes/kernels/Epilogue.h"

namespace convoy {

/// A product and its epilogue.
struct MatmulGraph : Epilogue {
  cudnn::MatmulOp matmul;
  mlir::Type resultType; ///< element type of the result

  int64_t batch() const, rows() const, columns() const, depth() const;
  mlir::Type element() const; ///< element type of both factors
  /// The pointers of the library functions: both factors, bias, scale, residual and result.
  llvm::SmallVector<std::optional<unsigned>> tensors() const;
  /// Those from the bias on.
  llvm::SmallVector<std::optional<unsigned>> epilogueTensors() const {
    return llvm::to_vector(llvm::drop_begin(tensors(), 2));
  }
};

/// Matches a `graph` of this form: one product of row-major matrices of 16-bit floats or f32, which
/// may be a batch, and accumulation in f32. Otherwise returns nothing and sets `reason`.
std::optional<MatmulGraph> matchMatmulGraph(cudnn::GraphOp graph, std::string &reason);

/// Whether Convoy's kernels support the sizes of the matrices. Otherwise sets `reason`.
bool fitsKernels(const MatmulGraph &form, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_MATMULGRAPH_H
