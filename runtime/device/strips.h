// Sums down the columns of a row-major matrix, a strip of columns a block: by lanes, by warps, and
// by the blocks of a cluster.

#ifndef CONVOY_STRIPS_H
#define CONVOY_STRIPS_H

#include "device.h"

/// The sums of `values` over the lanes whose numbers differ in bits of at least `lanes`. Lanes
/// halve the values between them as they add, so that each keeps the first of its own part of them:
/// the part begins at the returned place.
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

/// The first of the four of a block's `results` that a thread adds up and stores, when block `rank`
/// of a cluster of `split` takes its part of them; `results` where there is none for it.
DEVICE int resultOf(int results, int rank, int split) {
  const int part = (results / 4 + split - 1) / split, thread = threadId(),
            four = rank * part + thread;
  return thread < part && four < results / 4 ? four * 4 : results;
}

/// Four sums, from `result` on, of those that every warp of a block, and every block of a cluster
/// of `split`, has left in `partial`, in shared memory: `results` a warp, and one more such row for
/// the block's own. For all threads to call; the other blocks may still read this one's.
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
