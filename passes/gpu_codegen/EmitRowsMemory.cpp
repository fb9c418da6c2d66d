// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the groups of elements that a thread has of a row, and their loads and stores.

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/gpu_codegen/RowEmitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

/// Finds the groups of the row that begin at multiples of the width in memory.
void RowEmitter::findWholeGroups() {
  wholeGroups = e.constant(rows.groups());
  if (!rows.unaligned)
    return;
  Value width = e.constant(rows.width), last = e.constant(rows.width - 1);
  Value begin = e.add(address(*rows.unaligned, {}), last);
  firstWhole = arith::SubIOp::create(b, loc, last, arith::RemUIOp::create(b, loc, begin, width));
  Value rest = arith::SubIOp::create(b, loc, e.constant(rows.region.length()), firstWhole);
  wholeGroups = arith::DivUIOp::create(b, loc, rest, width);
}

/// Clamps `index`; returns whether it was below `end`.
Value RowEmitter::clamp(Value &index, Value end) {
  Value isBelow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, end);
  index = arith::MinUIOp::create(b, loc, index, e.add(end, -1));
  return isBelow;
}

/// The thread's element of those that are in no whole group: the first threads have those before,
/// the next ones those after the groups.
RowEmitter::Group RowEmitter::outsideOfGroups() {
  Value isBefore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, sharer, firstWhole);
  Value after = e.add(sharer, e.mul(wholeGroups, rows.width));
  Value index = arith::SelectOp::create(b, loc, isBefore, sharer, after);
  Group group;
  group.width = 1;
  group.isInside = clamp(index, e.constant(rows.region.length()));
  group.indices = {index};
  return group;
}

/// The `count` groups of the thread from the one with number `first`, which is at most `most`.
/// Loads past the end are clamped, so that all of them can be in flight at once.
SmallVector<RowEmitter::Group, 0> RowEmitter::groupsFrom(Value first, int64_t most, int64_t count) {
  SmallVector<Group, 0> groups(count);
  SmallVector<Value> begin;
  if (rows.outerStep != 0)
    begin = e.delinearize(first, plan.reduction, rows.width);
  for (auto [i, group] : llvm::enumerate(groups)) {
    bool mayBeOutside = most + int64_t(i) * rows.sharers >= rows.leastGroups();
    group.width = rows.width;
    if (rows.outerStep != 0) {
      group.indices = begin;
      Value &outer = group.indices.front();
      outer = e.add(outer, i * rows.outerStep);
      if (mayBeOutside)
        group.isInside = clamp(outer, e.constant(plan.reduction.front().size));
      continue;
    }
    Value index = e.add(first, i * rows.sharers);
    if (mayBeOutside)
      group.isInside = clamp(index, wholeGroups);
    group.indices = e.delinearize(index, plan.reduction, rows.width);
    if (firstWhole)
      group.indices.back() = e.add(group.indices.back(), firstWhole);
  }
  return groups;
}

Value RowEmitter::address(unsigned operand, ArrayRef<Value> indices) {
  Emitter::Indices all = row;
  all.reduction.assign(indices.begin(), indices.end());
  return e.address(operand, all, 0);
}

Value RowEmitter::loadOne(unsigned operand, ArrayRef<Value> indices) {
  return memref::LoadOp::create(b, loc, e.argumentOf(*plan.operands[operand].buffer),
                                address(operand, indices));
}

/// The elements of an operand in `group`.
const RowEmitter::Lanes &RowEmitter::load(unsigned operand, Group &group) {
  Lanes &values = group.loaded[operand];
  if (!values.empty())
    return values;
  if (!variesInRow(operand)) {
    values.assign(group.width, rowLoads.at(operand));
    return values;
  }
  if (isRowVector(plan, operand, group.width)) {
    values =
        e.loadVector(*plan.operands[operand].buffer, address(operand, group.indices), group.width);
  } else if (plan.reduction.back().steps[operand] == 0) {
    values.assign(group.width, loadOne(operand, group.indices));
  } else {
    SmallVector<Value> indices = group.indices;
    for (int64_t lane = 0; lane < group.width; ++lane) {
      indices.back() = e.add(group.indices.back(), lane);
      values.push_back(loadOne(operand, indices));
    }
  }
  return values;
}

/// Drops what an earlier pass has computed for a group, so that the next one computes it again of
/// the packed elements. LLVM must not see that the words of these elements are the same in all
/// passes: it would merge the equal computations, and keep their results, e.g. each element as f32,
/// instead of the words. So a move that it does not look into copies each word.
void RowEmitter::forgetComputed(Group &group) {
  group.computed.clear();
  auto found = group.loaded.find(*rows.packed);
  if (found == group.loaded.end() || group.width == 1)
    return;
  found->second = e.moveWords(found->second, /*everyTime=*/true);
}

void RowEmitter::store(unsigned number, Group &group) {
  Lanes values = compute(number, group);
  unsigned operand = *rows.outputs[number];
  const Buffer &buffer = *plan.operands[operand].buffer;
  Type type = buffer.type.getElementType();
  guarded({group.isInside, isRow}, [&] {
    if (isRowVector(plan, operand, group.width)) {
      vector::StoreOp::create(
          b, loc,
          vector::FromElementsOp::create(b, loc, VectorType::get({group.width}, type), values),
          e.argumentOf(buffer), ValueRange{address(operand, group.indices)},
          /*nontemporal=*/false, llvm::MaybeAlign(vectorAlignment(type, group.width)));
      return;
    }
    SmallVector<Value> indices = group.indices;
    for (auto [lane, value] : llvm::enumerate(values)) {
      indices.back() = e.add(group.indices.back(), lane);
      memref::StoreOp::create(b, loc, value, e.argumentOf(buffer), address(operand, indices));
    }
  });
}

void RowEmitter::storeRow(unsigned number) {
  if (!rows.outputs[number])
    return;
  unsigned operand = *rows.outputs[number];
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, sharer, e.constant(0));
  guarded({isFirst, isRow}, [&] {
    memref::StoreOp::create(b, loc, ofRow[number], e.argumentOf(*plan.operands[operand].buffer),
                            address(operand, {}));
  });
}

} // namespace convoy::gpu_codegen
