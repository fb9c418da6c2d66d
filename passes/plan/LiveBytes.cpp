// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/plan/LiveBytes.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include <numeric>

using namespace mlir;

namespace convoy {

LiveBytes::LiveBytes(Block &block, ArrayRef<Access> ops)
    : used(ops.size()), live(ops.size() + 1, 0) {
  llvm::DenseMap<Operation *, size_t> positions;
  for (auto [position, access] : llvm::enumerate(ops))
    positions[access.op] = position;
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    Type element = alloc.getType().getElementType();
    if (!alloc.getType().hasStaticShape() || !(element.isIntOrFloat() || element.isIndex()))
      continue; // plan-arena refuses it
    Lifetime buffer;
    SmallVector<Value> views = {alloc.getResult()};
    while (!views.empty())
      for (Operation *user : views.pop_back_val().getUsers()) {
        if (isa<ViewLikeOpInterface>(user))
          llvm::append_range(views, user->getResults());
        auto found = positions.find(block.findAncestorOpInBlock(*user));
        if (found != positions.end())
          buffer.uses.push_back(found->second);
      }
    if (buffer.uses.empty())
      continue;
    llvm::sort(buffer.uses);
    buffer.uses.erase(llvm::unique(buffer.uses), buffer.uses.end());
    buffer.bytes = packedBytes(alloc.getType());
    buffer.first = buffer.uses.front();
    buffer.last = buffer.uses.back();
    for (size_t position : buffer.uses)
      used[position].push_back(buffers.size());
    live[buffer.first] += buffer.bytes;
    live[buffer.last + 1] -= buffer.bytes;
    buffers.push_back(std::move(buffer));
  }
  std::partial_sum(live.begin(), live.end(), live.begin());
  most = *llvm::max_element(live);
}

SmallVector<size_t> LiveBytes::buffersOf(ArrayRef<size_t> members) const {
  SmallVector<size_t> found;
  for (size_t member : members)
    llvm::append_range(found, used[member]);
  llvm::sort(found);
  found.erase(llvm::unique(found), found.end());
  return found;
}

/// The first and the last of `uses` if the ops at `members` are at `place`.
static std::pair<size_t, size_t> rangeAfter(ArrayRef<size_t> uses, ArrayRef<size_t> members,
                                            size_t place) {
  size_t first = std::numeric_limits<size_t>::max(), last = 0;
  for (size_t use : uses) {
    size_t position = llvm::is_contained(members, use) ? place : use;
    first = std::min(first, position);
    last = std::max(last, position);
  }
  return {first, last};
}

SmallVector<int64_t> LiveBytes::changes(ArrayRef<size_t> members, size_t place,
                                        size_t begin) const {
  size_t end = std::max(place, *llvm::max_element(members)) + 1;
  // Ranges change only between the members and the place.
  SmallVector<int64_t> found(end - begin, 0);
  auto add = [&](size_t from, size_t to, int64_t bytes) {
    for (size_t position = std::max(from, begin); position < std::min(to, end); ++position)
      found[position - begin] += bytes;
  };
  for (size_t number : buffersOf(members)) {
    const Lifetime &buffer = buffers[number];
    auto [first, last] = rangeAfter(buffer.uses, members, place);
    add(buffer.first, buffer.last + 1, -buffer.bytes);
    add(first, last + 1, buffer.bytes);
  }
  return found;
}

int64_t LiveBytes::peakAfter(ArrayRef<size_t> members, size_t place) const {
  size_t begin = std::min(place, *llvm::min_element(members));
  int64_t peak = 0;
  for (auto [i, change] : llvm::enumerate(changes(members, place, begin)))
    peak = std::max(peak, live[begin + i] + change);
  return peak;
}

void LiveBytes::move(ArrayRef<size_t> members, size_t place) {
  size_t begin = std::min(place, *llvm::min_element(members));
  for (auto [i, change] : llvm::enumerate(changes(members, place, begin)))
    live[begin + i] += change;
  SmallVector<size_t> moved = buffersOf(members);
  for (size_t number : moved) {
    Lifetime &buffer = buffers[number];
    for (size_t &use : buffer.uses)
      if (llvm::is_contained(members, use))
        use = place;
    llvm::sort(buffer.uses);
    buffer.uses.erase(llvm::unique(buffer.uses), buffer.uses.end());
    buffer.first = buffer.uses.front();
    buffer.last = buffer.uses.back();
  }
  for (size_t member : members)
    used[member].clear();
  used[place] = moved;
}

} // namespace convoy
