// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Splits long reductions into partial reductions and a reduction of the partial results. A
// sequential sum loses precision with its length, and only parallel loops are distributed over
// cores and multiprocessors.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/ReductionCut.h"
#include "passes/tcp_to_linalg/ReductionUtils.h"

namespace convoy {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct SplitReductionsPass : public convoy::impl::SplitReductionsPassBase<SplitReductionsPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// The op that combines two partial results and has a neutral element, or null.
Operation *combinerOf(linalg::GenericOp op) {
  SmallVector<Operation *> combiners;
  if (op.getNumDpsInits() != 1 || !matchReduction(op.getRegionOutputArgs(), 0, combiners) ||
      combiners.size() != 1 ||
      combiners.front()->getResult(0).getType() != convoy::elementTypeOf(op.getDpsInits()[0]) ||
      !arith::getNeutralElement(combiners.front()))
    return nullptr;
  return combiners.front();
}

/// The tensor that `value` is a reshape of.
Value withoutReshapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The tensors from which `values` are computed elementwise, by at most `depth` ops, and
/// themselves.
llvm::SmallPtrSet<Value, 16> sourcesOf(ValueRange values, int64_t depth) {
  llvm::SmallPtrSet<Value, 16> found;
  SmallVector<Value> next(values);
  for (; depth >= 0 && !next.empty(); --depth)
    for (Value value : std::exchange(next, {})) {
      value = withoutReshapes(value);
      auto op = value.getDefiningOp<linalg::GenericOp>();
      if (isa<RankedTensorType>(value.getType()) && found.insert(value).second && op &&
          op.getNumReductionLoops() == 0)
        llvm::append_range(next, op.getDpsInputs());
    }
  return found;
}

/// The most elements of a row that one block reduces, in a norm or a softmax that was not divided
/// into equal parts: with few rows, most multiprocessors would have none.
int64_t mostOfBlock(int64_t rows) {
  constexpr int64_t kMostOfManyRows = 1 << 18, kManyRows = 64;
  return rows >= kManyRows ? kMostOfManyRows : kLongContiguousRow;
}

/// Whether a later op reads both what `op` reads and what depends on its result, as in a norm or a
/// softmax. plan-group-rows makes one kernel of them, in which a block shares each row.
bool isPartOfRows(linalg::GenericOp op) {
  constexpr int64_t kDepth = 3, kMostUsers = 32;
  if (!isCuda(op) || lengthOf(op) > mostOfBlock(resultsOf(op)))
    return false;
  // Threads that share a row read along it.
  SmallVector<Value> full;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    std::optional<unsigned> inner = innermostLoop(map, op.getStaticLoopRanges());
    if (map.isPermutation() && inner &&
        op.getIteratorTypesArray()[*inner] == utils::IteratorType::reduction)
      full.push_back(input->get());
  }
  llvm::SmallPtrSet<Value, 16> sources = sourcesOf(full, kDepth);
  llvm::SetVector<Operation *> users;
  users.insert(op);
  for (int64_t i = 0; i < int64_t(users.size()) && i < kMostUsers; ++i) {
    auto generic = dyn_cast<linalg::GenericOp>(users[i]);
    if (i != 0 && generic)
      for (Value read : sourcesOf(generic.getDpsInputs(), kDepth))
        if (sources.contains(read))
          return true;
    if (generic || isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(users[i]))
      users.insert(users[i]->user_begin(), users[i]->user_end());
  }
  return false;
}

bool shouldSplit(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() || op.hasIndexSemantics() ||
      ShapedType::isDynamicShape(op.getStaticLoopRanges()) || !combinerOf(op) ||
      (lengthOf(op) <= kLongReduction && !isSlow(op)))
    return false;
  if (isPartOfRows(op))
    return false;
  // Windows, e.g. of convolutions, are not split.
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr result : map.getResults()) {
      int64_t dims = 0;
      for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
        dims += result.isFunctionOfDim(dim);
      if (dims > 1)
        return false;
    }
  // The partial results of a product, which reads its operands repeatedly, may be larger than the
  // operands.
  int64_t read = 0, points = 1;
  for (Value input : op.getDpsInputs())
    if (auto type = dyn_cast<RankedTensorType>(input.getType()))
      read += type.getNumElements();
  for (int64_t range : op.getStaticLoopRanges())
    points *= range;
  constexpr int64_t kMostReads = 4;
  return points <= kMostReads * read;
}

class Splitter {
public:
  Splitter(IRRewriter &rewriter, linalg::GenericOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()), cut(chooseCut(op)),
        ranges(op.getStaticLoopRanges()), iterators(op.getIteratorTypesArray()),
        combiner(combinerOf(op)), function(op->getParentOfType<func::FuncOp>()) {}

  /// Replaces the op; appends new reductions, which may need another split, to `todo`.
  void run(SmallVectorImpl<linalg::GenericOp> &todo) {
    rewriter.setInsertionPoint(op);
    Value init = op.getDpsInits()[0];
    // First, because adding the remainder to the sum of all parts would lose precision.
    if (cut.rest != 0) {
      linalg::GenericOp rest = leftOver(init);
      todo.push_back(rest);
      init = rest.getResult(0);
    }
    rewriter.replaceOp(op, isWide() ? joinWide(parts(), init, todo) : join(parts(), init, todo));
  }

private:
  bool isReduction(unsigned dim) const { return iterators[dim] == utils::IteratorType::reduction; }

  /// A generic with the body and operands of the op, where `replacements[i]` replaces loop i. An
  /// operand that is never read defines the range of loop `bounded`.
  linalg::GenericOp clone(Value init, AffineMap initMap, ArrayRef<AffineExpr> replacements,
                          ArrayRef<utils::IteratorType> loops, unsigned bounded, int64_t range) {
    MLIRContext *context = op.getContext();
    SmallVector<Value> inputs(op.getDpsInputs());
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands())
      maps.push_back(op.getMatchingIndexingMap(input).replaceDimsAndSymbols(replacements, {},
                                                                            loops.size(), 0));
    inputs.push_back(
        tensor::EmptyOp::create(rewriter, loc, ArrayRef<int64_t>{range}, rewriter.getI8Type()));
    maps.push_back(AffineMap::get(loops.size(), 0, rewriter.getAffineDimExpr(bounded), context));
    maps.push_back(initMap);
    auto result = linalg::GenericOp::create(rewriter, loc, TypeRange(init.getType()), inputs,
                                            ValueRange(init), maps, loops);
    rewriter.cloneRegionBefore(op.getRegion(), result.getRegion(), result.getRegion().end());
    Block &body = result.getRegion().front();
    body.insertArgument(inputs.size() - 1, rewriter.getI8Type(), loc);
    return result;
  }

  /// The partial results, whose dims are the parallel and the split loops, in order.
  Value parts() {
    SmallVector<AffineExpr> replacements, kept;
    SmallVector<utils::IteratorType> loops;
    SmallVector<int64_t> shape;
    unsigned inner = 0;
    auto add = [&](bool reduces, int64_t range) {
      AffineExpr expr = rewriter.getAffineDimExpr(loops.size());
      loops.push_back(reduces ? utils::IteratorType::reduction : utils::IteratorType::parallel);
      if (!reduces) {
        kept.push_back(expr);
        shape.push_back(range);
      }
      return expr;
    };
    for (unsigned dim = 0; dim < ranges.size(); ++dim) {
      if (dim != cut.dim) {
        replacements.push_back(add(isReduction(dim) && dim > cut.dim, ranges[dim]));
        continue;
      }
      AffineExpr part = add(/*reduces=*/false, cut.parts);
      inner = loops.size();
      replacements.push_back(part * cut.size + add(/*reduces=*/true, cut.size));
    }
    Value neutral = arith::ConstantOp::create(rewriter, loc, *arith::getNeutralElement(combiner));
    AffineMap map = AffineMap::get(loops.size(), 0, kept, op.getContext());
    return clone(convoy::filled(rewriter, loc, shape, neutral), map, replacements, loops, inner,
                 cut.size)
        .getResult(0);
  }

  /// Whether partial results are summed in f64: f32 sums on the CPU, whose loops add sequentially.
  /// A GPU's threads add in trees.
  bool isWide() const {
    return isa<arith::AddFOp>(combiner) && combiner->getResult(0).getType().isF32() &&
           convoy::tcp::getTarget(function) == convoy::tcp::Target::Cpu;
  }

  /// Reduces the partial results into `init`.
  Value join(Value partial, Value init, SmallVectorImpl<linalg::GenericOp> &todo) {
    return reduce(partial, init, todo, [&](OpBuilder &builder, Location inner, ValueRange args) {
      Operation *copy = builder.insert(combiner->cloneWithoutRegions());
      copy->setOperands({args[1], args[0]});
      linalg::YieldOp::create(builder, inner, copy->getResult(0));
    });
  }

  /// Like `join`, in f64: an f32 sum of a thousand partial sums may lose 2^-24 a thousand times.
  Value joinWide(Value partial, Value init, SmallVectorImpl<linalg::GenericOp> &todo) {
    auto type = cast<RankedTensorType>(init.getType());
    Type f64 = rewriter.getF64Type();
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getF64FloatAttr(0));
    Value sum = reduce(partial, convoy::filled(rewriter, loc, type.getShape(), zero), todo,
                       [&](OpBuilder &builder, Location inner, ValueRange args) {
                         Value wide = arith::ExtFOp::create(builder, inner, f64, args[0]);
                         linalg::YieldOp::create(
                             builder, inner,
                             arith::AddFOp::create(builder, inner, args[1], wide).getResult());
                       });
    return convoy::broadcastGeneric(
        rewriter, loc, type, {sum, init}, [&](OpBuilder &builder, Location inner, ValueRange args) {
          Value wide = arith::AddFOp::create(builder, inner, args[0],
                                             arith::ExtFOp::create(builder, inner, f64, args[1]));
          return arith::TruncFOp::create(builder, inner, type.getElementType(), wide).getResult();
        });
  }

  /// A generic that reduces the split dims of `partial` into `init`.
  Value reduce(Value partial, Value init, SmallVectorImpl<linalg::GenericOp> &todo,
               function_ref<void(OpBuilder &, Location, ValueRange)> body) {
    SmallVector<AffineExpr> replacements(ranges.size());
    SmallVector<utils::IteratorType> loops;
    for (unsigned dim = 0; dim < ranges.size(); ++dim) {
      if (isReduction(dim) && dim > cut.dim)
        continue;
      replacements[dim] = rewriter.getAffineDimExpr(loops.size());
      loops.push_back(iterators[dim]);
    }
    for (AffineExpr &expr : replacements)
      if (!expr)
        expr = rewriter.getAffineConstantExpr(0); // not a loop of the result
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0))
                           .replaceDimsAndSymbols(replacements, {}, loops.size(), 0);
    auto joined = linalg::GenericOp::create(
        rewriter, loc, TypeRange(init.getType()), ValueRange(partial), ValueRange(init),
        ArrayRef{rewriter.getMultiDimIdentityMap(loops.size()), result}, loops, body);
    todo.push_back(joined);
    return joined.getResult(0);
  }

  /// Reduces the iterations after the last part into `init`.
  linalg::GenericOp leftOver(Value init) {
    SmallVector<AffineExpr> replacements;
    for (unsigned dim = 0; dim < ranges.size(); ++dim)
      replacements.push_back(rewriter.getAffineDimExpr(dim) +
                             (dim == cut.dim ? cut.parts * cut.size : 0));
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    return clone(init, map, replacements, iterators, cut.dim, cut.rest);
  }

  IRRewriter &rewriter;
  linalg::GenericOp op;
  Location loc;
  ReductionCut cut;
  SmallVector<int64_t> ranges;
  SmallVector<utils::IteratorType> iterators;
  Operation *combiner;
  func::FuncOp function;
};

} // namespace

void SplitReductionsPass::runOnOperation() {
  SmallVector<linalg::GenericOp> todo;
  getOperation().walk([&](linalg::GenericOp op) { todo.push_back(op); });
  IRRewriter rewriter(&getContext());
  while (!todo.empty())
    if (linalg::GenericOp op = todo.pop_back_val(); shouldSplit(op))
      Splitter(rewriter, op).run(todo);
}
