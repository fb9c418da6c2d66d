// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/normalize/AttentionMask.h"
#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/common/Groups.h"
#include "passes/normalize/Weights.h"

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

/// `value` before ops that only repeat it along other dims than the last two, or change its type.
static Value withoutRepeats(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<CastOp, ReshapeOp, BroadcastOp>(op))
      break;
    ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(value);
    if (from.size() < 2 || to.size() < 2 || from.take_back(2) != to.take_back(2))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The dim of `value` whose index its elements are, or std::nullopt.
static std::optional<int64_t> indexDim(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  auto iota = value.getDefiningOp<IotaOp>();
  if (!iota || shapeOf(iota)[iota.getDim().getZExtValue()] != ShapedType::getNumElements(shape))
    return std::nullopt;
  // Its only dim of more than one element.
  const int64_t *found = llvm::find_if(shape, [](int64_t size) { return size != 1; });
  if (found == shape.end())
    return std::nullopt;
  return found - shape.begin();
}

/// The number that all elements of `value` are, or std::nullopt.
static std::optional<int64_t> integerOf(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(withoutRepeats(value), m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APInt>().getSExtValue();
}

namespace {

/// An index, and a number that is added to it.
struct Position {
  int64_t dim, offset;
};

} // namespace

/// Offsets and sizes up to this limit have sums and differences in i32.
static constexpr int64_t kMostOffset = int64_t(1) << 29;

/// The position that `value` is, or std::nullopt.
static std::optional<Position> positionOf(Value value) {
  if (std::optional<int64_t> dim = indexDim(value))
    return Position{*dim, 0};
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<AddOp, SubOp>(op) ||
      getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() < 32)
    return std::nullopt;
  std::optional<int64_t> dim = indexDim(op->getOperand(0)), offset = integerOf(op->getOperand(1));
  if (isa<AddOp>(op) && !dim) {
    dim = indexDim(op->getOperand(1));
    offset = integerOf(op->getOperand(0));
  }
  if (!dim || !offset || std::abs(*offset) > kMostOffset || shapeOf(value)[*dim] > kMostOffset)
    return std::nullopt;
  return Position{*dim, isa<AddOp>(op) ? *offset : -*offset};
}

Band Band::operator&(const Band &other) const {
  Band both = {causal || other.causal, window ? window : other.window};
  if (window && other.window)
    both.window = std::min(*window, *other.window);
  return both;
}

/// The band where `compare` is true (`kept`) or false (not `kept`).
static std::optional<Band> bandOfCompare(CompareOp compare, bool kept) {
  ArrayRef<int64_t> shape = shapeOf(compare);
  auto rank = static_cast<int64_t>(shape.size());
  if (rank < 2 || shape[rank - 1] != shape[rank - 2])
    return std::nullopt;
  std::optional<Position> lhs = positionOf(compare.getLhs()), rhs = positionOf(compare.getRhs());
  if (!lhs || !rhs)
    return std::nullopt;
  // The row minus the column is at least `bound`, or at most.
  ComparePredicate predicate = compare.getPredicate();
  bool isGreater = predicate == ComparePredicate::Ge || predicate == ComparePredicate::Gt,
       isEqual = predicate == ComparePredicate::Ge || predicate == ComparePredicate::Le;
  if (!isGreater && predicate != ComparePredicate::Le && predicate != ComparePredicate::Lt)
    return std::nullopt;
  if (!kept) {
    isGreater = !isGreater;
    isEqual = !isEqual;
  }
  int64_t bound = rhs->offset - lhs->offset;
  if (lhs->dim == rank - 1 && rhs->dim == rank - 2) {
    isGreater = !isGreater;
    bound = -bound;
  } else if (lhs->dim != rank - 2 || rhs->dim != rank - 1) {
    return std::nullopt;
  }
  if (!isEqual)
    bound += isGreater ? 1 : -1;
  int64_t last = shape[rank - 1] - 1;
  if (isGreater ? bound <= -last : bound >= last)
    return Band{};
  if (isGreater)
    return bound == 0 ? std::optional(Band{true, std::nullopt}) : std::nullopt;
  return bound >= 0 ? std::optional(Band{false, bound + 1}) : std::nullopt;
}

/// The two bools of which `op` is the and (`isAnd`) or the or; null if it is none.
static std::pair<Value, Value> boolsOf(Operation *op, bool isAnd) {
  if (isAnd ? isa_and_present<BitwiseAndOp>(op) : isa_and_present<BitwiseOrOp>(op))
    return {op->getOperand(0), op->getOperand(1)};
  // aten.logical_and is a select.
  auto select = dyn_cast_or_null<SelectOp>(op);
  if (!select || (isAnd ? select.getOnFalse() : select.getOnTrue()) != select.getCondition())
    return {};
  return {select.getCondition(), isAnd ? select.getOnTrue() : select.getOnFalse()};
}

std::optional<Band> bandOfCondition(Value condition, bool kept) {
  condition = withoutRepeats(condition);
  if (auto compare = condition.getDefiningOp<CompareOp>())
    return bandOfCompare(compare, kept);
  auto [first, second] = boolsOf(condition.getDefiningOp(), kept);
  std::optional<Band> lhs = first ? bandOfCondition(first, kept) : std::nullopt,
                      rhs = lhs ? bandOfCondition(second, kept) : std::nullopt;
  return rhs ? std::optional(*lhs & *rhs) : std::nullopt;
}

/// Masks are a few ops. A limit bounds the time where values are used several times.
static constexpr int kMostOps = 6;

/// The shape of `value` without broadcasts.
static SmallVector<int64_t> ownShape(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<BroadcastOp>(op))
    return ownShape(op->getOperand(0), depth);
  if (!op || !op->hasTrait<convoy::tcp::Elementwise>() || depth == kMostOps)
    return SmallVector<int64_t>(shapeOf(value));
  SmallVector<SmallVector<int64_t>> shapes = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return ownShape(operand, depth + 1); });
  return *broadcastShape(llvm::map_to_vector(
      shapes, [](const SmallVector<int64_t> &shape) { return ArrayRef(shape); }));
}

static Value withoutBroadcast(OpBuilder &builder, Value value, int depth) {
  SmallVector<int64_t> shape = ownShape(value, depth);
  if (ArrayRef(shape) == shapeOf(value))
    return value;
  Operation *op = value.getDefiningOp();
  if (isa<BroadcastOp>(op))
    return withoutBroadcast(builder, op->getOperand(0), depth);
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return withoutBroadcast(builder, operand, depth + 1);
  });
  return cloneWith(builder, op, operands, withShape(value.getType(), shape))->getResult(0);
}

Value withoutBroadcast(OpBuilder &builder, Value mask) {
  return withoutBroadcast(builder, mask, 0);
}

bool hidesScores(const APFloat &number) {
  // The exponential of a score that is 2^15 below another one is 0. Scores of wider types have a
  // range of their own, of which only the lowest numbers are out of reach.
  APFloat limit = APFloat::getLargest(number.getSemantics(), /*Negative=*/true);
  limit = scalbn(limit, -1, APFloat::rmNearestTiesToEven);
  return number.isNegative() && !number.isNaN() && number <= limit;
}

namespace {

/// A mask that is zero where `condition` is `kept`, and `fill` elsewhere.
struct Selection {
  Value condition;
  bool kept;
  APFloat fill;
};

} // namespace

/// The selection that `mask` is, or std::nullopt.
static std::optional<Selection> selectionOf(Value mask) {
  auto select = withoutRepeats(mask).getDefiningOp<SelectOp>();
  if (!select)
    return std::nullopt;
  FloatAttr onTrue = numberOf(select.getOnTrue()), onFalse = numberOf(select.getOnFalse());
  if (!onTrue || !onFalse)
    return std::nullopt;
  bool kept = onTrue.getValue().isZero();
  if (!kept && !onFalse.getValue().isZero())
    return std::nullopt;
  return Selection{select.getCondition(), kept, (kept ? onFalse : onTrue).getValue()};
}

std::optional<Band> bandOfMask(Value mask) {
  std::optional<Selection> selection = selectionOf(mask);
  if (!selection || !hidesScores(selection->fill))
    return std::nullopt;
  return bandOfCondition(selection->condition, selection->kept);
}

/// Adds the conditions of which `condition` is the and (`kept`) or the or to `parts`, without
/// broadcasts.
static void addConditions(Value condition, bool kept, SmallVectorImpl<Value> &parts) {
  while (auto broadcast = condition.getDefiningOp<BroadcastOp>())
    condition = broadcast.getInput();
  auto [first, second] = boolsOf(condition.getDefiningOp(), kept);
  if (!first)
    return parts.push_back(condition);
  addConditions(first, kept, parts);
  addConditions(second, kept, parts);
}

std::optional<MaskInBand> withoutBand(OpBuilder &builder, Value mask) {
  std::optional<Selection> selection = selectionOf(mask);
  // If all scores of a row have a finite sum with it, they matter again.
  if (!selection || !selection->fill.isInfinity() || !selection->fill.isNegative())
    return std::nullopt;
  bool kept = selection->kept;
  SmallVector<Value> parts, others;
  addConditions(selection->condition, kept, parts);
  Band band;
  for (Value part : parts)
    if (std::optional<Band> found = bandOfCondition(part, kept))
      band = band & *found;
    else
      others.push_back(part);
  auto type = cast<RankedTensorType>(mask.getType());
  bool fits = llvm::all_of(others, [&](Value other) {
    return cast<RankedTensorType>(other.getType()).getRank() == type.getRank();
  });
  if (others.empty() || others.size() == parts.size() || !fits)
    return std::nullopt;
  Location loc = mask.getLoc();
  Value rest = others.front();
  for (Value other : ArrayRef(others).drop_front()) {
    SmallVector<int64_t> shape = *broadcastShape({shapeOf(rest), shapeOf(other)});
    rest = SelectOp::create(builder, loc, RankedTensorType::get(shape, builder.getI1Type()), rest,
                            kept ? other : rest, kept ? rest : other);
  }
  auto number = [&](bool isZero) {
    const llvm::fltSemantics &semantics =
        cast<FloatType>(type.getElementType()).getFloatSemantics();
    SmallVector<int64_t> one(type.getRank(), 1);
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(withShape(type, one),
                               isZero ? APFloat::getZero(semantics)
                                      : APFloat::getInf(semantics, /*Negative=*/true)));
  };
  rest = SelectOp::create(builder, loc, withShape(type, shapeOf(rest)), rest, number(kept),
                          number(!kept));
  return MaskInBand{band, rest};
}

bool isNeverInfinite(Value mask) {
  if (FloatAttr number = numberOf(mask))
    return !number.getValue().isInfinity();
  Operation *op = mask.getDefiningOp();
  if (!op)
    return false;
  if (isa<ReshapeOp, BroadcastOp, TransposeOp, SliceOp>(op))
    return isNeverInfinite(op->getOperand(0));
  if (auto select = dyn_cast<SelectOp>(op))
    return isNeverInfinite(select.getOnTrue()) && isNeverInfinite(select.getOnFalse());
  return false;
}

Value withNanRows(OpBuilder &builder, Location loc, Value mask) {
  auto type = cast<RankedTensorType>(mask.getType());
  int64_t last = type.getRank() - 1;
  SmallVector<int64_t> rows(type.getShape()), one(type.getRank(), 1);
  rows[last] = 1;
  auto number = [&](APFloat value) {
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(withShape(type, one), value));
  };
  const llvm::fltSemantics &semantics = cast<FloatType>(type.getElementType()).getFloatSemantics();
  Value most = ReduceMaxOp::create(builder, loc, withShape(type, rows), mask, ArrayRef{last});
  Value isHidden = CompareOp::create(builder, loc, RankedTensorType::get(rows, builder.getI1Type()),
                                     most, number(APFloat::getInf(semantics, /*Negative=*/true)),
                                     ComparePredicate::Eq);
  return SelectOp::create(builder, loc, type, isHidden, number(APFloat::getNaN(semantics)), mask);
}

} // namespace convoy
