// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matches graphs for Convoy's convolution kernels: a convolution and its epilogue.

#ifndef CONVOY_PASSES_KERNELS_CONVGRAPH_H
#define CONVOY_PASSES_KERNELS_CONVGRAPH_H

#include "passes/kernels/Epilogue.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// Most channels of conv_narrow.cu.
inline constexpr int64_t kMostNarrowChannels = 16;

/// Most filters of conv_few_filters.cu, and fewest pixels of a result, which few tiles would have.
inline constexpr int64_t kMostFewFilters = 16, kLeastPixels = 256;

/// A convolution and its epilogue.
struct ConvGraph : Epilogue {
  cudnn::ConvolutionOp conv;

  /// The number of pixels and channels of the result, and of products per element.
  int64_t rows() const, columns() const, depth() const;
  /// The number of spatial dims, and that of groups of the convolution.
  int64_t spatialRank() const, groups() const;
  /// Whether each channel of the result has a channel of the input for itself.
  bool isDepthwise() const;
  /// Whether each channel of the result is a sum over a part of the channels of the input.
  bool hasGroups() const;
  /// The number of channels in 16 bytes, and whether channels and filters are multiples of it. All
  /// kernels but those for depthwise convolutions, few channels and few filters copy 16 bytes at a
  /// time.
  int64_t channelsOfPiece() const;
  bool hasWholePieces() const;
  /// Whether it has few channels, for conv_narrow.cu: without groups, in 16-bit floats.
  bool isNarrow() const;
  /// Whether it has few filters, for conv_few_filters.cu: over two spatial dims, or three if it is
  /// a product, without groups, in 16-bit floats, with channels that are whole pieces.
  bool hasFewFilters() const;
  /// The element type of input and filter.
  mlir::Type element() const;
  /// Whether it is the product of all pixels and the filters: one tap, no stride, no padding.
  bool isProduct() const;
  /// The pointers of the library functions: input, filter, bias, scale, residual and result.
  llvm::SmallVector<std::optional<unsigned>> tensors() const;
  /// Those from the bias on.
  llvm::SmallVector<std::optional<unsigned>> epilogueTensors() const {
    return llvm::to_vector(llvm::drop_begin(tensors(), 2));
  }
  /// The common fields of all kernels for it: the tensors, and whether factors are rounded to TF32.
  Variant variant() const;
  /// Sets the sizes of the last two spatial dims of the image, the result and the window.
  template <typename Arguments> void setSizes(Arguments &arguments) const {
    cudnn::ConvolutionOp op = conv;
    llvm::ArrayRef<int64_t> x = op.getX().getType().getShape(), w = op.getW().getType().getShape(),
                            y = op.getY().getType().getShape();
    auto lastTwo = [](llvm::ArrayRef<int64_t> sizes, int &height, int &width) {
      height = word(sizes[sizes.size() - 2]);
      width = word(sizes.back());
    };
    arguments.channels = word(x[1]);
    lastTwo(x, arguments.height, arguments.width);
    lastTwo(y, arguments.outHeight, arguments.outWidth);
    lastTwo(w, arguments.tapsH, arguments.tapsW);
    lastTwo(op.getSpatialStride(), arguments.strideH, arguments.strideW);
    lastTwo(op.getPrePadding(), arguments.padH, arguments.padW);
    lastTwo(op.getDilation(), arguments.dilationH, arguments.dilationW);
  }
};

/// Matches a `graph` of this form: two or three spatial dims, channels-last memory, 16-bit floats
/// or f32 (with `allowTf32`, or depthwise), accumulation in f32. Otherwise returns nothing and sets
/// `reason`.
std::optional<ConvGraph> matchConvGraph(cudnn::GraphOp graph, bool allowTf32, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_CONVGRAPH_H
