// A convolution or matrix product as numbers: trip counts and element strides. Matching an op and
// writing code for it meet here.

#ifndef CONVOY_PASSES_CPU_CODEGEN_CONTRACTION_H
#define CONVOY_PASSES_CPU_CODEGEN_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace convoy {

/// A buffer read or written once for each output element: element strides of the output's dims n, h
/// (row), w (pixel) and k (channel). `k` is 1, or 0 for what is the same for all channels. `g` is
/// the step from one group of channels to the next.
struct PixelBuffer {
  mlir::Value buffer;
  int64_t n = 0, h = 0, w = 0, k = 0, g = 0;
};

/// One level of the reduction: `trips` steps, by which the input and the filter move on this many
/// elements.
struct ReductionLoop {
  int64_t trips, inputStep, filterStep;
};

/// output[n, h, w, k] = epilogue(init + sum over loops of input[n, h, w, ...] * filter[..., k]),
/// all f32.
struct Contraction {
  mlir::linalg::LinalgOp product;
  mlir::linalg::FillOp fill;        ///< may be null: then the output holds the initial value
  mlir::linalg::GenericOp epilogue; ///< may be null
  int64_t images, rows, columns, channels;
  PixelBuffer input; ///< at the window's first element; k is 0
  PixelBuffer output;
  mlir::Value filter;
  int64_t filterImage = 0; ///< step of the filter from image to image (batched products)
  int64_t groups = 1, filterGroup = 0; ///< groups of `channels` output channels, and the step of
                                       ///< the filter from group to group
  int64_t block = 0; ///< channels of a block of a packed filter; 0 when channels are contiguous
  int64_t filterBlock = 0; ///< step of the filter from block to block
  llvm::SmallVector<ReductionLoop>
      loops; ///< outermost first; trips of 1 and loops that are one with the next are gone
  llvm::SmallVector<PixelBuffer>
      operands; ///< inputs of the epilogue; the product's result has a null buffer
};

/// Describes `product`, with the fill and the epilogue around it (either may be null). Fails, with
/// the reason as a remark-free match failure, when the op has another form; then plain loops are
/// right for it.
mlir::FailureOr<Contraction> matchContraction(mlir::linalg::LinalgOp product,
                                              mlir::linalg::FillOp fill,
                                              mlir::linalg::GenericOp epilogue);

/// Chooses rows and columns anew where all buffers see one run of pixels, so that tiles of at most
/// `pixels` fill up.
void refoldPixels(Contraction &contraction, int64_t pixels);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_CONTRACTION_H
