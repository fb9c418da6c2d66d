// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolutions of inputs with zeros between their elements, which strided transposed convolutions
// become.

#ifndef CONVOY_PASSES_NORMALIZE_DILATEDCONV_H
#define CONVOY_PASSES_NORMALIZE_DILATEDCONV_H

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace convoy {

/// A spatial dim of a convolution of an input with `stride - 1` zeros between its elements. Output
/// `stride * m + r` is the sum over j of element `m + first[r] + j` and tap `start[r] + stride *
/// j`.
struct SpatialDim {
  int64_t input, output, window, stride;
  int64_t before; ///< zeros before the first element; negative if elements are cropped
  llvm::SmallVector<int64_t> start, first;

  int64_t taps(int64_t r) const { return llvm::divideCeil(window - start[r], stride); }
  int64_t places() const { return llvm::divideCeil(output, stride); }
  /// The elements before `m`, and from the first to the last, that outputs `stride * m + r` read.
  int64_t low() const { return -first.front(); }
  int64_t reach() const { return first.back() + taps(stride - 1) - first.front(); }
  int64_t high() const { return places() - low() + reach() - 1 - input; }
};

/// A channels-last convolution of an input with zeros between its elements, without groups, steps
/// and dilation.
class DilatedConv {
public:
  /// Matches `conv`, or returns nullopt.
  static std::optional<DilatedConv> match(tcp::ConvOpInterface conv);

  /// The input without the zeros.
  mlir::Value input(mlir::OpBuilder &builder) const;
  int64_t batch() const { return shape.front(); }
  int64_t channels() const { return shape.back(); }
  int64_t filters() const { return tcp::shapeOf(conv->getOperand(1)).front(); }

  tcp::ConvOpInterface conv;
  mlir::Value source; ///< the input without the zeros, in the order of dims before `perm`
  llvm::SmallVector<SpatialDim> dims;

private:
  llvm::SmallVector<int64_t> perm, shape; ///< of the input
};

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_DILATEDCONV_H
