// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums down the columns of a row-major matrix, with one strip of columns per block: over lanes,
// warps, and the blocks of a cluster.

#ifndef CONVOY_STRIPS_H
#define CONVOY_STRIPS_H

#include "device.h"

/// Sums `values` over the lanes whose numbers differ in bits of at least `lanes`. In each step two
/// lanes exchange halves of their values, so that each lane has a part of the sums at the beginning
/// of `values`. Returns the index of the first value of the part.
template <int count, int distance = 16, int kept = count / 2>
DEVICE int shareSums(float (&values)[count], int lanes, int lane) {
  if constexpr (distance > 0) {
    if (distance >= lanes) {
      const bool isUpper = lane & distance;
      if constexpr (kept == 0)
        values[0] += shuffleXor(values[0], distance);
#pragma unroll
      for (int i = 0; i < kept; ++i) {
        float own = isUpper ? values[i + kept] : values[i],
              other = isUpper ? values[i] : values[i + kept];
        values[i] = own + shuffleXor(other, distance);
      }
      return (isUpper ? kept : 0) + shareSums<count, distance / 2, kept / 2>(values, lanes, lane);
    }
  }
  return 0;
}

/// Index of the first of the four `results` that a thread adds up and stores, where block `rank` of
/// a cluster of `split` blocks handles its part of the results. Returns `results` for idle threads.
DEVICE int resultOf(int results, int rank, int split) {
  const int part = (results / 4 + split - 1) / split, thread = threadId(),
            four = rank * part + thread;
  return thread < part && four < results / 4 ? four * 4 : results;
}

/// Adds up four results, from index `result` on, over all warps of a block and all blocks of a
/// cluster of `split` blocks. `partial`, in shared memory, has a row of `results` values for each
/// warp, and one more for the sums of the block. All threads must call it. The other blocks may
/// still read this block's sums afterwards.
DEVICE Floats addShares(float *partial, int results, int result, int warps, int split) {
  auto addWarps = [&](int first) {
    Floats sum = {};
#pragma unroll
    for (int warp = 0; warp < warps; ++warp)
      sum += loadFour(partial + warp * results + first);
    return sum;
  };
  sync();
  Floats sum = {};
  if (split == 1) {
    if (result < results)
      sum = addWarps(result);
    return sum;
  }
  float *const block = partial + warps * results;
  if (const int first = threadId() * 4; first < results)
    *(Floats *)(block + first) = addWarps(first);
  syncCluster();
  if (result < results)
#pragma unroll
    for (int rank = 0; rank < split; ++rank)
      sum += loadCluster(sharedAddress(block + result), rank);
  return sum;
}

#endif // CONVOY_STRIPS_H
