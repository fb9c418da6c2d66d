// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The patterns of convert-tcp-to-linalg, by family.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_PATTERNS_H
#define CONVOY_PASSES_TCP_TO_LINALG_PATTERNS_H

#include <string>

namespace mlir {
class Operation;
class RewritePatternSet;
} // namespace mlir

namespace convoy {

/// The reason why a tcp op cannot be lowered to linalg; empty if it can. Patterns match every op
/// for which this is empty.
std::string whyUnsupported(mlir::Operation *op);

/// Lowers ops with the trait Elementwise to one linalg.generic each.
void populateElementwisePatterns(mlir::RewritePatternSet &patterns);

/// Lowers forward convolutions of every rank, layout and grouping.
void populateConvolutionPatterns(mlir::RewritePatternSet &patterns);

/// Converts transposed convolutions and gradients of convolutions to forward convolutions.
void populateTransposedConvolutionPatterns(mlir::RewritePatternSet &patterns);

/// Lowers tcp.matmul to linalg.matmul, linalg.batch_matmul, or a generic if batch dims broadcast.
void populateMatmulPatterns(mlir::RewritePatternSet &patterns);

/// Lowers tcp.max_pool and tcp.avg_pool to a fill and a reduction over the window.
void populatePoolingPatterns(mlir::RewritePatternSet &patterns);

/// Lowers tcp.max_pool_indices and tcp.max_pool_backward to reductions over the window.
void populatePoolingGradientPatterns(mlir::RewritePatternSet &patterns);

/// Lowers reductions and softmax.
void populateReductionPatterns(mlir::RewritePatternSet &patterns);

/// Lowers layer norms.
void populateLayerNormPatterns(mlir::RewritePatternSet &patterns);

/// Lowers ops that move elements, and inlines groups.
void populateShapePatterns(mlir::RewritePatternSet &patterns);

/// Lowers ops that read at positions given by another tensor.
void populateIndexingPatterns(mlir::RewritePatternSet &patterns);

/// Lowers tcp.scatter.
void populateScatterPatterns(mlir::RewritePatternSet &patterns);

/// Lowers tcp.argsort to a merge sort: loops on the CPU, on the GPU one generic for each width.
void populateSortingPatterns(mlir::RewritePatternSet &patterns);

/// Lowers running sums and products.
void populateCumulativePatterns(mlir::RewritePatternSet &patterns);

/// Lowers loops.
void populateScanPatterns(mlir::RewritePatternSet &patterns);

/// Expands math ops that would become calls of libm or libdevice.
void populateMathExpansionPatterns(mlir::RewritePatternSet &patterns);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_PATTERNS_H
