// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_linalg/NormParts.h"
#include "passes/common/ReductionShares.h"
#include "passes/tcp_to_linalg/ReductionUtils.h"

using namespace mlir;
using namespace convoy;

namespace {

/// Divides rows of more than `most` elements into parts of at most `most`.
NormParts divide(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims, int64_t most) {
  NormParts parts;
  int64_t cut = shape.size();
  while (cut-- > 0) {
    if (!llvm::is_contained(dims, cut))
      continue;
    if (parts.size * shape[cut] > most)
      break;
    parts.size *= shape[cut];
  }
  int64_t inner = most / parts.size;
  while (shape[cut] % inner != 0)
    --inner;
  parts.size *= inner;
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim) {
    if (dim == cut) {
      parts.across.push_back(parts.shape.size());
      parts.shape.push_back(shape[dim] / inner);
    }
    if (llvm::is_contained(dims, dim))
      (dim < cut ? parts.across : parts.inside).push_back(parts.shape.size());
    parts.shape.push_back(dim == cut ? inner : shape[dim]);
  }
  return parts;
}

/// Divides interleaved rows, as those of an instance norm of channels-last images, so that the
/// kernel that reads the parts takes the least time. Few parts are left, which one kernel combines.
/// Returns nullopt if one kernel computes the norm, or if there are too many rows.
std::optional<NormParts> columnPartsOf(RankedTensorType type, ArrayRef<int64_t> dims, int64_t rows,
                                       int64_t length) {
  constexpr int64_t kLeastPart = 16, kFewElements = 1 << 15, kCombinedAtOnce = 1 << 8;
  // Cancellation multiplies the roundings of a part by up to its number of elements.
  int64_t mostPart = type.getElementTypeBitWidth() >= 32 ? 1 << 8 : 1 << 13;
  if (rows * length <= kFewElements)
    return std::nullopt;
  std::optional<NormParts> best;
  int64_t least = 0;
  for (int64_t most = mostPart; most >= kLeastPart; most /= 2) {
    if (most >= length)
      continue;
    NormParts parts = divide(type.getShape(), dims, most);
    int64_t count = length / parts.size;
    if (rows * count > kFewElements || parts.size < kLeastPart)
      continue;
    int64_t time = shareAlongColumns(rows * count, parts.size, type.getElementTypeBitWidth() / 8)
                       .turns(parts.size) +
                   llvm::divideCeil(count, kCombinedAtOnce);
    if (best && time >= least)
      continue;
    best = parts;
    least = time;
  }
  if (best)
    best->areColumns = true;
  return best;
}

} // namespace

std::optional<NormParts> convoy::normPartsOf(RankedTensorType type, ArrayRef<int64_t> dims) {
  constexpr int64_t kLeastPart = 256, kPart = 1 << 10, kMostPart = 1 << 13, kEnoughParts = 1 << 14;
  ArrayRef<int64_t> shape = type.getShape();
  int64_t length = 1, rows = 1, adjacent = 1;
  bool isContiguous = true;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    bool isReduced = llvm::is_contained(dims, dim);
    isContiguous &= isReduced || shape[dim] == 1 || llvm::all_of(dims, [&](int64_t other) {
                      return other > dim || shape[other] == 1;
                    });
    if (length == adjacent && rows == 1 && isReduced)
      adjacent *= shape[dim];
    (isReduced ? length : rows) *= shape[dim];
  }
  if (adjacent == 1 && !isContiguous)
    return columnPartsOf(type, dims, rows, length);
  if (length <= (isContiguous ? kLongContiguousRow : kLongInterleavedRow))
    return std::nullopt;

  int64_t most = kPart;
  while (most < kMostPart && rows * (length / most) > kEnoughParts)
    most *= 2;
  NormParts parts = divide(shape, dims, most);
  if (parts.size < kLeastPart)
    return std::nullopt;
  return parts;
}
