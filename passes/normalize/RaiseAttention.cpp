// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds attention that a model writes out as products and a softmax, and simplifies what attention
// reads: masks that are causal or a window, heads that are repeated.

#include "dialect/tcp/TcpShapes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/common/Groups.h"
#include "passes/common/Program.h"
#include "passes/fusion/Attention.h"
#include "passes/normalize/AttentionMask.h"
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

/// What is added to the scores, and the shape of the scores there: they may be reshaped on their
/// way, but for rows and columns.
struct MaskTerm {
  Value mask;
  SmallVector<int64_t> shape;
  /// For scores that a select replaces: whether the condition `mask` is true for those that stay,
  /// and what replaces the others.
  bool kept = false;
  FloatAttr fill;
};

/// The scores of attention as they are written out. With a softcap `c` a product `s`, which `scale`
/// multiplies, becomes `c * tanh(s / c)` before the terms.
struct Scores {
  MatmulOp product;
  double scale = 1;
  std::optional<double> softcap;
  SmallVector<MaskTerm> terms;
};

/// The shape of the scores with one batch dim and one of heads.
using ScoresShape = SmallVector<int64_t>;

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

/// Whether `op` changes only the dims before the last two.
static bool keepsRows(ReshapeOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getInput()), to = shapeOf(op);
  return from.size() >= 2 && to.size() >= 2 && from.take_back(2) == to.take_back(2);
}

static int64_t widthOf(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

/// The operand of `op` that it scales by a number, which `scale` is multiplied by; null if it does
/// not, or if the number is not positive: kernels compute the maximum of a row before they scale
/// it.
static Value scaledOperand(Operation *op, double &scale) {
  if (!isa_and_present<MulOp, DivOp>(op))
    return {};
  for (int64_t i : {0, 1}) {
    FloatAttr number = numberOf(op->getOperand(1 - i));
    if (!number || (isa<DivOp>(op) && i == 1) ||
        shapeOf(op->getOperand(i)) != shapeOf(op->getResult(0)))
      continue;
    double value = number.getValueAsDouble();
    value = isa<DivOp>(op) ? 1 / value : value;
    if (!std::isfinite(value) || value <= 0)
      continue;
    scale *= value;
    return op->getOperand(i);
  }
  return {};
}

/// A mask of scores of `shape`, before it is repeated for each head and the batch is one dim.
static MaskTerm termOf(Value mask, ArrayRef<int64_t> shape) {
  MaskTerm term{mask, SmallVector<int64_t>(shape), false, {}};
  auto reshape = mask.getDefiningOp<ReshapeOp>();
  auto broadcast = reshape ? reshape.getInput().getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!broadcast || !keepsRows(reshape) ||
      shapeOf(broadcast.getInput()).take_back(2) != shapeOf(mask).take_back(2) ||
      shapeOf(mask).drop_back(2) != shape.drop_back(2))
    return term;
  term.mask = broadcast.getInput();
  term.shape.assign(shapeOf(broadcast).begin(), std::prev(shapeOf(broadcast).end(), 2));
  llvm::append_range(term.shape, shape.take_back(2));
  return term;
}

/// Finds the scores that `x` is. Nothing else uses them.
static std::optional<Scores> scoresOf(Value x) {
  Operation *op = x.getDefiningOp();
  if (!op || !x.hasOneUse() || !isFloat(x))
    return std::nullopt;
  if (auto product = dyn_cast<MatmulOp>(op))
    return Scores{product, 1, std::nullopt, {}};
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return keepsRows(reshape) ? scoresOf(reshape.getInput()) : std::nullopt;
  if (auto cast = dyn_cast<CastOp>(op)) {
    // A cast to a narrower type rounds.
    bool widens = isFloat(cast.getInput()) && widthOf(cast.getInput()) <= widthOf(x);
    return widens ? scoresOf(cast.getInput()) : std::nullopt;
  }
  double scale = 1;
  if (Value input = scaledOperand(op, scale)) {
    std::optional<Scores> found = scoresOf(input);
    // What was added before is scaled too.
    if (!found || !found->terms.empty())
      return std::nullopt;
    found->scale *= scale;
    if (found->softcap)
      *found->softcap *= scale;
    return found;
  }
  if (auto tanh = dyn_cast<TanhOp>(op)) {
    std::optional<Scores> found = scoresOf(tanh.getInput());
    if (!found || found->softcap || !found->terms.empty())
      return std::nullopt;
    found->softcap = 1;
    return found;
  }
  SmallVector<int64_t> shape(shapeOf(x));
  auto with = [&](Value operand, MaskTerm term) -> std::optional<Scores> {
    if (shapeOf(operand) != ArrayRef(shape))
      return std::nullopt;
    std::optional<Scores> found = scoresOf(operand);
    if (found)
      found->terms.push_back(std::move(term));
    return found;
  };
  if (auto add = dyn_cast<AddOp>(op)) {
    if (auto found = with(add.getLhs(), termOf(add.getRhs(), shape)))
      return found;
    return with(add.getRhs(), termOf(add.getLhs(), shape));
  }
  if (auto select = dyn_cast<SelectOp>(op)) {
    MaskTerm term = termOf(select.getCondition(), shape);
    term.fill = numberOf(select.getOnFalse());
    term.kept = static_cast<bool>(term.fill);
    if (!term.fill)
      term.fill = numberOf(select.getOnTrue());
    if (term.fill)
      return with(term.kept ? select.getOnTrue() : select.getOnFalse(), term);
  }
  return std::nullopt;
}

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

static Value reshapeTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return builder.createOrFold<ReshapeOp>(loc, withShape(value.getType(), shape), value);
}

static Value broadcastTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return BroadcastOp::create(builder, loc, withShape(value.getType(), shape), value);
}

/// An operand that broadcasts to scores of shape `term.shape`, with four dims, which broadcast to
/// `scores`.
static Value maskWithHeads(OpBuilder &builder, Location loc, Value mask, ArrayRef<int64_t> shape,
                           const ScoresShape &scores) {
  SmallVector<int64_t> rows(shapeOf(mask).take_back(2));
  ArrayRef<int64_t> own = shapeOf(mask).drop_back(2), batch = shape.drop_back(2);
  auto with = [&](int64_t first, int64_t second) {
    return reshapeTo(builder, loc, mask, {first, second, rows[0], rows[1]});
  };
  if (ShapedType::getNumElements(own) == 1)
    return with(1, 1);
  // Whether the batch is the first dims, so that the dims of each are broadcast on their own.
  int64_t split = 0, product = 1;
  while (split < static_cast<int64_t>(batch.size()) && product < scores[0])
    product *= batch[split++];
  bool isSplit = product == scores[0];
  SmallVector<int64_t> full(isSplit ? own : batch);
  bool images = true, heads = true;
  if (isSplit) {
    auto isMany = [](ArrayRef<int64_t> sizes) { return ShapedType::getNumElements(sizes) != 1; };
    images = isMany(own.take_front(split));
    heads = isMany(own.drop_front(split));
    if (images)
      std::copy_n(batch.begin(), split, full.begin());
    if (heads)
      std::copy(batch.begin() + split, batch.end(), full.begin() + split);
  }
  llvm::append_range(full, rows);
  mask = broadcastTo(builder, loc, mask, full);
  return with(images ? scores[0] : 1, heads ? scores[1] : 1);
}

/// Whether a select of scores and `fill` is the same as the sum of the scores and zero or `fill`.
static bool isSum(const MaskTerm &term) {
  const APFloat fill = term.fill.getValue();
  // In f16 a score that is added to the lowest number changes it. In a row where all scores are
  // hidden they would then not be equal.
  bool absorbs = hidesScores(fill) && &fill.getSemantics() != &APFloat::IEEEhalf();
  return (fill.isInfinity() && fill.isNegative()) || absorbs;
}

/// The band outside of which a term hides all scores if it does nothing else, or std::nullopt.
static std::optional<Band> bandOf(const MaskTerm &term) {
  if (!term.fill)
    return bandOfMask(term.mask);
  return hidesScores(term.fill.getValue()) ? bandOfCondition(term.mask, term.kept) : std::nullopt;
}

/// The band of all `terms` of scores of `shape`, or std::nullopt if one does anything else.
static std::optional<Band> bandOf(ArrayRef<MaskTerm> terms, const ScoresShape &shape) {
  Band all;
  for (const MaskTerm &term : terms) {
    std::optional<Band> band = shape[2] == shape[3] ? bandOf(term) : std::nullopt;
    if (!band)
      return std::nullopt;
    all = all & *band;
  }
  return all;
}

/// The sum of the terms of scores of `shape` and `dtype`.
static Value maskOf(OpBuilder &builder, Location loc, const Scores &found, const ScoresShape &shape,
                    Type dtype) {
  Value sum;
  for (const MaskTerm &term : found.terms) {
    Value mask = maskWithHeads(builder, loc, term.mask, term.shape, shape);
    if (term.fill) {
      auto number = [&](const APFloat &value) {
        auto type = RankedTensorType::get({1, 1, 1, 1}, dtype);
        return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, value));
      };
      Value zero = number(APFloat::getZero(term.fill.getValue().getSemantics())),
            fill = number(term.fill.getValue());
      mask = SelectOp::create(builder, loc, RankedTensorType::get(shapeOf(mask), dtype), mask,
                              term.kept ? zero : fill, term.kept ? fill : zero);
    }
    if (!sum) {
      sum = mask;
      continue;
    }
    SmallVector<int64_t> both = *broadcastShape({shapeOf(sum), shapeOf(mask)});
    sum = AddOp::create(builder, loc, RankedTensorType::get(both, dtype), sum, mask);
  }
  sum = withoutBroadcast(builder, sum);
  // Two finite numbers may have an infinite sum.
  if (found.terms.size() > 1 || !isNeverInfinite(sum))
    sum = withNanRows(builder, loc, sum);
  return sum;
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
    return reshapeTo(builder, loc, broadcastTo(builder, loc, value, full), four);
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
  op.replaceAllUsesWith(reshapeTo(builder, loc, output, shapeOf(op)));
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
