// How the kernels of runtime/device/strips.h are spread over a GPU: a strip of columns a block, or
// for each block of a cluster a part of its rows.

#ifndef CONVOY_PASSES_KERNELS_STRIPS_H
#define CONVOY_PASSES_KERNELS_STRIPS_H

#include <cstdint>

namespace convoy::strips {

inline constexpr int64_t kWarp = 32;
/// Lanes that read 16 bytes each for a sector of memory, which is the least that is ever read.
inline constexpr int64_t kSector = 2, kSectorBytes = 32;
/// Blocks that keep a large GPU busy, and blocks too few for that; an H200 has 132 multiprocessors.
inline constexpr int64_t kManyBlocks = 120, kFewBlocks = 64, kLargestCluster = 8;
/// Bytes that a multiprocessor reads in twice the time that a cluster costs (ConvKernels.cpp).
inline constexpr int64_t kLongStrip = 256 << 10;

/// Blocks of a cluster for each of `strips` of `rows` rows: 1 where there are strips enough, and at
/// most so many that each block has `least`.
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
