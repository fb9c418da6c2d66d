// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Work distribution of the kernels of runtime/device/strips.h: one strip of columns per block, or
// per cluster, whose blocks share its rows.

#ifndef CONVOY_PASSES_KERNELS_STRIPS_H
#define CONVOY_PASSES_KERNELS_STRIPS_H

#include <cstdint>

namespace convoy::strips {

inline constexpr int64_t kWarp = 32;
/// Lanes that read a sector of memory, the smallest unit of a read, with 16 bytes each.
inline constexpr int64_t kSector = 2, kSectorBytes = 32;
/// Number of blocks that keeps a large GPU busy, and a number that is too few; an H200 has 132
/// multiprocessors.
inline constexpr int64_t kManyBlocks = 120, kFewBlocks = 64, kLargestCluster = 8;
/// Bytes that a multiprocessor reads in twice the overhead of a cluster (ConvKernels.cpp).
inline constexpr int64_t kLongStrip = 256 << 10;

/// Number of blocks of a cluster for each of `strips` strips of `rows` rows: 1 if there are enough
/// strips; each block has at least `least` rows.
inline int64_t chooseCluster(int64_t strips, int64_t rows, int64_t least) {
  int64_t cluster = 1;
  if (strips <= kFewBlocks)
    while (cluster < kLargestCluster && strips * cluster < kManyBlocks &&
           2 * cluster * least <= rows)
      cluster *= 2;
  return cluster;
}

} // namespace convoy::strips

#endif // CONVOY_PASSES_KERNELS_STRIPS_H
