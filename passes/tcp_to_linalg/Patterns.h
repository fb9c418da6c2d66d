// The pattern families of convert-tcp-to-linalg, so that its driver is a list and each family reads
// alone.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_PATTERNS_H
#define CONVOY_PASSES_TCP_TO_LINALG_PATTERNS_H

#include <string>

namespace mlir {
class Operation;
class RewritePatternSet;
} // namespace mlir

namespace convoy {

/// What was expected and what came, for a tcp op that has no form in linalg; empty for one that
/// has. Patterns match every op for which this is empty.
std::string whyUnsupported(mlir::Operation *op);

/// Every op with the trait Elementwise to one linalg.generic.
void populateElementwisePatterns(mlir::RewritePatternSet &patterns);

/// Convolutions of every rank, layout and grouping, and transposed ones.
void populateConvolutionPatterns(mlir::RewritePatternSet &patterns);

/// tcp.matmul to linalg.matmul, linalg.batch_matmul, or a generic when batch dims broadcast.
void populateMatmulPatterns(mlir::RewritePatternSet &patterns);

/// tcp.max_pool and tcp.avg_pool to a fill and a reduction over the window.
void populatePoolingPatterns(mlir::RewritePatternSet &patterns);

/// Reductions, softmax and layer norm.
void populateReductionPatterns(mlir::RewritePatternSet &patterns);

/// Ops that move elements, and the inlining of groups.
void populateShapePatterns(mlir::RewritePatternSet &patterns);

/// Expansions of math ops that would end in libm or libdevice.
void populateMathExpansionPatterns(mlir::RewritePatternSet &patterns);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_PATTERNS_H
