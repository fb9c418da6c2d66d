// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds attention that a model writes out as products and a softmax, and simplifies what attention
// reads: masks that are causal or a window, heads that are repeated.

#include "dialect/tcp/TcpShapes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/common/Groups.h"
#include "passes/common/Program.h"
#include "passes/fusion/Attention.h"
#include "passes/normalize/AttentionScores.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPRAISEATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct RaiseAttentionPass : public convoy::impl::TcpRaiseAttentionPassBase<RaiseAttentionPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// Replaces products by attention that they are the end of.
class Raiser {
public:
  Raiser(func::FuncOp function, const SupportTable &table)
      : weights(function), builder(function.getContext(), &weights), table(table) {}

  /// Raises `op` if it is `softmax(scores) * value`, in a form that cuDNN computes.
  void raise(MatmulOp op);

private:
  /// Whether `term` can be a mask of scores of `shape` and `dtype`.
  bool isMask(const MaskTerm &term, const ScoresShape &shape, Type dtype);

  WeightValues weights;
  OpBuilder builder;
  const SupportTable &table;
};

} // namespace

/// `value` without the numbers that scale it, below views of it.
static Value withoutScale(OpBuilder &builder, Value value, double &scale) {
  Operation *op = value.getDefiningOp();
  if (Value input = scaledOperand(op, scale))
    return withoutScale(builder, input, scale);
  if (!isa_and_present<TransposeOp, ReshapeOp>(op))
    return value;
  Value input = withoutScale(builder, op->getOperand(0), scale);
  return input == op->getOperand(0) ? value
                                    : cloneWith(builder, op, input, value.getType())->getResult(0);
}

/// The batch and the heads of scores of `shape`: as the dims before the last two of the first of
/// `values` that has two.
static std::pair<int64_t, int64_t> splitBatch(ArrayRef<int64_t> shape, ArrayRef<Value> values) {
  int64_t all = ShapedType::getNumElements(shape.drop_back(2));
  if (shape.size() == 4)
    return {shape[0], shape[1]};
  for (Value value : values) {
    while (value) {
      if (shapeOf(value).size() == 4 && shapeOf(value)[0] * shapeOf(value)[1] == all)
        return {shapeOf(value)[0], shapeOf(value)[1]};
      Operation *op = value.getDefiningOp();
      value = isa_and_present<ReshapeOp, TransposeOp, CastOp>(op) ? op->getOperand(0) : Value();
    }
  }
  return {all, 1};
}

/// Creates attention with the scale and softcap of `scores` and with `band`. `operands` are query,
/// key, value and possibly a mask.
static AttentionOp create(OpBuilder &builder, Location loc, Type type, ValueRange operands,
                          const Scores &scores, const Band &band) {
  return AttentionOp::create(
      builder, loc, type, operands[0], operands[1], operands[2],
      operands.size() == 4 ? operands[3] : Value(), builder.getF64FloatAttr(scores.scale),
      band.causal ? builder.getUnitAttr() : UnitAttr(),
      scores.softcap ? builder.getF64FloatAttr(*scores.softcap) : FloatAttr(),
      band.window ? builder.getI64IntegerAttr(*band.window) : IntegerAttr());
}

/// The reason why cuDNN does not compute attention of operands of these types, also with padding,
/// or std::nullopt.
static std::optional<std::string> refuse(Location loc, ArrayRef<Type> types, Type result,
                                         const Scores &scores, const Band &band,
                                         const SupportTable &table) {
  Block block;
  for (Type type : types)
    block.addArgument(type, loc);
  OpBuilder builder(loc.getContext());
  builder.setInsertionPointToEnd(&block);
  AttentionOp op = create(builder, loc, result, block.getArguments(), scores, band);
  return refuseAttention(op, table) ? refusePaddedAttention(op, table) : std::nullopt;
}

bool Raiser::isMask(const MaskTerm &term, const ScoresShape &shape, Type dtype) {
  Type type = term.fill ? term.fill.getType() : getElementTypeOrSelf(term.mask.getType());
  if (type != dtype || (term.fill && !bandOf(term) && !isSum(term)))
    return false;
  // A mask of each head that depends on an input is as large as the scores, and takes as long.
  ArrayRef<int64_t> batch = shapeOf(term.mask).drop_back(2);
  return weights.contains(term.mask) || shape[1] == 1 || batch.empty() || batch.back() == 1;
}

/// The softmax that `value` is, below casts and reshapes of the batch. Nothing else uses it.
static SoftmaxOp softmaxOf(Value value) {
  while (value.hasOneUse()) {
    if (auto softmax = value.getDefiningOp<SoftmaxOp>())
      return softmax;
    auto reshape = value.getDefiningOp<ReshapeOp>();
    if (!(reshape && keepsRows(reshape)) && !value.getDefiningOp<CastOp>())
      return {};
    value = value.getDefiningOp()->getOperand(0);
  }
  return {};
}

void Raiser::raise(MatmulOp op) {
  SoftmaxOp softmax = softmaxOf(op.getLhs());
  if (!softmax)
    return;
  ArrayRef<int64_t> shape = shapeOf(softmax);
  if (shape.size() < 3 || softmax.getDim() != static_cast<int64_t>(shape.size()) - 1)
    return;
  std::optional<Scores> found = scoresOf(softmax.getInput());
  Type dtype = op.getType().getElementType();
  if (!found || found->product.getType().getElementType() != dtype)
    return;
  MatmulOp product = found->product;
  int64_t images = 0, heads = 0;
  std::tie(images, heads) = splitBatch(shape, {product.getLhs(), product.getRhs(), op.getRhs()});
  // The weights of one image may be those of all values.
  if (ShapedType::getNumElements(shapeOf(op).drop_back(2)) != images * heads)
    return;
  ScoresShape scores = {images, heads, shape[shape.size() - 2], shape.back()};
  if (!llvm::all_of(found->terms,
                    [&](const MaskTerm &term) { return isMask(term, scores, dtype); }))
    return;

  int64_t depth = shapeOf(product.getLhs()).back(), width = shapeOf(op.getRhs()).back();
  auto typeOf = [&](int64_t rows, int64_t columns) {
    return RankedTensorType::get({images, heads, rows, columns}, dtype);
  };
  std::optional<Band> band = bandOf(found->terms, scores);
  bool masked = !band;
  SmallVector<Type> types = {typeOf(scores[2], depth), typeOf(scores[3], depth),
                             typeOf(scores[3], width)};
  if (masked)
    types.push_back(typeOf(scores[2], scores[3]));
  RankedTensorType result = typeOf(scores[2], width);
  if (refuse(op.getLoc(), types, result, *found, band.value_or(Band()), table))
    return;

  Location loc = op.getLoc();
  builder.setInsertionPoint(op);
  auto withHeads = [&](Value value, MatmulOp of) {
    SmallVector<int64_t> full(shapeOf(of).drop_back(2)), four = {images, heads};
    llvm::append_range(full, shapeOf(value).take_back(2));
    llvm::append_range(four, shapeOf(value).take_back(2));
    return reshapedTo(builder, loc, broadcastedTo(builder, loc, value, full), four);
  };
  Value query = withHeads(withoutScale(builder, product.getLhs(), found->scale), product);
  Value columns = withoutScale(builder, product.getRhs(), found->scale);
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(columns).size()));
  SmallVector<int64_t> swapped(shapeOf(columns));
  std::swap(perm[perm.size() - 2], perm.back());
  std::swap(swapped[perm.size() - 2], swapped.back());
  Value key = withHeads(
      builder.createOrFold<TransposeOp>(loc, withShape(columns.getType(), swapped), columns, perm),
      product);
  Value value = withHeads(op.getRhs(), op);
  SmallVector<Value> operands = {query, key, value};
  if (masked)
    operands.push_back(maskOf(builder, loc, *found, scores, dtype));
  Value output = create(builder, loc, result, operands, *found, band.value_or(Band()));
  op.replaceAllUsesWith(reshapedTo(builder, loc, output, shapeOf(op)));
  op.erase();
}

namespace {

/// A causal mask and a window are attributes. A mask of zeros is none. Others are broadcast by the
/// op.
struct SimplifyMask : public OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    if (!op.getMask())
      return rewriter.notifyMatchFailure(op, "has no mask");
    FloatAttr number = numberOf(op.getMask());
    if (number && number.getValue().isZero()) {
      rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
      return success();
    }
    if (Value mask = withoutBroadcast(rewriter, op.getMask()); mask != op.getMask()) {
      rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().assign(mask); });
      return success();
    }
    if (shapeOf(op.getQuery())[2] != shapeOf(op.getKey())[2])
      return rewriter.notifyMatchFailure(op, "the scores are not square");
    std::optional<Band> band = bandOfMask(op.getMask());
    std::optional<MaskInBand> part = band ? std::nullopt : withoutBand(rewriter, op.getMask());
    if (!band && !part)
      return rewriter.notifyMatchFailure(op, "the mask is not known to be causal or a window");
    if (part)
      band = part->band;
    if (op.getWindowAttr())
      band = *band & Band{false, op.getWindowAttr().getInt()};
    rewriter.modifyOpInPlace(op, [&] {
      op.getMaskMutable().clear();
      if (part)
        op.getMaskMutable().assign(part->mask);
      op.setCausal(op.getCausal() || band->causal);
      op.setWindow(band->window);
    });
    return success();
  }
};

/// Heads of key and value that are repeated are shared.
struct ShareHeads : public OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    Value key = withoutRepeats(op.getKey()), value = withoutRepeats(op.getValue());
    if (!key || !value || shapeOf(key)[1] != shapeOf(value)[1])
      return rewriter.notifyMatchFailure(op, "key and value do not repeat the same heads");
    rewriter.modifyOpInPlace(op, [&] {
      op.getKeyMutable().assign(key);
      op.getValueMutable().assign(value);
    });
    return success();
  }

private:
  /// `value` without repeats of its heads; null if there are none.
  static Value withoutRepeats(Value value) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    auto broadcast = (reshape ? reshape.getInput() : value).getDefiningOp<BroadcastOp>();
    if (!broadcast)
      return {};
    ArrayRef<int64_t> from = shapeOf(broadcast.getInput()), to = shapeOf(broadcast),
                      shape = shapeOf(value);
    // One head, as B x 1 x N x D.
    if (!reshape && from.size() == 4 && from[0] == to[0] && from[1] == 1 &&
        from.take_back(2) == to.take_back(2))
      return broadcast.getInput();
    // Each head several times in turn, as B x G x 1 x N x D.
    if (!reshape || from.size() != 5 || from[2] != 1 || from.take_front(2) != to.take_front(2) ||
        from.take_back(2) != to.take_back(2) || shape.take_back(2) != to.take_back(2) ||
        shape[0] != to[0])
      return {};
    auto before = broadcast.getInput().getDefiningOp<ReshapeOp>();
    SmallVector<int64_t> heads = {from[0], from[1], from[3], from[4]};
    return before && shapeOf(before.getInput()) == ArrayRef(heads) ? before.getInput() : Value();
  }
};

} // namespace

void RaiseAttentionPass::runOnStaticShapes() {
  if (getTarget(getOperation()) == Target::Cuda) {
    SmallVector<MatmulOp> products;
    // A group in the input keeps its ops.
    getOperation().walk([&](MatmulOp op) {
      if (!isa<IsolatedGroupOp>(op->getParentOp()))
        products.push_back(op);
    });
    // Reading the table's text takes time.
    if (llvm::any_of(products, [](MatmulOp op) { return softmaxOf(op.getLhs()); })) {
      std::string error;
      std::optional<SupportTable> table = SupportTable::load(supportTable, allowTf32, error);
      if (!table) {
        getOperation().emitError(error);
        return signalPassFailure();
      }
      Raiser raiser(getOperation(), *table);
      for (MatmulOp op : products)
        raiser.raise(op);
    }
  }
  RewritePatternSet patterns(&getContext());
  patterns.add<SimplifyMask, ShareHeads>(&getContext());
  ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
  TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
    signalPassFailure();
}
