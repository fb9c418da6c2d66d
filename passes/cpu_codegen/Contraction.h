// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Describes a convolution or matrix product by trip counts and element strides: the interface
// between matching an op (MatchContraction.h) and emitting its code.

#ifndef CONVOY_PASSES_CPU_CODEGEN_CONTRACTION_H
#define CONVOY_PASSES_CPU_CODEGEN_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace convoy {

/// A buffer that is read or written once for each output element: element strides of the output's
/// dims n, h (row), w (pixel) and k (channel). `k` is 1, or 0 if all channels read the same
/// element. `g` is the stride between groups of channels.
struct PixelBuffer {
  mlir::Value buffer;
  int64_t n = 0, h = 0, w = 0, k = 0, g = 0;
};

/// A loop of the reduction: the number of trips, and the element steps of the input and the filter
/// per trip.
struct ReductionLoop {
  int64_t trips, inputStep, filterStep;
  bool isRows = false; ///< whether it is over the rows of a window, some of which are padding
};

/// The rows of a convolution's input that are not padding, and the rows from one output to the next
/// and from one row of the window to the next.
struct InputRows {
  int64_t begin, end, stride, dilation;
};

/// output[n, h, w, k] = epilogue(init + sum over loops of input[n, h, w, ...] * filter[..., k]),
/// all f32. The input of a depthwise convolution has the dim k too.
struct Contraction {
  mlir::linalg::LinalgOp product;
  mlir::linalg::FillOp fill;        ///< if null, the output holds the initial value
  mlir::linalg::GenericOp epilogue; ///< may be null
  int64_t images, rows, columns, channels;
  PixelBuffer input; ///< at the window's first element; k is 1 for depthwise convolutions
  PixelBuffer output;
  mlir::Value filter;
  int64_t filterImage = 0;             ///< stride of the filter between images (batched products)
  int64_t groups = 1, filterGroup = 0; ///< groups of `channels` output channels, and the stride
                                       ///< of the filter between groups. The frames of a 3-D
                                       ///< convolution are groups that share one filter
  int64_t block = 0;       ///< channels per block of a packed filter; 0 if channels are contiguous
  int64_t filterBlock = 0; ///< stride of the filter between blocks
  mlir::Value transformed; ///< the transform of the filter (WinogradFilter.h), or null
  int64_t depth = 0;       ///< input channels of a convolution with a transformed filter
  int64_t dilation = 1;    ///< its dilation in rows and columns
  ReductionLoop taps{1, 0, 0};        ///< its loop over the frames of the window
  std::optional<InputRows> inputRows; ///< if many rows that the convolution reads are padding
  llvm::SmallVector<ReductionLoop>
      loops; ///< outermost first, simplified: no trips of 1, no mergeable loops
  llvm::SmallVector<PixelBuffer>
      operands; ///< inputs of the epilogue; the product's result has a null buffer
};

/// The element strides of a memref with a static shape, strides and offset.
mlir::FailureOr<llvm::SmallVector<int64_t>> staticStrides(mlir::Value memref);

/// The stride of each of `loops` loops in a memref with `indices` and `strides`. Fails if an index
/// is no sum of dims times constants.
mlir::FailureOr<llvm::SmallVector<int64_t>> stridesOfLoops(unsigned loops,
                                                           llvm::ArrayRef<mlir::AffineExpr> indices,
                                                           llvm::ArrayRef<int64_t> strides);

/// The element stride of each dim of `map` in `value`, a memref. Fails if the memref has no
/// strides, or if an index is no sum of dims times constants.
mlir::FailureOr<llvm::SmallVector<int64_t>> loopStrides(mlir::Value value, mlir::AffineMap map);

/// If the pixels are contiguous in all buffers, redistributes them to rows and columns so that
/// tiles of at most `pixels` are full.
void refoldPixels(Contraction &contraction, int64_t pixels);

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_CONTRACTION_H
