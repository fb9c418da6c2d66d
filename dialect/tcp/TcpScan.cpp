// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The verifier and the canonicalizations of tcp.scan.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

LogicalResult ScanOp::verify() {
  int64_t trips = getTrips();
  // scan_c1
  if (trips < 1)
    return emitOpError("expects 'trips' of at least 1, but got ") << trips;
  // scan_c2
  for (Value value : getSliced())
    if (shapeOf(value).empty() ||
        (shapeOf(value).front() != trips && ShapedType::isStatic(shapeOf(value).front())))
      return emitOpError("expects sliced operands with ")
             << trips << " elements along dim 0, but got " << value.getType();
  // scan_c3
  SmallVector<Type> arguments(getCarried().getTypes());
  for (Value value : getSliced()) {
    auto type = cast<RankedTensorType>(value.getType());
    arguments.push_back(type.clone(type.getShape().drop_front()));
  }
  llvm::append_range(arguments, getInvariant().getTypes());
  if (getBody().getArgumentTypes() != TypeRange(arguments))
    return emitOpError("expects block arguments of types ")
           << arguments << ", but got " << getBody().getArgumentTypes();
  // scan_c4
  if (!isa<YieldOp>(getBody().front().back()))
    return emitOpError("expects a body that ends in 'tcp.yield'");
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  // scan_c4
  TypeRange yielded = getYield()->getOperandTypes(), state = getCarried().getTypes();
  if (yielded.size() < state.size() || yielded.take_front(state.size()) != state)
    return emitOpError("expects 'tcp.yield' with the state's types first: ")
           << state << ", but got " << yielded;
  // scan_c5
  SmallVector<Type> results(state);
  for (Type type : yielded.drop_front(state.size()))
    results.push_back(stackedType(type, getTrips()));
  if (getOutputs().getTypes() != TypeRange(results))
    return emitOpError("expects results of types ")
           << results << ", but got " << getOutputs().getTypes();
  return success();
}

namespace {

/// The operands of a scan.
struct Operands {
  SmallVector<Value> carried, sliced, invariant;

  explicit Operands(ScanOp op)
      : carried(op.getCarried()), sliced(op.getSliced()), invariant(op.getInvariant()) {}
};

/// Replaces `op` by a scan of `operands` and its body, in which block arguments and yielded values
/// are changed already. `kept` has the indices of the results that remain.
void replaceScan(PatternRewriter &rewriter, ScanOp op, const Operands &operands,
                 ArrayRef<unsigned> kept) {
  SmallVector<Type> types =
      llvm::map_to_vector(kept, [&](unsigned i) { return op.getResult(i).getType(); });
  auto scan = ScanOp::create(rewriter, op.getLoc(), types, operands.carried, operands.sliced,
                             operands.invariant, op.getTrips(), op.getReverse());
  scan->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getBody(), scan.getBody(), scan.getBody().end());
  for (auto [from, to] : llvm::zip_equal(kept, scan.getResults()))
    rewriter.replaceAllUsesWith(op.getResult(from), to);
  rewriter.eraseOp(op);
}

/// A scan of one step is its body.
struct InlineOneStep : public OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    if (op.getTrips() != 1)
      return rewriter.notifyMatchFailure(op, "has several steps");
    // A reshape does not determine several `?`.
    auto isStatic = [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); };
    if (!llvm::all_of(op.getSliced().getTypes(), isStatic) ||
        !llvm::all_of(op.getStacked().getTypes(), isStatic))
      return rewriter.notifyMatchFailure(op, "has slices of unknown shape");
    auto reshape = [&](Value value, Type type) -> Value {
      return ReshapeOp::create(rewriter, op.getLoc(), type, value);
    };
    SmallVector<Value> arguments(op.getCarried());
    for (auto [value, argument] : llvm::zip_equal(op.getSliced(), op.getSlicedArgs()))
      arguments.push_back(reshape(value, argument.getType()));
    llvm::append_range(arguments, op.getInvariant());
    Operation *yield = op.getYield();
    SmallVector<Value> results(yield->getOperands());
    rewriter.inlineBlockBefore(&op.getBody().front(), op, arguments);
    rewriter.eraseOp(yield);
    for (auto [result, type] :
         llvm::drop_begin(llvm::zip_equal(results, op.getResultTypes()), op.getCarried().size()))
      result = reshape(result, type);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Removes stacked results and operands that nothing uses.
struct RemoveUnused : public OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    unsigned state = op.getCarried().size(), sliced = op.getSliced().size();
    SmallVector<unsigned> kept;
    llvm::BitVector unused(op.getBody().getNumArguments());
    for (OpResult result : op.getResults())
      if (result.getResultNumber() < state || !result.use_empty())
        kept.push_back(result.getResultNumber());
    for (BlockArgument argument : op.getBody().getArguments().drop_front(state))
      if (argument.use_empty())
        unused.set(argument.getArgNumber());
    if (kept.size() == op.getNumResults() && unused.none())
      return rewriter.notifyMatchFailure(op, "every stacked result and operand is used");
    Operands operands(op);
    // A name, because llvm::reverse refers to its argument.
    SmallVector<unsigned> dropped = llvm::to_vector(unused.set_bits());
    for (unsigned i : llvm::reverse(dropped)) {
      auto &list = i < state + sliced ? operands.sliced : operands.invariant;
      list.erase(list.begin() + (i < state + sliced ? i - state : i - state - sliced));
    }
    Operation *yield = op.getYield();
    rewriter.modifyOpInPlace(yield, [&] {
      yield->setOperands(
          llvm::map_to_vector(kept, [&](unsigned i) { return yield->getOperand(i); }));
    });
    rewriter.modifyOpInPlace(op, [&] { op.getBody().front().eraseArguments(unused); });
    replaceScan(rewriter, op, operands, kept);
    return success();
  }
};

/// Moves what depends only on invariant operands before the scan: it is computed once, and, if the
/// operands are weights, when they are prepared.
struct HoistInvariant : public OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    IRMapping outside;
    outside.map(op.getInvariantArgs(), op.getInvariant());
    SmallVector<Operation *> found;
    for (Operation &each : body.without_terminator()) {
      auto isConstant = [](Value value) { return matchPattern(value, m_Constant()); };
      bool isInvariant = !llvm::all_of(each.getOperands(), isConstant) &&
                         llvm::all_of(each.getOperands(), [&](Value operand) {
                           return outside.contains(operand) || isConstant(operand);
                         });
      if (!isInvariant || !isMemoryEffectFree(&each))
        continue;
      for (Value operand : each.getOperands())
        if (!outside.contains(operand))
          rewriter.clone(*operand.getDefiningOp(), outside);
      rewriter.clone(each, outside);
      found.push_back(&each);
    }
    if (found.empty())
      return rewriter.notifyMatchFailure(op, "each op depends on the step");
    Operands operands(op);
    for (Operation *each : llvm::reverse(found)) {
      for (Value result : each->getResults())
        if (!result.use_empty()) {
          operands.invariant.push_back(outside.lookup(result));
          rewriter.replaceAllUsesWith(result, body.addArgument(result.getType(), result.getLoc()));
        }
      rewriter.eraseOp(each);
    }
    replaceScan(rewriter, op, operands,
                llvm::to_vector(llvm::seq<unsigned>(0, op.getNumResults())));
    return success();
  }
};

} // namespace

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<InlineOneStep, RemoveUnused, HoistInvariant>(context);
}
