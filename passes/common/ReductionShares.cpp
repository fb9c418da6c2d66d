// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/ReductionShares.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace convoy {

constexpr int64_t kWarp = 32, kBlock = 256, kLargestBlock = 1024;
/// The threads that a large GPU runs at once, and blocks that use all of it.
constexpr int64_t kThreads = 1 << 18, kManyBlocks = 128;

int64_t ReductionShares::turns(int64_t length) const {
  // A thread alone has a loop, which the compiler unrolls a few times.
  constexpr int64_t kLoadsAlone = 4;
  return llvm::divideCeil(length, reducers * (reducers == 1 ? kLoadsAlone : kMostLoads));
}

int64_t ReductionShares::turnsOfMemory(int64_t results, int64_t length, int64_t bytes) const {
  // What the memory moves in a turn at 3 TB/s, and one multiprocessor at 64 GB/s.
  constexpr int64_t kMost = 3 << 18, kMostOfOne = 1 << 14;
  // Elements that are rarely in the cache arrive after three turns.
  constexpr int64_t kCached = 1 << 22;
  int64_t all = results * length * bytes, latency = all > kCached ? 3 : 1;
  int64_t threads = results * reducers, alone = reducers > kWarp ? reducers : kBlock,
          blocks = llvm::divideCeil(threads, columns ? columns * reducers : alone),
          inFlight = std::min(threads, kThreads) * kMostLoads * bytes;
  return all / std::min({kMost, std::min(blocks, kManyBlocks) * kMostOfOne, inFlight / latency});
}

/// Doubles the threads of each of `blocks`, while their shares take several turns and the GPU runs
/// them all at once.
static int64_t growBlock(int64_t threads, int64_t blocks, int64_t columns, int64_t length) {
  while (threads < kLargestBlock && 2 * threads * blocks <= kThreads &&
         length > threads / columns * ReductionShares::kMostLoads)
    threads *= 2;
  return threads;
}

ReductionShares shareAlongRows(int64_t results, int64_t length) {
  constexpr int64_t kLong = 2 * kWarp, kPart = 8;
  if (length < 2 * kPart)
    return {};
  if (length < kLong)
    return {kPart};
  return {growBlock(kWarp, results, /*columns=*/1, length)};
}

/// Number of neighboring outputs of a block in a column reduction: few enough for a block on each
/// multiprocessor of a large GPU, and for all loads of a thread to be in flight at once. At least
/// one sector of memory, two if there are enough blocks, and at least two elements of the reduction
/// for each thread.
static int64_t chooseColumns(int64_t outputs, int64_t length, int64_t bytes) {
  constexpr int64_t kMostColumns = 128, kLeastColumns = 8, kSectorBytes = 32;
  int64_t columns = kMostColumns, least = std::max(kLeastColumns, kSectorBytes / bytes);
  auto isLarge = [&] {
    bool leavesIdle = llvm::divideCeil(outputs, columns)<kManyBlocks, takesTurns = length>
                          ReductionShares::kMostLoads * (kBlock / columns);
    return columns > least && (leavesIdle || (columns > 2 * least && takesTurns));
  };
  while (isLarge() && 2 * kBlock / (columns / 2) <= length)
    columns /= 2;
  return columns;
}

ReductionShares shareAlongColumns(int64_t results, int64_t length, int64_t bytes) {
  // With many results, threads need no help to fill the GPU.
  constexpr int64_t kManyResults = 1 << 16, kShort = 16;
  if (results >= kManyResults || length < kShort)
    return {};
  int64_t columns = chooseColumns(results, length, bytes);
  int64_t threads = growBlock(kBlock, llvm::divideCeil(results, columns), columns, length);
  return {threads / columns, columns};
}

} // namespace convoy
