// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each result has some vectors of partial results, which are combined at the end. As plain loops,
// LLVM unrolls a row of some vectors completely before it looks for vectors, and finds none: then
// the elements are reduced one after the other.

#include "passes/cpu_codegen/RowReductionEmit.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/cpu_codegen/ParallelWork.h"
#include "passes/cpu_codegen/PixelEmitter.h"
#include "passes/cpu_codegen/ReductionEmit.h"
#include "passes/cpu_codegen/VectorBody.h"

using namespace mlir;

namespace convoy {
namespace {

/// Vectors of partial results: as many as hide the latency of the op that combines two.
constexpr int64_t kMaxVectors = 4;

/// A loop of the op, or several with the same steps: its trips, and the element steps of each
/// operand.
struct Loop {
  int64_t trips;
  SmallVector<int64_t> steps;
};

/// What code generation needs to know about a reduction. Loops are outermost first.
struct Rows {
  linalg::LinalgOp op;
  linalg::FillOp fill; ///< may be null
  vector::CombiningKind kind;
  float neutral;
  arith::FastMathFlags flags = arith::FastMathFlags::none;
  SmallVector<bool> used; ///< of each operand: whether it is read or written
  SmallVector<Loop> places, reductions;
};

/// Adds `loop` to `loops`, as a part of the loop around it if each of its steps continues there.
void addLoop(SmallVectorImpl<Loop> &loops, Loop loop) {
  if (loop.trips == 1)
    return;
  if (!loops.empty() &&
      llvm::all_of(llvm::zip_equal(loops.back().steps, loop.steps), [&](auto steps) {
        return std::get<0>(steps) == loop.trips * std::get<1>(steps);
      }))
    loop.trips *= loops.pop_back_val().trips;
  loops.push_back(std::move(loop));
}

/// Sets how the body combines an element with the result so far. Returns false if it does so in
/// another way, or in an order that matters.
bool setKind(Rows &rows) {
  Block *body = rows.op.getBlock();
  BlockArgument soFar = body->getArguments().back();
  Operation *last = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!last || !soFar.hasOneUse() || *soFar.user_begin() != last)
    return false;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (auto sum = dyn_cast<arith::AddFOp>(last)) {
    rows.kind = vector::CombiningKind::ADD, rows.neutral = 0;
    rows.flags = sum.getFastmath();
    return bitEnumContainsAll(rows.flags, arith::FastMathFlags::reassoc);
  }
  if (isa<arith::MaximumFOp>(last))
    rows.kind = vector::CombiningKind::MAXIMUMF, rows.neutral = -kInfinity;
  else if (isa<arith::MinimumFOp>(last))
    rows.kind = vector::CombiningKind::MINIMUMF, rows.neutral = kInfinity;
  else
    return false;
  return true;
}

std::optional<Rows> match(linalg::LinalgOp op, VectorUnit unit) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 || op.hasIndexSemantics() ||
      !isStaticF32(op.getDpsInits()[0]))
    return std::nullopt;
  Rows rows{op};
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::any_of(ranges, [](int64_t size) { return size < 1; }) || !setKind(rows))
    return std::nullopt;
  for (Operation &each : op.getBlock()->without_terminator())
    if (!OpTrait::hasElementwiseMappableTraits(&each) || each.getNumResults() != 1)
      return std::nullopt;
  SmallVector<SmallVector<int64_t>> strides;
  for (OpOperand &operand : op->getOpOperands()) {
    rows.used.push_back(op.isDpsInit(&operand) || op.payloadUsesValueFromOperand(&operand));
    strides.emplace_back(ranges.size(), 0);
    if (!rows.used.back())
      continue;
    FailureOr<SmallVector<int64_t>> all =
        loopStrides(operand.get(), op.getMatchingIndexingMap(&operand));
    if (!isStaticF32(operand.get()) || failed(all))
      return std::nullopt;
    strides.back() = *all;
  }
  int64_t results = 1;
  for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    Loop loop{ranges[dim], {}};
    for (ArrayRef<int64_t> each : strides)
      loop.steps.push_back(each[dim]);
    bool isPlace = iterator == utils::IteratorType::parallel;
    results *= isPlace ? loop.trips : 1;
    addLoop(isPlace ? rows.places : rows.reductions, loop);
  }
  // Shorter rows would waste most of a vector.
  if (rows.reductions.empty() || rows.reductions.back().trips < unit.lanes / 2 ||
      llvm::any_of(
          rows.reductions.back().steps, [](int64_t step) { return step != 0 && step != 1; }))
    return std::nullopt;
  rows.fill = fillBefore(op, results);
  return rows;
}

class Emitter : PixelEmitter {
public:
  Emitter(OpBuilder &builder, Rows rows, VectorUnit unit)
      : PixelEmitter(builder, Contraction{rows.op, rows.fill, {}, 1, 1, 1, 1}, unit),
        rows(std::move(rows)) {}

  void run();

private:
  /// Indices of the elements `place` trips of `loop` after `at`.
  SmallVector<Value> advance(ArrayRef<Value> at, const Loop &loop, Value place) {
    SmallVector<Value> next(at);
    for (auto [index, step] : llvm::zip_equal(next, loop.steps))
      if (step != 0)
        index = add(index, scale(place, step));
    return next;
  }
  Value combine(Value a, Value other) {
    return vector::makeArithReduction(b, b.getLoc(), rows.kind, a, other,
                                      arith::FastMathFlagsAttr::get(b.getContext(), rows.flags));
  }

  Value step(ArrayRef<Value> at, int64_t first, int64_t lanes, Value soFar);
  SmallVector<Value> reduceRow(ArrayRef<Value> at, ValueRange initial);
  SmallVector<Value> reduce(ArrayRef<Value> at, ValueRange initial, ArrayRef<Loop> loops);
  void emitResult(Value number);

  Rows rows;
  SmallVector<Flat> buffers; ///< of the operands
};

/// Combines `lanes` elements, from the `first` on after `at`, with the partial results `soFar`.
Value Emitter::step(ArrayRef<Value> at, int64_t first, int64_t lanes, Value soFar) {
  SmallVector<Value> inputs;
  for (size_t i = 0; i + 1 < buffers.size(); ++i) {
    if (!rows.used[i])
      inputs.push_back(soFar);
    else if (rows.reductions.back().steps[i] == 0)
      inputs.push_back(loadSplat(buffers[i], at[i]));
    else
      inputs.push_back(load(buffers[i], add(at[i], first), lanes));
  }
  inputs.push_back(soFar);
  Value next = vectorizeBody(b, rows.op.getBlock(), inputs, unit.lanes);
  return lanes == unit.lanes ? next
                             : arith::SelectOp::create(b, mask(lanes), next, soFar).getResult();
}

/// Combines a row of contiguous elements with partial results.
SmallVector<Value> Emitter::reduceRow(ArrayRef<Value> at, ValueRange initial) {
  const Loop &row = rows.reductions.back();
  int64_t vectors = initial.size(), width = vectors * unit.lanes, whole = row.trips / width;
  SmallVector<Value> next(initial);
  auto steps = [&](ArrayRef<Value> from, int64_t first, int64_t end) {
    for (int64_t v = 0; v < vectors && first + v * unit.lanes < end; ++v)
      next[v] = step(from, first + v * unit.lanes,
                     std::min(unit.lanes, end - first - v * unit.lanes), next[v]);
  };
  if (whole == 1) {
    steps(at, 0, width);
  } else if (whole > 1) {
    auto loop = scf::ForOp::create(b, index(0), index(whole * width), index(width), next);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    next.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    steps(advance(at, row, loop.getInductionVar()), 0, width);
    scf::YieldOp::create(b, next);
    next.assign(loop.getResults().begin(), loop.getResults().end());
  }
  steps(at, whole * width, row.trips);
  return next;
}

SmallVector<Value> Emitter::reduce(ArrayRef<Value> at, ValueRange initial, ArrayRef<Loop> loops) {
  if (loops.size() == 1)
    return reduceRow(at, initial);
  auto loop = scf::ForOp::create(b, index(0), index(loops.front().trips), index(1), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b, reduce(advance(at, loops.front(), loop.getInductionVar()),
                                 loop.getRegionIterArgs(), loops.drop_front()));
  return SmallVector<Value>(loop.getResults());
}

void Emitter::emitResult(Value number) {
  SmallVector<Value> at(buffers.size(), index(0));
  for (const Loop &loop : llvm::reverse(rows.places)) {
    bool isFirst = &loop == rows.places.begin();
    Value size = index(loop.trips);
    at = advance(at, loop, isFirst ? number : arith::RemUIOp::create(b, number, size).getResult());
    if (!isFirst)
      number = arith::DivUIOp::create(b, number, size);
  }
  int64_t vectors =
      std::min<int64_t>(kMaxVectors, llvm::divideCeil(rows.reductions.back().trips, unit.lanes));
  Value neutral = arith::ConstantOp::create(b, b.getF32FloatAttr(rows.neutral));
  SmallVector<Value> partial =
      reduce(at, SmallVector<Value>(vectors, splat(neutral)), rows.reductions);
  for (; partial.size() > 1; partial.pop_back())
    partial[partial.size() - 2] = combine(partial[partial.size() - 2], partial.back());
  Value initial = rows.fill ? rows.fill.getInputs()[0]
                            : memref::LoadOp::create(b, buffers.back().buffer, at.back());
  Value result =
      vector::ReductionOp::create(b, rows.kind, partial[0], initial, rows.flags).getResult();
  memref::StoreOp::create(b, result, buffers.back().buffer, at.back());
}

void Emitter::run() {
  for (auto [operand, isUsed] : llvm::zip_equal(rows.op->getOperands(), rows.used))
    buffers.push_back(isUsed ? flatten(operand) : Flat{});
  int64_t count = 1, work = 1;
  for (const Loop &loop : rows.places)
    count *= loop.trips;
  for (const Loop &loop : rows.reductions)
    work *= loop.trips;
  OpBuilder::InsertionGuard guard(b);
  if (count > 1 && count * work >= kMinParallelWork) {
    auto loop = scf::ParallelOp::create(b, ValueRange{index(0)}, ValueRange{index(count)},
                                        ValueRange{index(1)});
    b.setInsertionPointToStart(loop.getBody());
    emitResult(loop.getInductionVars()[0]);
  } else {
    auto loop = scf::ForOp::create(b, index(0), index(count), index(1));
    b.setInsertionPointToStart(loop.getBody());
    emitResult(loop.getInductionVar());
  }
}

} // namespace

bool emitRowReduction(OpBuilder &builder, linalg::LinalgOp reduction, VectorUnit unit) {
  std::optional<Rows> rows = match(reduction, unit);
  if (!rows)
    return false;
  Emitter(builder, *rows, unit).run();
  if (rows->fill)
    rows->fill.erase();
  return true;
}

} // namespace convoy
