// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How the threads of a GPU share reductions. Phase `linalg` divides a reduction into parts by the
// time that its kernel would take, so it decides about the same shares as code generation.

#ifndef CONVOY_PASSES_COMMON_REDUCTIONSHARES_H
#define CONVOY_PASSES_COMMON_REDUCTIONSHARES_H

#include <cstdint>

namespace convoy {

/// The share of a thread in reductions of equal length.
struct ReductionShares {
  int64_t reducers = 1; ///< threads that share one result
  int64_t columns = 0;  ///< neighboring results of a block whose threads read along them, or 0

  /// Loads of a thread that are in flight at once.
  static constexpr int64_t kMostLoads = 8;

  /// How often a thread that reduces its share of `length` elements waits for loads.
  int64_t turns(int64_t length) const;

  /// How many turns the memory takes to move `results` rows of `length` elements of `bytes` each to
  /// the multiprocessors that reduce them.
  int64_t turnsOfMemory(int64_t results, int64_t length, int64_t bytes) const;
};

/// The shares of `results` reductions of `length` elements each, if the threads that share one read
/// along it.
ReductionShares shareAlongRows(int64_t results, int64_t length);

/// The shares if neighboring threads read elements of neighboring results, of `bytes` each.
ReductionShares shareAlongColumns(int64_t results, int64_t length, int64_t bytes);

/// Turns that a launch takes as long as, with the wait for the kernel before it: 2 us of 0.25 us.
inline constexpr int64_t kTurnsOfLaunch = 8;

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_REDUCTIONSHARES_H
