// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bytes of temporaries that are live during each op of a block, while ops move.

#ifndef CONVOY_PASSES_PLAN_LIVEBYTES_H
#define CONVOY_PASSES_PLAN_LIVEBYTES_H

#include "passes/plan/Accesses.h"

namespace convoy {

/// A buffer is live from the first op that uses it, or a view of it, to the last one, as in
/// `plan-arena`. Positions are those of `ops`.
class LiveBytes {
public:
  LiveBytes(mlir::Block &block, llvm::ArrayRef<Access> ops);

  /// The largest sum of bytes that are live during an op.
  int64_t peak() const { return most; }
  /// The largest sum between these positions if the ops at `members` move to `place`.
  int64_t peakAfter(llvm::ArrayRef<size_t> members, size_t place) const;
  /// Moves them.
  void move(llvm::ArrayRef<size_t> members, size_t place);

private:
  struct Lifetime {
    int64_t bytes = 0;
    llvm::SmallVector<size_t> uses; ///< positions of ops
    size_t first = 0, last = 0;
  };

  /// The changes of the live bytes from position `begin` on.
  llvm::SmallVector<int64_t> changes(llvm::ArrayRef<size_t> members, size_t place,
                                     size_t begin) const;
  llvm::SmallVector<size_t> buffersOf(llvm::ArrayRef<size_t> members) const;

  llvm::SmallVector<Lifetime, 0> buffers;
  llvm::SmallVector<llvm::SmallVector<size_t>, 0> used; ///< the buffers that each op uses
  llvm::SmallVector<int64_t, 0> live;                   ///< bytes at each position
  int64_t most = 0;
};

} // namespace convoy

#endif // CONVOY_PASSES_PLAN_LIVEBYTES_H
