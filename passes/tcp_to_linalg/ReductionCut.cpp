// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_linalg/ReductionCut.h"
#include "passes/common/ReductionShares.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"

using namespace mlir;
using namespace convoy;

/// Maximum length of a part.
static constexpr int64_t kPart = 1 << 11;

/// The number of iterations of the loops of one kind.
static int64_t iterationsOf(linalg::GenericOp op, utils::IteratorType kind) {
  int64_t count = 1;
  for (auto [iterator, range] :
       llvm::zip_equal(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
    if (iterator == kind)
      count *= range;
  return count;
}

int64_t convoy::lengthOf(linalg::GenericOp op) {
  return iterationsOf(op, utils::IteratorType::reduction);
}

int64_t convoy::resultsOf(linalg::GenericOp op) {
  return iterationsOf(op, utils::IteratorType::parallel);
}

std::optional<unsigned> convoy::innermostLoop(AffineMap map, ArrayRef<int64_t> ranges) {
  for (AffineExpr expr : llvm::reverse(map.getResults()))
    for (unsigned dim = map.getNumDims(); dim-- > 0;)
      if (ranges[dim] != 1 && expr.isFunctionOfDim(dim))
        return dim;
  return std::nullopt;
}

namespace {

/// The largest divisor of `number` in [most / 4, most], or `most` if there is none.
int64_t partOf(int64_t number, int64_t most) {
  for (int64_t divisor = most; divisor > 1 && divisor >= most / 4; --divisor)
    if (number % divisor == 0)
      return divisor;
  return most;
}

/// Cuts the loops so that a part has at most `most` elements.
ReductionCut cutInto(linalg::GenericOp op, int64_t most) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t inside = 1;
  for (unsigned dim = ranges.size(); dim-- > 0;) {
    if (op.getIteratorTypesArray()[dim] != utils::IteratorType::reduction)
      continue;
    if (inside * ranges[dim] <= most) {
      inside *= ranges[dim];
      continue;
    }
    int64_t size = partOf(ranges[dim], most / inside);
    return {dim, ranges[dim] / size, size, ranges[dim] % size};
  }
  llvm_unreachable("a long reduction has a loop to split");
}

/// Estimates how long the kernels of a reduction take on a GPU, in turns: times for which a thread
/// waits for loads.
class Times {
public:
  explicit Times(linalg::GenericOp op)
      : ranges(op.getStaticLoopRanges()), iterators(op.getIteratorTypesArray()),
        results(resultsOf(op)), length(lengthOf(op)) {
    int64_t most = 0;
    for (OpOperand *input : op.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(input->get().getType());
      if (!type || type.getNumElements() <= most)
        continue;
      most = type.getNumElements();
      bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
      std::optional<unsigned> inner = innermostLoop(op.getMatchingIndexingMap(input), ranges);
      alongRows = !inner || iterators[*inner] == utils::IteratorType::reduction;
    }
  }

  /// The time of one kernel.
  int64_t whole() const { return turns(alongRows, results, length, bytes); }

  /// The time of the kernels that compute partial results, and of the kernel that combines them.
  int64_t of(const ReductionCut &cut) const {
    int64_t parts = cut.parts;
    bool joinsRows = true;
    for (unsigned dim = 0; dim < ranges.size(); ++dim) {
      if (iterators[dim] == utils::IteratorType::parallel)
        joinsRows &= dim < cut.dim || ranges[dim] == 1;
      else if (dim < cut.dim)
        parts *= ranges[dim];
    }
    return turns(alongRows, results * parts, length / parts, bytes) +
           (cut.rest == 0 ? 1 : 2) * kTurnsOfLaunch + turns(joinsRows, results, parts, /*bytes=*/4);
  }

private:
  static int64_t turns(bool alongRows, int64_t results, int64_t length, int64_t bytes) {
    ReductionShares shares =
        alongRows ? shareAlongRows(results, length) : shareAlongColumns(results, length, bytes);
    return std::max(shares.turns(length), shares.turnsOfMemory(results, length, bytes));
  }

  SmallVector<int64_t> ranges;
  SmallVector<utils::IteratorType> iterators;
  int64_t results, length, bytes = 4;
  bool alongRows = true; ///< whether neighboring elements belong to one result
};

} // namespace

ReductionCut convoy::chooseCut(linalg::GenericOp op) {
  ReductionCut best = cutInto(op, kPart);
  if (!isCuda(op))
    return best;
  constexpr int64_t kLeastPart = 16;
  Times times(op);
  for (int64_t most = kPart / 2; most >= kLeastPart; most /= 2)
    if (ReductionCut cut = cutInto(op, most); times.of(cut) < times.of(best))
      best = cut;
  return best;
}

bool convoy::isSlow(linalg::GenericOp op) {
  constexpr int64_t kManyResults = 1 << 16;
  if (!isCuda(op) || resultsOf(op) >= kManyResults || lengthOf(op) <= kPart)
    return false;
  Times times(op);
  return times.whole() > times.of(chooseCut(op));
}
