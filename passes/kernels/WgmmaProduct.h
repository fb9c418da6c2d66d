// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles of the products of runtime/device/product.h: the tile of a group of warps, and the blocks
// that share columns.

#ifndef CONVOY_PASSES_KERNELS_WGMMAPRODUCT_H
#define CONVOY_PASSES_KERNELS_WGMMAPRODUCT_H

#include "passes/kernels/Epilogue.h"
#include "passes/kernels/Variant.h"

namespace convoy {

/// A product of two matrices and its epilogue, in 16-bit floats; or `groups` products of these
/// sizes, whose results are side by side.
struct WgmmaProduct : Epilogue {
  int64_t rows, depth, columns;
  mlir::Type element;
  /// Bias, scale, residual and result.
  llvm::SmallVector<std::optional<unsigned>> tensors;
  int64_t groups = 1;
};

/// The tiles with the least estimated time, best first.
llvm::SmallVector<device::MatmulWgmmaTile> bestTiles(const WgmmaProduct &product, size_t count);

/// A kernel for a tile, without tensor maps and arguments, which `arguments` gets in part.
/// `function` is the name of the library function up to the element type.
Variant variantOf(const WgmmaProduct &product, const device::MatmulWgmmaTile &tile,
                  llvm::StringRef function, device::MatmulWgmmaArguments &arguments);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_WGMMAPRODUCT_H
