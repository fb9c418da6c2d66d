// Graphs that a kernel of our own computes: a few rows times a matrix, with sums and clipping after
// it.

#ifndef CONVOY_PASSES_KERNELS_MATMULGRAPH_H
#define CONVOY_PASSES_KERNELS_MATMULGRAPH_H

#include "passes/kernels/Epilogue.h"

namespace convoy {

/// clamp(a * b + residual + bias, lower, upper).
struct MatmulGraph : Epilogue {
  cudnn::MatmulOp matmul;
  mlir::Type resultType; ///< of the elements that are stored

  int64_t rows() const, columns() const, depth() const;
};

/// `graph` in this form: one product of row-major matrices of 16-bit floats or f32, the left one
/// with few rows, sums in f32. Nothing, with the reason, when it has another.
std::optional<MatmulGraph> matchMatmulGraph(cudnn::GraphOp graph, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_MATMULGRAPH_H
