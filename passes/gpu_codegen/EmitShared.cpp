// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits reductions that the threads of a warp or a block share.

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/common/ReductionShares.h"
#include "passes/gpu_codegen/Emitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

/// The `value` of the thread whose number differs in the bit `distance`. A shuffle moves 32 bits,
/// so narrower types are extended, and wider types take two shuffles.
Value Emitter::shuffleXor(Value value, int64_t distance) {
  return shuffle(value, arith::ConstantIntOp::create(b, loc, distance, 32), gpu::ShuffleMode::XOR);
}

Value Emitter::shuffleFrom(Value value, Value lane) {
  return shuffle(value, arith::IndexCastOp::create(b, loc, b.getI32Type(), lane),
                 gpu::ShuffleMode::IDX);
}

Value Emitter::shuffle(Value value, Value offset, gpu::ShuffleMode mode) {
  Value threads = arith::ConstantIntOp::create(b, loc, kWarpThreads, 32);
  Type type = value.getType(), word = b.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  auto exchange = [&](Value bits) {
    return gpu::ShuffleOp::create(b, loc, bits, offset, threads, mode).getShuffleResult();
  };
  if (width == 32)
    return exchange(value);
  Type bits = b.getIntegerType(width);
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(b, loc, bits, value);
  if (width < 32) {
    value = arith::TruncIOp::create(b, loc, bits,
                                    exchange(arith::ExtUIOp::create(b, loc, word, value)));
  } else {
    assert(width == 64 && "expected an element type of at most 64 bits");
    Value half = arith::ConstantIntOp::create(b, loc, bits, 32);
    Value low = exchange(arith::TruncIOp::create(b, loc, word, value));
    Value high = exchange(
        arith::TruncIOp::create(b, loc, word, arith::ShRUIOp::create(b, loc, value, half)));
    high = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, bits, high), half);
    value = arith::OrIOp::create(b, loc, arith::ExtUIOp::create(b, loc, bits, low), high);
  }
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, loc, type, value)) : value;
}

Value Emitter::combine(Operation *combiner, Value x, Value y) {
  Operation *copy = b.insert(combiner->cloneWithoutRegions());
  copy->setOperands({x, y});
  return copy->getResult(0);
}

/// The partial results of one of the threads that share a reduction, over element `first` and every
/// `reducers`th after it. They begin with the neutral elements; the outputs' initial values are
/// combined once, at the end.
Emitter::Lanes Emitter::reduceShare(Value first, Indices indices) {
  int64_t length = 1;
  for (const KernelLoop &loop : plan.reduction)
    length *= loop.size;
  int64_t mine = llvm::divideCeil(length, plan.reducers),
          loads = std::min(mine, ReductionShares::kMostLoads),
          turns = llvm::divideCeil(mine, loads);

  // Clamped loads followed by a select need no branch, so that all loads of a turn are in flight at
  // once.
  auto turn = [&](Value begin, Lanes soFar) {
    struct Element {
      Value isInside; ///< null if it always is
      SmallVector<Value> indices;
      SmallVector<Lanes> inputs;
    };
    SmallVector<Element> elements;
    for (int64_t load = 0; load < loads; ++load) {
      Element &element = elements.emplace_back();
      Value index = add(begin, load * plan.reducers);
      if (((turns - 1) * loads + load + 1) * plan.reducers > length) {
        element.isInside =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, constant(length));
        index = arith::MinUIOp::create(b, loc, index, constant(length - 1));
      }
      element.indices = indices.reduction = delinearize(index, plan.reduction, 1);
      element.inputs = loadInputs(indices, allLanes());
    }
    for (Element &element : elements) {
      indices.reduction = element.indices;
      Lanes next = reduceOne(element.inputs, soFar, indices, allLanes());
      for (auto [before, after] : llvm::zip_equal(soFar, next))
        before = element.isInside
                     ? Value(arith::SelectOp::create(b, loc, element.isInside, after, before))
                     : after;
    }
    return soFar;
  };
  Lanes neutral;
  for (Operation *combiner : plan.combiners)
    neutral.append(plan.lanes,
                   arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner)));
  if (turns == 1)
    return turn(first, neutral);
  auto loop =
      scf::ForOp::create(b, loc, first, constant(length), constant(loads * plan.reducers), neutral);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(
      b, loc, turn(loop.getInductionVar(), llvm::to_vector_of<Value>(loop.getRegionIterArgs())));
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// Combines the shares of the threads of a warp whose numbers differ in bits from `last` to
/// `first`.
void Emitter::combineLanes(Lanes &shares, int64_t first, int64_t last) {
  for (int64_t distance = first; distance >= last; distance /= 2)
    for (auto [i, share] : llvm::enumerate(shares))
      share = combine(plan.combiners[i / plan.lanes], share, shuffleXor(share, distance));
}

/// Stores shares to shared memory, that of the first lane to `where`.
void Emitter::storeShares(ArrayRef<Value> shares, ArrayRef<Value> where) {
  for (auto [i, share] : llvm::enumerate(shares)) {
    SmallVector<Value> at(where);
    at.back() = add(at.back(), i % plan.lanes);
    memref::StoreOp::create(b, loc, share, staging[i / plan.lanes], at);
  }
}

/// Combines the rows of partial results in shared memory, of which the first lane's is at `column`.
Emitter::Lanes Emitter::combineRows(int64_t rows, ArrayRef<Value> column) {
  Lanes totals;
  for (auto [memory, combiner] : llvm::zip_equal(staging, plan.combiners))
    for (int64_t lane = 0; lane < plan.lanes; ++lane) {
      Value total;
      for (int64_t row = 0; row < rows; ++row) {
        SmallVector<Value> where = {constant(row)};
        for (Value first : column)
          where.push_back(add(first, lane));
        Value share = memref::LoadOp::create(b, loc, memory, where);
        total = total ? combine(combiner, total, share) : share;
      }
      totals.push_back(total);
    }
  return totals;
}

/// Combines the totals with the outputs' initial values and stores them.
void Emitter::storeTotals(Lanes totals, Indices indices) {
  indices.reduction.assign(plan.reduction.size(), constant(0));
  SmallVector<int64_t> lanes = allLanes();
  for (auto [number, combiner] : llvm::enumerate(plan.combiners)) {
    Lanes inits = plan.inits[number] ? Lanes(plan.lanes, cloneConstant(plan.inits[number]))
                                     : loadLanes(plan.numInputs + number, indices, lanes);
    for (auto [init, total] :
         llvm::zip_equal(inits, MutableArrayRef(totals).slice(number * plan.lanes, plan.lanes)))
      total = combine(combiner, init, total);
  }
  totals = applyEpilogue(totals, indices, lanes);
  for (int64_t number = 0; number < plan.numResults(); ++number)
    storeLanes(plan.firstOutput + number, indices,
               ArrayRef(totals).slice(number * plan.lanes, plan.lanes));
}

/// Inserts what follows into a branch.
scf::IfOp Emitter::enterIf(Value condition) {
  auto guarded = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  b.setInsertionPoint(guarded.thenBlock()->getTerminator());
  return guarded;
}

Value Emitter::isZero(Value value) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, constant(0));
}

void Emitter::emitRowReduction(Value thread) {
  Indices indices;
  Value lane = arith::RemUIOp::create(b, loc, thread, constant(plan.reducers));
  Value row = arith::DivUIOp::create(b, loc, thread, constant(plan.reducers));
  // All threads of a warp must take part in shuffles, so those past the end repeat the last row.
  int64_t rows = plan.threads() / plan.reducers;
  Value clamped = plan.threads() % plan.blockThreads() == 0
                      ? row
                      : Value(arith::MinUIOp::create(b, loc, row, constant(rows - 1)));
  indices.parallel = delinearize(clamped, plan.parallel, 1);
  Lanes totals = reduceShare(lane, indices);
  combineLanes(totals, std::min(plan.reducers, kWarpThreads) / 2, 1);

  bool sharesBlock = plan.reducers > kWarpThreads;
  OpBuilder::InsertionGuard guard(b);
  if (sharesBlock) {
    auto guarded = enterIf(isZero(arith::RemUIOp::create(b, loc, lane, constant(kWarpThreads))));
    storeShares(totals, {arith::DivUIOp::create(b, loc, lane, constant(kWarpThreads))});
    b.setInsertionPointAfter(guarded);
    gpu::BarrierOp::create(b, loc);
  }
  Value first = isZero(lane);
  if (clamped != row)
    first = arith::AndIOp::create(
        b, loc, first,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, constant(rows)));
  enterIf(first);
  storeTotals(sharesBlock ? combineRows(plan.reducers / kWarpThreads, {}) : totals, indices);
}

void Emitter::emitColumnReduction(Value block, Value thread) {
  Indices indices;
  Value column = arith::RemUIOp::create(b, loc, thread, constant(plan.columns));
  Value reducer = arith::DivUIOp::create(b, loc, thread, constant(plan.columns));
  Value output = add(mul(block, plan.columns), column);
  // All threads of a block must reach the barrier, so those past the end repeat the last output.
  // Each of the outputs here is that of all lanes of a thread.
  int64_t outputs = plan.threads() / plan.reducers;
  Value clamped = outputs % plan.columns == 0
                      ? output
                      : Value(arith::MinUIOp::create(b, loc, output, constant(outputs - 1)));
  indices.parallel = delinearize(clamped, plan.parallel, plan.lanes);
  Lanes shares = reduceShare(reducer, indices);
  Value place = mul(column, plan.lanes);
  int64_t together = plan.columnReducersOfWarp();
  combineLanes(shares, kWarpThreads / 2, plan.columns);

  OpBuilder::InsertionGuard guard(b);
  if (together == 1) {
    storeShares(shares, {reducer, place});
  } else {
    auto guarded = enterIf(isZero(arith::RemUIOp::create(b, loc, reducer, constant(together))));
    storeShares(shares, {arith::DivUIOp::create(b, loc, reducer, constant(together)), place});
    b.setInsertionPointAfter(guarded);
  }
  gpu::BarrierOp::create(b, loc);

  Value first = isZero(reducer);
  if (clamped != output)
    first = arith::AndIOp::create(
        b, loc, first,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, output, constant(outputs)));
  enterIf(first);
  storeTotals(combineRows(plan.reducers / together, place), indices);
}

} // namespace convoy::gpu_codegen
