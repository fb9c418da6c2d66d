// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/normalize/Layouts.h"

using namespace mlir;

namespace convoy {

Permutation identity(int64_t rank) { return llvm::to_vector<5>(llvm::seq<int64_t>(0, rank)); }

Permutation channelsLast(int64_t rank) {
  Permutation perm = identity(rank);
  perm[1] = rank - 1;
  for (int64_t i = 2; i < rank; ++i)
    perm[i] = i - 1;
  return perm;
}

bool isIdentity(ArrayRef<int64_t> perm) {
  return llvm::equal(perm, llvm::seq<int64_t>(0, perm.size()));
}

SmallVector<int64_t> toStored(ArrayRef<int64_t> array, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> result(array.size());
  for (auto [i, dim] : llvm::enumerate(perm))
    result[dim] = array[i];
  return result;
}

void Layouts::set(Value value, Value storedValue, ArrayRef<int64_t> perm) {
  if (isIdentity(perm))
    value.replaceAllUsesWith(storedValue);
  else
    stored[value] = {storedValue, Permutation(perm)};
}

Permutation Layouts::perm(Value value) const {
  auto found = stored.find(value);
  return found == stored.end() ? identity(cast<RankedTensorType>(value.getType()).getRank())
                               : found->second.perm;
}

Value Layouts::get(Value value) const {
  auto found = stored.find(value);
  return found == stored.end() ? value : found->second.value;
}

bool movesUnitDimsOnly(ArrayRef<int64_t> shape, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> dims;
  llvm::copy_if(perm, std::back_inserter(dims), [&](int64_t dim) { return shape[dim] != 1; });
  return llvm::is_sorted(dims);
}

Value Layouts::in(Value value, ArrayRef<int64_t> target, Location loc) {
  Value source = get(value);
  Permutation current = perm(value);
  if (ArrayRef<int64_t>(current) == target)
    return source;
  Value &result = made[{value, builder.getDenseI64ArrayAttr(target)}];
  if (result)
    return result;
  // Dim i of the value is dim current[i] of the source and dim target[i] of the result.
  SmallVector<int64_t> perm = toStored(current, target);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(source.getType()).getShape();
  RankedTensorType type = withShape(
      source.getType(), llvm::map_to_vector(perm, [&](int64_t dim) { return shape[dim]; }));
  DenseElementsAttr constant;
  if (auto op = source.getDefiningOp<arith::ConstantOp>())
    constant = dyn_cast<DenseElementsAttr>(op.getValue());
  if (constant && constant.isSplat())
    result = type == source.getType()
                 ? source
                 : arith::ConstantOp::create(builder, loc, constant.resizeSplat(type)).getResult();
  else if (movesUnitDimsOnly(shape, perm))
    result = tcp::ReshapeOp::create(builder, loc, type, source);
  else
    result = tcp::TransposeOp::create(builder, loc, type, source, perm);
  return result;
}

namespace {

/// Dims of a reshape's input and result with the same elements, and the last stored position of the
/// input's dims.
struct DimGroup {
  SmallVector<int64_t> from, to;
  int64_t place = 0;
};

} // namespace

/// Splits both shapes into the smallest groups of consecutive dims of equal size; dims of size 1
/// belong to the preceding group.
static SmallVector<DimGroup> dimGroups(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                       ArrayRef<int64_t> perm) {
  SmallVector<DimGroup> groups;
  // Leading dims of size 1 form a group before all others.
  groups.push_back({{}, {}, -1});
  size_t i = 0, j = 0;
  auto takeUnits = [&] {
    for (; i < from.size() && from[i] == 1; ++i)
      groups.back().from.push_back(i);
    for (; j < to.size() && to[j] == 1; ++j)
      groups.back().to.push_back(j);
  };
  takeUnits();
  while (i < from.size() && j < to.size()) {
    DimGroup &group = groups.emplace_back();
    int64_t fromSize = 1, toSize = 1;
    do {
      if (fromSize <= toSize) {
        if (from[i] != 1)
          group.place = std::max(group.place, perm[i]);
        group.from.push_back(i);
        fromSize *= from[i++];
      } else {
        group.to.push_back(j);
        toSize *= to[j++];
      }
    } while (fromSize != toSize);
    takeUnits();
  }
  return groups;
}

StoredReshape followReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to, ArrayRef<int64_t> perm) {
  SmallVector<DimGroup> groups = dimGroups(from, to, perm);
  // Order groups by their innermost dim, so that the last dim in memory stays last.
  llvm::sort(groups, [](const DimGroup &a, const DimGroup &b) { return a.place < b.place; });
  StoredReshape result;
  result.perm.resize(to.size());
  SmallVector<int64_t> order;
  for (const DimGroup &group : groups) {
    for (int64_t dim : group.from)
      order.push_back(perm[dim]);
    for (int64_t dim : group.to) {
      result.perm[dim] = result.shape.size();
      result.shape.push_back(to[dim]);
    }
  }
  SmallVector<int64_t> storedShape = toStored(from, perm);
  if (!movesUnitDimsOnly(storedShape, order))
    result.transposed = order;
  return result;
}

} // namespace convoy
