// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The packed filter of a 3x3 convolution on the CPU, with its transform for Winograd's algorithm
// F(2x2, 3x3) (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016): K/block
// x 25 x C x block. The first 9 of the 25 are the window, R * 3 + S, which the linalg op reads.
// Then come the 16 points of the transform, which only code generation uses: an op that it does not
// lower by Winograd's algorithm is correct without them.

#ifndef CONVOY_PASSES_COMMON_WINOGRADFILTER_H
#define CONVOY_PASSES_COMMON_WINOGRADFILTER_H

#include <cstdint>

namespace convoy {

/// Elements of the window, and of the transform of the window.
constexpr int64_t kWinogradTaps = 9, kWinogradPoints = 16;

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_WINOGRADFILTER_H
