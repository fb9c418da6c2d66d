// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/gpu_codegen/Emitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

void Emitter::emitTiles(Value block, Value thread) {
  int64_t tile = plan.tile, last = plan.parallel.size() - 1,
          rowsAtOnce = kBlockThreads / kWarpThreads;
  SmallVector<KernelLoop> blocks(plan.parallel);
  for (int64_t i : {int64_t(plan.tileLoop), last})
    blocks[i].size = llvm::divideCeil(blocks[i].size, tile);
  Indices corner;
  corner.parallel = delinearize(block, blocks, 1);
  for (int64_t i : {int64_t(plan.tileLoop), last})
    corner.parallel[i] = mul(corner.parallel[i], tile);
  Value x = arith::RemUIOp::create(b, loc, thread, constant(kWarpThreads)),
        y = arith::DivUIOp::create(b, loc, thread, constant(kWarpThreads));

  // Calls `body` for each element of the square that the thread handles; a warp iterates along
  // `fast`.
  auto forEach = [&](int64_t fast, int64_t slow,
                     llvm::function_ref<void(const Indices &, Value, Value)> body) {
    for (int64_t row = 0; row < tile; row += rowsAtOnce)
      for (int64_t column = 0; column < tile; column += kWarpThreads) {
        Value inFast = add(x, column), inSlow = add(y, row);
        Indices indices = corner;
        indices.parallel[fast] = add(corner.parallel[fast], inFast);
        indices.parallel[slow] = add(corner.parallel[slow], inSlow);
        Value inside;
        for (int64_t i : {fast, slow}) {
          if (plan.parallel[i].size % tile == 0)
            continue;
          Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, indices.parallel[i],
                                             constant(plan.parallel[i].size));
          inside = inside ? Value(arith::AndIOp::create(b, loc, inside, here)) : here;
        }
        OpBuilder::InsertionGuard guard(b);
        if (inside)
          b.setInsertionPoint(scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false)
                                  .thenBlock()
                                  ->getTerminator());
        body(indices, inFast, inSlow);
      }
  };
  forEach(plan.tileLoop, last, [&](const Indices &indices, Value inFast, Value inSlow) {
    const auto *square = staging.begin();
    for (int64_t input = 0; input < plan.numInputs; ++input)
      if (plan.isTransposed(input))
        memref::StoreOp::create(b, loc, loadOne(input, indices, 0), *square++,
                                ValueRange{inSlow, inFast});
  });
  gpu::BarrierOp::create(b, loc);
  forEach(last, plan.tileLoop, [&](const Indices &indices, Value inFast, Value inSlow) {
    const auto *square = staging.begin();
    SmallVector<Value> values;
    for (int64_t input = 0; input < plan.numInputs; ++input) {
      if (plan.isTransposed(input))
        values.push_back(memref::LoadOp::create(b, loc, *square++, ValueRange{inFast, inSlow}));
      else
        values.push_back(plan.operands[input].isRead ? loadOne(input, indices, 0) : Value());
    }
    if (plan.inits[0])
      values.push_back(cloneConstant(plan.inits[0]));
    else
      values.push_back(plan.operands[plan.numInputs].isRead ? loadOne(plan.numInputs, indices, 0)
                                                            : Value());
    storeLanes(plan.firstOutput, indices, payload(op, values, indices, 0));
  });
}

/// The `value` of the thread whose number differs in the bit `distance`. A shuffle moves 32 bits,
/// so narrower types are extended, and wider types take two shuffles.
Value Emitter::shuffleXor(Value value, int64_t distance) {
  Type type = value.getType(), word = b.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  auto exchange = [&](Value bits) {
    return gpu::ShuffleOp::create(b, loc, bits, distance, kWarpThreads, gpu::ShuffleMode::XOR)
        .getShuffleResult();
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

/// The partial result of one of the threads that share a reduction, over element `first` and every
/// `reducers`th after it. It begins with the neutral element; the output's initial value is
/// combined once, at the end.
Value Emitter::reduceShare(Value first, Indices indices) {
  int64_t length = 1;
  for (const KernelLoop &loop : plan.reduction)
    length *= loop.size;
  constexpr int64_t kMostLoads = 8;
  int64_t mine = llvm::divideCeil(length, plan.reducers), loads = std::min(mine, kMostLoads),
          turns = llvm::divideCeil(mine, loads);

  // Clamped loads followed by a select need no branch, so that all loads of a turn are in flight at
  // once.
  auto turn = [&](Value begin, Value soFar) {
    SmallVector<std::pair<Value, SmallVector<Value>>>
        elements; // condition that the element is in range, or null if it always is; the inputs
    for (int64_t load = 0; load < loads; ++load) {
      Value index = add(begin, load * plan.reducers), isInside;
      if (((turns - 1) * loads + load + 1) * plan.reducers > length) {
        isInside =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, constant(length));
        index = arith::MinUIOp::create(b, loc, index, constant(length - 1));
      }
      indices.reduction = delinearize(index, plan.reduction, 1);
      elements.emplace_back(isInside, SmallVector<Value>());
      for (int64_t input = 0; input < plan.numInputs; ++input)
        elements.back().second.push_back(loadOne(input, indices, 0));
    }
    for (auto &[isInside, values] : elements) {
      values.push_back(soFar);
      Value next = payload(op, values, indices, 0).front();
      soFar = isInside ? Value(arith::SelectOp::create(b, loc, isInside, next, soFar)) : next;
    }
    return soFar;
  };
  Value neutral = arith::ConstantOp::create(b, loc, *arith::getNeutralElement(plan.combiner));
  if (turns == 1)
    return turn(first, neutral);
  auto loop =
      scf::ForOp::create(b, loc, first, constant(length), constant(loads * plan.reducers), neutral);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b, loc, turn(loop.getInductionVar(), loop.getRegionIterArg(0)));
  return loop.getResult(0);
}

/// Combines the total with the output's initial value and stores it.
void Emitter::storeTotal(Value total, Indices indices) {
  indices.reduction.assign(plan.reduction.size(), constant(0));
  Value init = plan.inits[0] ? cloneConstant(plan.inits[0]) : loadOne(plan.numInputs, indices, 0);
  storeLanes(plan.firstOutput, indices,
             applyEpilogue(combine(init, total), indices, /*activeLanes=*/int64_t(0)));
}

void Emitter::emitWarpReduction(Value thread) {
  Indices indices;
  Value lane = arith::RemUIOp::create(b, loc, thread, constant(plan.reducers));
  Value row = arith::DivUIOp::create(b, loc, thread, constant(plan.reducers));
  // All threads of a warp must take part in shuffles, so those past the end repeat the last row.
  int64_t rows = plan.threads() / plan.reducers;
  Value clamped = plan.threads() % kBlockThreads == 0
                      ? row
                      : Value(arith::MinUIOp::create(b, loc, row, constant(rows - 1)));
  indices.parallel = delinearize(clamped, plan.parallel, 1);
  Value sum = reduceShare(lane, indices);
  for (int64_t distance = plan.reducers / 2; distance > 0; distance /= 2)
    sum = combine(sum, shuffleXor(sum, distance));

  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, constant(0));
  if (clamped != row)
    first = arith::AndIOp::create(
        b, loc, first,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, constant(rows)));
  auto guarded = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(guarded.thenBlock()->getTerminator());
  storeTotal(sum, indices);
}

void Emitter::emitColumnReduction(Value block, Value thread) {
  Indices indices;
  Value column = arith::RemUIOp::create(b, loc, thread, constant(plan.columns));
  Value reducer = arith::DivUIOp::create(b, loc, thread, constant(plan.columns));
  Value output = add(mul(block, plan.columns), column);
  // All threads of a block must reach the barrier, so those past the end repeat the last output.
  int64_t outputs = plan.threads() / plan.reducers;
  Value clamped = outputs % plan.columns == 0
                      ? output
                      : Value(arith::MinUIOp::create(b, loc, output, constant(outputs - 1)));
  indices.parallel = delinearize(clamped, plan.parallel, 1);
  Value rows = staging.front();
  memref::StoreOp::create(b, loc, reduceShare(reducer, indices), rows, ValueRange{reducer, column});
  gpu::BarrierOp::create(b, loc);

  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, reducer, constant(0));
  if (clamped != output)
    first = arith::AndIOp::create(
        b, loc, first,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, output, constant(outputs)));
  auto guarded = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(guarded.thenBlock()->getTerminator());
  Value sum;
  for (int64_t row = 0; row < plan.reducers; ++row) {
    Value share = memref::LoadOp::create(b, loc, rows, ValueRange{constant(row), column});
    sum = sum ? combine(sum, share) : share;
  }
  storeTotal(sum, indices);
}

} // namespace convoy::gpu_codegen
