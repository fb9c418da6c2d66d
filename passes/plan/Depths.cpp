// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/plan/Depths.h"

using namespace mlir;

namespace convoy {

/// The pairs of ops of which the later one waits for the earlier one, by the later one.
static SmallVector<SmallVector<size_t>, 0> dependencies(ArrayRef<Access> ops) {
  // Bounds the time for a buffer that most ops access.
  constexpr size_t kMostAccesses = 64;
  struct Use {
    size_t op;
    bool isWrite;
    ByteRange range;
  };
  llvm::DenseMap<Value, SmallVector<Use>> byBase;
  SmallVector<SmallVector<size_t>, 0> found(ops.size());
  for (size_t number = 0; number < ops.size(); ++number) {
    auto visit = [&](ArrayRef<FailureOr<ByteRange>> ranges, bool isWrite) {
      for (const FailureOr<ByteRange> &range : ranges) {
        if (failed(range))
          continue;
        SmallVector<Use> &uses = byBase[range->base];
        for (const Use &use : ArrayRef(uses).take_back(kMostAccesses))
          if (use.op != number && (isWrite || use.isWrite) && use.range.overlaps(*range))
            found[number].push_back(use.op);
        uses.push_back({number, isWrite, *range});
      }
    };
    visit(ops[number].touched, /*isWrite=*/false);
    visit(ops[number].written, /*isWrite=*/true);
  }
  return found;
}

Depths::Depths(ArrayRef<Access> ops) : before(ops.size(), 0), after(ops.size(), 0) {
  SmallVector<SmallVector<size_t>, 0> earlier = dependencies(ops);
  for (size_t op = 0; op < ops.size(); ++op) {
    for (size_t other : earlier[op])
      before[op] = std::max(before[op], before[other] + 1);
    longest = std::max(longest, before[op]);
  }
  for (size_t op = ops.size(); op-- > 0;)
    for (size_t other : earlier[op])
      after[other] = std::max(after[other], after[op] + 1);
}

std::pair<int64_t, int64_t> Depths::joined(ArrayRef<size_t> members) const {
  int64_t first = 0, last = 0;
  for (size_t member : members) {
    first = std::max(first, before[member]);
    last = std::max(last, after[member]);
  }
  return {first, last};
}

bool Depths::mayJoin(ArrayRef<size_t> members) const {
  auto [first, last] = joined(members);
  return first + last <= longest;
}

void Depths::join(ArrayRef<size_t> members) {
  auto [first, last] = joined(members);
  for (size_t member : members) {
    before[member] = first;
    after[member] = last;
  }
}

} // namespace convoy
