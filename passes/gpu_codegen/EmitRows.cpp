// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits a region of rows. A thread has every `sharers`th group of `width` elements of a row, and
// the threads of a block have one row, or `columns` neighboring ones. What an op computes for a
// group is kept, so that later ops do not read or compute it again. If a row has too many elements
// for registers, each reduction is a loop over the groups, in which the thread computes again what
// it needs, from memory that is in a cache by then. Of a row that begins or ends between aligned
// groups, each thread has at most one of the few elements outside of whole groups, as a group of
// one: all loads stay free of branches. Of a packed row, only the loaded elements are kept.

#include "passes/gpu_codegen/RowEmitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

void RowEmitter::guarded(ArrayRef<Value> conditions, llvm::function_ref<void()> body) {
  Value all;
  for (Value condition : conditions)
    if (condition)
      all = all ? b.createOrFold<arith::AndIOp>(loc, all, condition) : condition;
  OpBuilder::InsertionGuard guard(b);
  if (all)
    b.setInsertionPoint(
        scf::IfOp::create(b, loc, all, /*withElseRegion=*/false).thenBlock()->getTerminator());
  body();
}

/// Emits `body` for all groups of the thread. It updates the carried values.
void RowEmitter::forGroups(SmallVectorImpl<Value> &carried,
                           llvm::function_ref<void(Group &, SmallVectorImpl<Value> &)> body) {
  if (!rows.isResident)
    loopOverGroups(carried, body);
  for (Group &group : resident) {
    if (rows.packed)
      forgetComputed(group);
    body(group, carried);
  }
}

/// Emits a loop over the thread's groups in order, except those that are resident. A loop with
/// running totals has barriers, so that all threads of a block have as many iterations.
void RowEmitter::loopOverGroups(SmallVectorImpl<Value> &carried,
                                llvm::function_ref<void(Group &, SmallVectorImpl<Value> &)> body) {
  // Enough loads in flight to hide their latency.
  constexpr int64_t kElementsPerTurn = 16, kLeastGroups = 2;
  int64_t count = std::max(kLeastGroups, kElementsPerTurn / rows.width),
          step = count * rows.sharers, groups = rows.groups();
  bool isUniform = region.cumulative().has_value();
  auto loop = scf::ForOp::create(b, loc, isUniform ? e.constant(0) : sharer, e.constant(groups),
                                 e.constant(step), ValueRange(carried));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> values(loop.getRegionIterArgs());
  Value first = loop.getInductionVar();
  int64_t most = groups - 1;
  if (isUniform) {
    first = e.add(first, sharer);
    most += rows.sharers - 1;
  }
  SmallVector<Group, 0> turn = groupsFrom(first, most, count);
  for (Group &group : turn)
    body(group, values);
  // A loop without results has its terminator already.
  if (loop.getBody()->mightHaveTerminator())
    loop.getBody()->getTerminator()->erase();
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, loc, values);
  carried.assign(loop.result_begin(), loop.result_end());
}

/// The values of the inputs of an op, of one element of `group`, or of the row if it is null.
RowEmitter::Lanes RowEmitter::arguments(unsigned number, Group *group, int64_t lane) {
  Lanes values;
  for (auto [input, operand] : llvm::zip_equal(region.ops[number].inputs, rows.inputs[number])) {
    if (input.source)
      values.push_back(region.ops[*input.source].hasElements()
                           ? compute(*input.source, *group)[lane]
                           : ofRow[*input.source]);
    else if (operand)
      values.push_back(group ? load(*operand, *group)[lane] : rowLoads.at(*operand));
    else
      values.push_back(isConstant(input.operand->get()) ? e.cloneConstant(input.operand->get())
                                                        : Value());
  }
  return values;
}

/// The results of a full op for `group`.
const RowEmitter::Lanes &RowEmitter::compute(unsigned number, Group &group) {
  if (auto found = group.computed.find(number); found != group.computed.end())
    return found->second;
  Lanes results;
  for (int64_t lane = 0; lane < group.width; ++lane) {
    Lanes values = arguments(number, &group, lane);
    values.push_back(Value()); // the output's initial value, which is not read
    results.push_back(e.payload(region.ops[number].op, values, row, 0).front());
  }
  return group.computed[number] = results;
}

/// Combines the values of the threads that share the row of this thread's column: in each warp,
/// then those of all warps, in order.
Value RowEmitter::combineColumns(const RowOp &op, Value value) {
  for (int64_t distance = kWarpThreads / 2; distance >= rows.columns; distance /= 2)
    value = e.combine(op.combiner, value, e.shuffleXor(value, distance));
  int64_t warps = rows.warps();
  if (warps == 1)
    return value;
  Value shared = e.staging[numShared++];
  auto place = [&](Value warp) { return e.add(e.mul(warp, rows.columns), column); };
  Value own = e.add(e.mul(sharer, rows.columns), column);
  Value lane = arith::RemUIOp::create(b, loc, own, e.constant(kWarpThreads)),
        warp = arith::DivUIOp::create(b, loc, own, e.constant(kWarpThreads));
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, lane, e.constant(rows.columns));
  guarded(isFirst,
          [&] { memref::StoreOp::create(b, loc, value, shared, ValueRange{place(warp)}); });
  gpu::BarrierOp::create(b, loc);
  for (int64_t i = 0; i < warps; ++i) {
    Value part = memref::LoadOp::create(b, loc, shared, ValueRange{place(e.constant(i))});
    value = i == 0 ? part : e.combine(op.combiner, value, part);
  }
  return value;
}

/// Combines the values of all threads that share the row. Every one of them gets the result.
Value RowEmitter::combineThreads(const RowOp &op, Value value) {
  if (column)
    return combineColumns(op, value);
  auto combineWarp = [&](int64_t threads) {
    for (int64_t distance = threads / 2; distance > 0; distance /= 2)
      value = e.combine(op.combiner, value, e.shuffleXor(value, distance));
  };
  combineWarp(std::min(rows.sharers, kWarpThreads));
  if (rows.sharers <= kWarpThreads)
    return value;
  // Each reduction has its own shared memory, so that one barrier suffices.
  Value shared = e.staging[numShared++];
  int64_t warps = rows.sharers / kWarpThreads;
  Value lane = arith::RemUIOp::create(b, loc, sharer, e.constant(kWarpThreads)),
        warp = arith::DivUIOp::create(b, loc, sharer, e.constant(kWarpThreads));
  guarded(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, e.constant(0)).getResult(),
          [&] { memref::StoreOp::create(b, loc, value, shared, ValueRange{warp}); });
  gpu::BarrierOp::create(b, loc);
  Value isWarp = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, lane, e.constant(warps));
  Value part = memref::LoadOp::create(
      b, loc, shared,
      ValueRange{arith::MinUIOp::create(b, loc, lane, e.constant(warps - 1)).getResult()});
  value = arith::SelectOp::create(
      b, loc, isWarp, part,
      arith::ConstantOp::create(b, loc, *arith::getNeutralElement(op.combiner)));
  combineWarp(kWarpThreads);
  return value;
}

Value RowEmitter::reduce(unsigned number) {
  const RowOp &op = region.ops[number];
  // Each lane has its own partial result, so that their steps do not wait for each other.
  Value neutral = arith::ConstantOp::create(b, loc, *arith::getNeutralElement(op.combiner));
  SmallVector<Value> partial(rows.width, neutral);
  forGroups(partial, [&](Group &group, SmallVectorImpl<Value> &partial) {
    for (unsigned stored : pending)
      store(stored, group);
    for (auto [lane, value] :
         llvm::enumerate(MutableArrayRef<Value>(partial).take_front(group.width))) {
      Lanes values = arguments(number, &group, lane);
      values.push_back(value);
      Value next = e.payload(op.op, values, row, 0).front();
      value = group.isInside ? Value(arith::SelectOp::create(b, loc, group.isInside, next, value))
                             : next;
    }
  });
  pending.clear();
  for (size_t size = partial.size(); size > 1; size /= 2)
    for (size_t i = 0; i < size / 2; ++i)
      partial[i] = e.combine(op.combiner, partial[i], partial[i + size / 2]);
  return e.combine(op.combiner, e.cloneConstant(op.init), combineThreads(op, partial.front()));
}

void RowEmitter::emit(Value thread) {
  lane = arith::RemUIOp::create(b, loc, thread, e.constant(kWarpThreads));
  auto take = [&](int64_t count) -> Value {
    Value digit = arith::RemUIOp::create(b, loc, thread, e.constant(count));
    thread = arith::DivUIOp::create(b, loc, thread, e.constant(count));
    return digit;
  };
  if (rows.columns != 1)
    column = take(rows.columns);
  sharer = take(rows.sharers);
  Value index = column ? e.add(e.mul(thread, rows.columns), column) : thread;
  // All threads take part in shuffles, so those past the end repeat the last row.
  if (plan.threads() % plan.blockThreads() != 0) {
    int64_t count = plan.threads() / rows.sharers;
    isRow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, e.constant(count));
    index = arith::MinUIOp::create(b, loc, index, e.constant(count - 1));
  }
  row.parallel = e.delinearize(index, plan.loopsOverThreads(), 1);
  findWholeGroups();
  if (rows.isResident)
    resident = groupsFrom(sharer, rows.sharers - 1, rows.groupsOf(rows.sharers));
  if (rows.unaligned)
    resident.push_back(outsideOfGroups());
  // At most one loop of rows is repeated.
  for (int64_t i = 0, repeats = plan.repeats(); i < repeats; ++i) {
    for (unsigned loop : plan.repeated)
      row.parallel[loop] = e.constant(i);
    emitRow();
  }
}

void RowEmitter::emitRow() {
  // What an earlier row has loaded and is the same for this one remains.
  for (Group &group : resident) {
    group.computed.clear();
    for (unsigned operand = 0; operand < plan.numInputs; ++operand)
      if (llvm::any_of(plan.repeated,
                       [&](unsigned loop) { return plan.parallel[loop].steps[operand] != 0; }))
        group.loaded.erase(operand);
  }
  for (unsigned operand = 0; operand < plan.numInputs; ++operand)
    if (!variesInRow(operand))
      rowLoads[operand] = loadOne(operand, {});
  ofRow.assign(region.ops.size(), Value());
  pending.clear();
  for (auto [number, op] : llvm::enumerate(region.ops)) {
    if (op.hasElements()) {
      if (rows.outputs[number])
        pending.push_back(number);
      continue;
    }
    if (op.kind == RowKind::Reduction) {
      ofRow[number] = reduce(number);
    } else {
      Lanes values = arguments(number, nullptr, 0);
      values.push_back(Value());
      ofRow[number] = e.payload(op.op, values, row, 0).front();
    }
    storeRow(number);
  }
  std::optional<unsigned> totals = region.cumulative();
  SmallVector<Value> carried;
  if (totals)
    carried.push_back(e.cloneConstant(region.ops[*totals].init));
  if (!pending.empty())
    forGroups(carried, [&](Group &group, SmallVectorImpl<Value> &carried) {
      if (totals)
        carried.front() = addTotals(*totals, group, carried.front());
      for (unsigned stored : pending)
        store(stored, group);
    });
}

void Emitter::emitRows(Value thread) { RowEmitter(*this).emit(thread); }

} // namespace convoy::gpu_codegen
