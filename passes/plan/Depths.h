// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How many ops run one after another before and after each op of a block, if all that do not depend
// on each other run at the same time, as in the branches of a CUDA graph.

#ifndef CONVOY_PASSES_PLAN_DEPTHS_H
#define CONVOY_PASSES_PLAN_DEPTHS_H

#include "passes/plan/Accesses.h"

namespace convoy {

struct Depths {
  llvm::SmallVector<int64_t, 0> before, after; ///< of each op, without itself
  int64_t longest = 0;                         ///< the ops of the longest chain, less one

  /// An estimate: of the accesses to a buffer, the last ones count.
  explicit Depths(llvm::ArrayRef<Access> ops);

  /// Whether the ops at `members` can be one op without a longer longest chain.
  bool mayJoin(llvm::ArrayRef<size_t> members) const;
  /// Makes them one op.
  void join(llvm::ArrayRef<size_t> members);

private:
  /// The depths of one op in place of those at `members`.
  std::pair<int64_t, int64_t> joined(llvm::ArrayRef<size_t> members) const;
};

} // namespace convoy

#endif // CONVOY_PASSES_PLAN_DEPTHS_H
