// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits running totals of rows: those of the elements of a thread, of the threads of a warp, of the
// warps of a block, and of the groups that a thread has had before.

#include "passes/gpu_codegen/RowEmitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

/// Adds the totals of the threads before this one in its warp. Blocks of 1, 2, 4, ... threads are
/// joined: the total of the first one is added to all elements of the second one. So an element is
/// the sum of the one before it and others, and rounding does not make it less.
void RowEmitter::addThreadsBefore(const RowOp &op, Lanes &totals) {
  Value neutral = arith::ConstantOp::create(b, loc, *arith::getNeutralElement(op.combiner));
  int64_t threads = std::min(rows.sharers * rows.columns, kWarpThreads);
  for (int64_t distance = rows.columns; distance < threads; distance *= 2) {
    Value bit = arith::AndIOp::create(b, loc, lane, e.constant(distance)),
          isSecond = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, e.constant(0));
    // The thread of this column among the last ones of the first block.
    Value column = arith::AndIOp::create(b, loc, lane, e.constant(rows.columns - 1)),
          from = arith::AndIOp::create(b, loc, lane, e.constant(-2 * distance));
    from = e.add(e.add(from, distance - rows.columns), column);
    Value before =
        arith::SelectOp::create(b, loc, isSecond, e.shuffleFrom(totals.back(), from), neutral);
    for (Value &total : totals)
      total = e.combine(op.combiner, before, total);
  }
}

/// Adds the totals of the warps before this one, one after another. Returns the total of all.
Value RowEmitter::addWarpsBefore(const RowOp &op, Lanes &totals) {
  int64_t threads = rows.sharers * rows.columns;
  if (rows.sharers == 1)
    return totals.back();
  if (threads <= kWarpThreads) {
    Value last = arith::OrIOp::create(b, loc, lane, e.constant(threads - rows.columns));
    return e.shuffleFrom(totals.back(), last);
  }
  Value warp = arith::DivUIOp::create(b, loc, sharer, e.constant(kWarpThreads / rows.columns)),
        shared = e.staging[numShared];
  auto place = [&](Value warp) {
    Value first = e.mul(warp, rows.columns);
    return column ? e.add(first, column) : first;
  };
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, lane,
                                       e.constant(kWarpThreads - rows.columns));
  guarded(isLast,
          [&] { memref::StoreOp::create(b, loc, totals.back(), shared, ValueRange{place(warp)}); });
  gpu::BarrierOp::create(b, loc);
  Value before = arith::ConstantOp::create(b, loc, *arith::getNeutralElement(op.combiner)),
        all = before;
  for (int64_t i = 0; i < rows.warps(); ++i) {
    Value number = e.constant(i);
    Value isOwn = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, warp, number);
    before = arith::SelectOp::create(b, loc, isOwn, all, before);
    all = e.combine(op.combiner, all,
                    memref::LoadOp::create(b, loc, shared, ValueRange{place(number)}));
  }
  // The next group uses the same memory.
  if (rows.groups() > rows.sharers)
    gpu::BarrierOp::create(b, loc);
  for (Value &total : totals)
    total = e.combine(op.combiner, before, total);
  return all;
}

/// The running totals of `group`, whose elements follow those with the total `before`. Returns the
/// total of the groups that the threads of the row have at the same time, and of those before.
Value RowEmitter::addTotals(unsigned number, Group &group, Value before) {
  const RowOp &op = region.ops[number];
  Value neutral = arith::ConstantOp::create(b, loc, *arith::getNeutralElement(op.combiner));
  Lanes totals;
  for (int64_t i = 0; i < group.width; ++i) {
    Lanes values = arguments(number, &group, i);
    values.append({Value(), neutral}); // the result, which is not read, and the total
    Value own = e.payload(op.op, values, row, 0).back();
    totals.push_back(group.isInside
                         ? Value(arith::SelectOp::create(b, loc, group.isInside, own, neutral))
                         : own);
  }
  for (int64_t size = 1; size < group.width; size *= 2)
    for (int64_t i = 0; i < group.width; ++i)
      if (i & size)
        totals[i] = e.combine(op.combiner, totals[(i & -2 * size) + size - 1], totals[i]);
  addThreadsBefore(op, totals);
  Value all = addWarpsBefore(op, totals);
  Type type = getElementTypeOrSelf(op.output.operand->get());
  for (Value &total : totals) {
    total = e.combine(op.combiner, before, total);
    if (total.getType() != type)
      total = arith::TruncFOp::create(b, loc, type, total);
  }
  group.computed[number] = totals;
  return e.combine(op.combiner, before, all);
}

} // namespace convoy::gpu_codegen
