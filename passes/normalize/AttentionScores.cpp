// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/normalize/AttentionScores.h"
#include "dialect/tcp/TcpShapes.h"
#include "passes/common/Groups.h"
#include "passes/normalize/Weights.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

bool convoy::keepsRows(ReshapeOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getInput()), to = shapeOf(op);
  return from.size() >= 2 && to.size() >= 2 && from.take_back(2) == to.take_back(2);
}

static int64_t widthOf(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

Value convoy::scaledOperand(Operation *op, double &scale) {
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

std::optional<Scores> convoy::scoresOf(Value x) {
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

Value convoy::reshapedTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return builder.createOrFold<ReshapeOp>(loc, withShape(value.getType(), shape), value);
}

Value convoy::broadcastedTo(OpBuilder &builder, Location loc, Value value,
                            ArrayRef<int64_t> shape) {
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
    return reshapedTo(builder, loc, mask, {first, second, rows[0], rows[1]});
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
  mask = broadcastedTo(builder, loc, mask, full);
  return with(images ? scores[0] : 1, heads ? scores[1] : 1);
}

bool convoy::isSum(const MaskTerm &term) {
  const APFloat fill = term.fill.getValue();
  // In f16 a score that is added to the lowest number changes it. In a row where all scores are
  // hidden they would then not be equal.
  bool absorbs = hidesScores(fill) && &fill.getSemantics() != &APFloat::IEEEhalf();
  return (fill.isInfinity() && fill.isNegative()) || absorbs;
}

std::optional<Band> convoy::bandOf(const MaskTerm &term) {
  if (!term.fill)
    return bandOfMask(term.mask);
  return hidesScores(term.fill.getValue()) ? bandOfCondition(term.mask, term.kept) : std::nullopt;
}

std::optional<Band> convoy::bandOf(ArrayRef<MaskTerm> terms, const ScoresShape &shape) {
  Band all;
  for (const MaskTerm &term : terms) {
    std::optional<Band> band = shape[2] == shape[3] ? bandOf(term) : std::nullopt;
    if (!band)
      return std::nullopt;
    all = all & *band;
  }
  return all;
}

Value convoy::maskOf(OpBuilder &builder, Location loc, const Scores &found,
                     const ScoresShape &shape, Type dtype) {
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
