// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Winograd's algorithm F(2x2, 3x3) on the CPU (Lavin and Gray, "Fast Algorithms for Convolutional
// Neural Networks", 2016). A convolution with a packed filter, K/block x 3 x 3 x C x block, has the
// transform of the filter as a third input: K/block x 16 x C x block. The body of the op does not
// use it, only code generation does. So an op that is lowered in another way is correct too. With
// three spatial dims both have the frames of the window after K/block, with groups both have these
// before K/block.

#ifndef CONVOY_PASSES_COMMON_WINOGRADFILTER_H
#define CONVOY_PASSES_COMMON_WINOGRADFILTER_H

#include "llvm/Support/MathExtras.h"
#include <cstdint>

namespace convoy {

/// Elements of the transform of a window.
constexpr int64_t kWinogradPoints = 16;

/// Tiles along a dim of `outputs`. A tile has the outputs `at` and `at + dilation`, so `dilation`
/// tiles beside each other cover twice as many outputs.
inline int64_t winogradTiles(int64_t outputs, int64_t dilation) {
  return int64_t(llvm::divideCeil(outputs, 2 * dilation)) * dilation;
}

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_WINOGRADFILTER_H
