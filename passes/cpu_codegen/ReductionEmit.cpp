// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A tile is a number of vectors of results along the dim in which the output is contiguous, at one
// place of the other parallel dims. Its values stay in registers over all loops of the reduction.
// As plain loops, each step would load and store the results, and a number of channels that is no
// multiple of LLVM's unrolled vectors would have a scalar rest.

#include "passes/cpu_codegen/ReductionEmit.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/cpu_codegen/ParallelWork.h"
#include "passes/cpu_codegen/PixelEmitter.h"
#include "passes/cpu_codegen/VectorBody.h"

using namespace mlir;

namespace convoy {
namespace {

/// With fewer tasks cores would be idle, so tiles have fewer vectors.
constexpr int64_t kFewTasks = 16;

/// What code generation needs to know about a reduction.
struct Reduction {
  linalg::LinalgOp op;
  linalg::FillOp fill;     ///< may be null
  unsigned contiguous = 0; ///< the dim of the vectors
  SmallVector<int64_t> ranges;
  SmallVector<SmallVector<int64_t>> strides; ///< of each operand, the output last; empty if unused
};

/// Describes `op`, or returns nullopt if it has another form.
std::optional<Reduction> match(linalg::LinalgOp op, VectorUnit unit) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 || op.hasIndexSemantics() ||
      !isStaticF32(op.getDpsInits()[0]))
    return std::nullopt;
  Reduction found{op};
  found.ranges = op.getStaticLoopRanges();
  if (llvm::any_of(found.ranges, [](int64_t size) { return size < 1; }))
    return std::nullopt;
  for (Operation &each : op.getBlock()->without_terminator())
    if (!OpTrait::hasElementwiseMappableTraits(&each) || each.getNumResults() != 1)
      return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<int64_t> &strides = found.strides.emplace_back();
    if (!op.isDpsInit(&operand) && !op.payloadUsesValueFromOperand(&operand))
      continue;
    FailureOr<SmallVector<int64_t>> all =
        loopStrides(operand.get(), op.getMatchingIndexingMap(&operand));
    if (!isStaticF32(operand.get()) || failed(all))
      return std::nullopt;
    strides = *all;
  }
  int64_t results = 1;
  bool hasDim = false;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned dim = 0; dim < iterators.size(); ++dim) {
    if (iterators[dim] != utils::IteratorType::parallel)
      continue;
    results *= found.ranges[dim];
    auto isContiguous = [&](ArrayRef<int64_t> strides) {
      return strides.empty() || strides[dim] == 0 || strides[dim] == 1;
    };
    auto inputs = ArrayRef(found.strides).drop_back();
    // Shorter rows would waste most of a vector.
    if (found.ranges[dim] >= unit.lanes / 2 && found.strides.back()[dim] == 1 &&
        llvm::all_of(inputs, isContiguous) && llvm::any_of(inputs, [&](ArrayRef<int64_t> strides) {
          return !strides.empty() && strides[dim] == 1;
        })) {
      found.contiguous = dim;
      hasDim = true;
    }
  }
  if (!hasDim)
    return std::nullopt;
  found.fill = fillBefore(op, results);
  return found;
}

class Emitter : PixelEmitter {
public:
  Emitter(OpBuilder &builder, Reduction reduction, VectorUnit unit)
      : PixelEmitter(builder, Contraction{reduction.op, reduction.fill, {}, 1, 1, 1, 1}, unit),
        r(std::move(reduction)) {}

  void run();

private:
  struct Tile {
    int64_t vectors, lastLanes; ///< lanes of the last vector
  };

  SmallVector<Value> reduce(const Tile &tile, ArrayRef<Value> at, ArrayRef<Value> values,
                            ArrayRef<unsigned> loops);
  SmallVector<Value> step(const Tile &tile, ArrayRef<Value> at, ValueRange values);
  void emitTile(const Tile &tile, ArrayRef<Value> at);
  void emitTask(Value number, const Tile &tile, const Tile &last);
  int64_t lanesOf(const Tile &tile, int64_t v) const {
    return v + 1 == tile.vectors ? tile.lastLanes : unit.lanes;
  }
  /// Indices of the elements at `place` in dim `dim`, from those at its begin.
  SmallVector<Value> advance(ArrayRef<Value> at, unsigned dim, Value place) {
    SmallVector<Value> next(at);
    for (auto [index, strides] : llvm::zip_equal(next, r.strides))
      if (!strides.empty() && strides[dim] != 0)
        index = add(index, scale(place, strides[dim]));
    return next;
  }

  Reduction r;
  SmallVector<Flat> buffers;                ///< of the operands
  SmallVector<unsigned> places, reductions; ///< the other parallel dims, and those of the reduction
  int64_t tiles = 1;                        ///< in a row
};

SmallVector<Value> Emitter::step(const Tile &tile, ArrayRef<Value> at, ValueRange values) {
  SmallVector<Value> next;
  for (auto [v, value] : llvm::enumerate(values)) {
    SmallVector<Value> inputs;
    for (size_t i = 0; i + 1 < buffers.size(); ++i) {
      if (r.strides[i].empty())
        inputs.push_back(value); // unused
      else if (r.strides[i][r.contiguous] == 0)
        inputs.push_back(loadSplat(buffers[i], at[i]));
      else
        inputs.push_back(load(buffers[i], add(at[i], v * unit.lanes), lanesOf(tile, v)));
    }
    inputs.push_back(value);
    next.push_back(vectorizeBody(b, r.op.getBlock(), inputs, unit.lanes));
  }
  return next;
}

SmallVector<Value> Emitter::reduce(const Tile &tile, ArrayRef<Value> at, ArrayRef<Value> values,
                                   ArrayRef<unsigned> loops) {
  if (loops.empty())
    return step(tile, at, values);
  auto loop = scf::ForOp::create(b, index(0), index(r.ranges[loops.front()]), index(1), values);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      reduce(tile, advance(at, loops.front(), loop.getInductionVar()),
             SmallVector<Value>(loop.getRegionIterArgs()), loops.drop_front());
  scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

void Emitter::emitTile(const Tile &tile, ArrayRef<Value> at) {
  SmallVector<Value> values;
  for (int64_t v = 0; v < tile.vectors; ++v)
    values.push_back(r.fill
                         ? splat(r.fill.getInputs()[0])
                         : load(buffers.back(), add(at.back(), v * unit.lanes), lanesOf(tile, v)));
  for (auto [v, result] : llvm::enumerate(reduce(tile, at, values, reductions)))
    store(result, buffers.back(), add(at.back(), v * unit.lanes), lanesOf(tile, v));
}

void Emitter::emitTask(Value number, const Tile &tile, const Tile &last) {
  SmallVector<Value> at(buffers.size(), index(0));
  auto take = [&](int64_t size) -> Value {
    Value base = index(size), digit = arith::RemUIOp::create(b, number, base);
    number = arith::DivUIOp::create(b, number, base);
    return digit;
  };
  Value row = tiles == 1 ? Value() : take(tiles);
  for (unsigned dim : llvm::reverse(places))
    at = advance(at, dim, take(r.ranges[dim]));
  if (!row)
    return emitTile(last, at);
  at = advance(at, r.contiguous, scale(row, tile.vectors * unit.lanes));
  if (tile.vectors == last.vectors && last.lastLanes == unit.lanes)
    return emitTile(tile, at);
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, row, index(tiles - 1));
  auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  emitTile(last, at);
  b.setInsertionPointToStart(branch.elseBlock());
  emitTile(tile, at);
}

void Emitter::run() {
  for (auto [operand, strides] : llvm::zip_equal(r.op->getOperands(), r.strides))
    buffers.push_back(strides.empty() ? Flat{} : flatten(operand));
  int64_t count = 1;
  for (auto [dim, iterator] : llvm::enumerate(r.op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction) {
      reductions.push_back(dim);
    } else if (dim != r.contiguous && r.ranges[dim] != 1) {
      places.push_back(dim);
      count *= r.ranges[dim];
    }
  int64_t length = r.ranges[r.contiguous], vectors = llvm::divideCeil(length, unit.lanes);
  Tile tile{unit.registers / 4, unit.lanes};
  while (tile.vectors > 1 && count * llvm::divideCeil(vectors, tile.vectors) < kFewTasks)
    tile.vectors /= 2;
  tiles = llvm::divideCeil(vectors, tile.vectors);
  Tile last{vectors - (tiles - 1) * tile.vectors, length - (vectors - 1) * unit.lanes};

  count *= tiles;
  OpBuilder::InsertionGuard guard(b);
  if (count > 1 && llvm::product_of(r.ranges) >= kMinParallelWork) {
    auto loop = scf::ParallelOp::create(b, ValueRange{index(0)}, ValueRange{index(count)},
                                        ValueRange{index(1)});
    b.setInsertionPointToStart(loop.getBody());
    emitTask(loop.getInductionVars()[0], tile, last);
  } else {
    auto loop = scf::ForOp::create(b, index(0), index(count), index(1));
    b.setInsertionPointToStart(loop.getBody());
    emitTask(loop.getInductionVar(), tile, last);
  }
}

} // namespace

bool isStaticF32(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  return type && type.hasStaticShape() && type.getElementType().isF32() &&
         succeeded(type.getStridesAndOffset(strides, offset)) && !ShapedType::isDynamic(offset) &&
         llvm::none_of(strides, ShapedType::isDynamic);
}

linalg::FillOp fillBefore(linalg::LinalgOp op, int64_t results) {
  Value output = op.getDpsInits()[0];
  if (cast<MemRefType>(output.getType()).getNumElements() != results)
    return {};
  for (Operation *each = op->getPrevNode(); each; each = each->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(each))
      return fill.getOutputs()[0] == output && fill.getInputs()[0].getType().isF32()
                 ? fill
                 : linalg::FillOp();
    if (!isMemoryEffectFree(each))
      return {};
  }
  return {};
}

bool emitReduction(OpBuilder &builder, linalg::LinalgOp reduction, VectorUnit unit) {
  std::optional<Reduction> found = match(reduction, unit);
  if (!found)
    return false;
  Emitter(builder, *found, unit).run();
  if (found->fill)
    found->fill.erase();
  return true;
}

} // namespace convoy
