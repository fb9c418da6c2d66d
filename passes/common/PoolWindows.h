// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_PASSES_COMMON_POOLWINDOWS_H
#define CONVOY_PASSES_COMMON_POOLWINDOWS_H

#include <cstdint>

namespace convoy {

/// The elements of the largest window of an average pooling for which a generated kernel is faster
/// than cuDNN's: 32 images of 14x14x320 in f16, 3x3, on an H100: 27 us with cuDNN's best engine for
/// 8 MB. A thread of a generated kernel adds up a window, which must be small.
inline constexpr int64_t kLargestPoolWindow = 64;

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_POOLWINDOWS_H
