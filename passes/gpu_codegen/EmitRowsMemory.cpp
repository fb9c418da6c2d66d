// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the groups of elements that a thread has of a row, and their loads and stores.

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/gpu_codegen/RowEmitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

/// The `count` groups of the thread from the one with number `first`, which is at most `most`.
/// Loads past the end are clamped, so that all of them can be in flight at once.
SmallVector<RowEmitter::Group, 0> RowEmitter::groupsFrom(Value first, int64_t most, int64_t count) {
  auto isBelow = [&](Value index, int64_t end) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, e.constant(end));
  };
  auto clamped = [&](Value index, int64_t end) -> Value {
    return arith::MinUIOp::create(b, loc, index, e.constant(end - 1));
  };
  SmallVector<Group, 0> groups(count);
  SmallVector<Value> begin;
  if (rows.outerStep != 0)
    begin = e.delinearize(first, plan.reduction, rows.width);
  for (auto [i, group] : llvm::enumerate(groups)) {
    bool mayBeOutside = most + int64_t(i) * rows.sharers >= rows.groups();
    if (rows.outerStep != 0) {
      int64_t end = plan.reduction.front().size;
      group.indices = begin;
      Value &outer = group.indices.front();
      outer = e.add(outer, i * rows.outerStep);
      if (mayBeOutside) {
        group.isInside = isBelow(outer, end);
        outer = clamped(outer, end);
      }
      continue;
    }
    Value index = e.add(first, i * rows.sharers);
    if (mayBeOutside) {
      group.isInside = isBelow(index, rows.groups());
      index = clamped(index, rows.groups());
    }
    group.indices = e.delinearize(index, plan.reduction, rows.width);
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
    values.assign(rows.width, rowLoads.at(operand));
    return values;
  }
  const Buffer &buffer = *plan.operands[operand].buffer;
  Type type = buffer.type.getElementType();
  if (isRowVector(plan, operand, rows.width)) {
    auto vector =
        vector::LoadOp::create(b, loc, VectorType::get({rows.width}, type), e.argumentOf(buffer),
                               ValueRange{address(operand, group.indices)}, /*nontemporal=*/false,
                               llvm::MaybeAlign(vectorAlignment(type, rows.width)));
    for (int64_t lane = 0; lane < rows.width; ++lane)
      values.push_back(vector::ExtractOp::create(b, loc, vector, lane));
  } else if (plan.reduction.back().steps[operand] == 0) {
    values.assign(rows.width, loadOne(operand, group.indices));
  } else {
    SmallVector<Value> indices = group.indices;
    for (int64_t lane = 0; lane < rows.width; ++lane) {
      indices.back() = e.add(group.indices.back(), lane);
      values.push_back(loadOne(operand, indices));
    }
  }
  return values;
}

void RowEmitter::store(unsigned number, Group &group) {
  Lanes values = compute(number, group);
  unsigned operand = *rows.outputs[number];
  const Buffer &buffer = *plan.operands[operand].buffer;
  Type type = buffer.type.getElementType();
  guarded({group.isInside, isRow}, [&] {
    if (isRowVector(plan, operand, rows.width)) {
      vector::StoreOp::create(
          b, loc,
          vector::FromElementsOp::create(b, loc, VectorType::get({rows.width}, type), values),
          e.argumentOf(buffer), ValueRange{address(operand, group.indices)},
          /*nontemporal=*/false, llvm::MaybeAlign(vectorAlignment(type, rows.width)));
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
