// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Folders of the elementwise tcp ops: identities and splat constants. They only evaluate correctly
// rounded arithmetic; transcendental functions are left to the target.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpSplats.h"

using namespace mlir;
using namespace convoy::tcp;

//===-- splat constants ----------------------------------------------------===//

/// The element of an integer splat, which knows whether it is signed. i1 is not: true is 1.
static std::optional<APSInt> intSplat(Attribute attribute) {
  auto constant = splat(attribute);
  if (!constant || !isa<IntegerType>(constant.getElementType()))
    return std::nullopt;
  Type type = constant.getElementType();
  return APSInt(constant.getSplatValue<APInt>(), type.isUnsignedInteger() || type.isInteger(1));
}

static bool isFloatSplat(Attribute attribute, double number) {
  std::optional<APFloat> value = floatSplat(attribute);
  return value && value->isExactlyValue(number);
}

static bool isIntSplat(Attribute attribute, int64_t number) {
  std::optional<APSInt> value = intSplat(attribute);
  return value && *value == number;
}

/// Whether every element is `number`; zeros of both signs are equal.
static bool isSplat(Attribute attribute, int64_t number) {
  if (std::optional<APFloat> value = floatSplat(attribute))
    return number == 0 ? value->isZero() : value->isExactlyValue(static_cast<double>(number));
  return isIntSplat(attribute, number);
}

/// A constant of one value; null if the type has a `?`.
template <typename Value> static DenseElementsAttr splatOf(Type type, const Value &value) {
  auto shaped = cast<ShapedType>(type);
  return shaped.hasStaticShape() ? DenseElementsAttr::get(shaped, value) : DenseElementsAttr();
}

/// Folds a unary op on a float splat; `function` updates its argument in place.
template <typename Function>
static OpFoldResult foldFloat(Attribute input, Type type, Function &&function) {
  std::optional<APFloat> value = floatSplat(input);
  if (!value)
    return {};
  function(*value);
  return splatOf(type, *value);
}

/// Folds a binary op on two splats with `onFloats` or `onInts`, depending on the element type.
template <typename OnFloats, typename OnInts>
static OpFoldResult foldBinary(ArrayRef<Attribute> operands, Type type, OnFloats &&onFloats,
                               OnInts &&onInts) {
  std::optional<APFloat> lhs = floatSplat(operands[0]), rhs = floatSplat(operands[1]);
  if (lhs && rhs)
    return splatOf(type, onFloats(*lhs, *rhs));
  std::optional<APSInt> lhsInt = intSplat(operands[0]), rhsInt = intSplat(operands[1]);
  if (lhsInt && rhsInt)
    if (std::optional<APInt> value = onInts(*lhsInt, *rhsInt))
      return splatOf(type, *value);
  return {};
}

//===-- elementwise --------------------------------------------------------===//

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  if (getInput().getDefiningOp<AbsOp>())
    return getInput();
  if (std::optional<APSInt> value = intSplat(adaptor.getInput()))
    return splatOf(getType(), value->isSigned() ? value->abs() : *value);
  return foldFloat(adaptor.getInput(), getType(), [](APFloat &value) { value.clearSign(); });
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getInput().getDefiningOp<NegOp>())
    return inner.getInput();
  if (std::optional<APSInt> value = intSplat(adaptor.getInput()))
    return splatOf(getType(), -*value);
  return foldFloat(adaptor.getInput(), getType(), [](APFloat &value) { value.changeSign(); });
}

OpFoldResult CeilOp::fold(FoldAdaptor adaptor) {
  return foldFloat(adaptor.getInput(), getType(),
                   [](APFloat &value) { value.roundToIntegral(APFloat::rmTowardPositive); });
}

OpFoldResult FloorOp::fold(FoldAdaptor adaptor) {
  return foldFloat(adaptor.getInput(), getType(),
                   [](APFloat &value) { value.roundToIntegral(APFloat::rmTowardNegative); });
}

OpFoldResult RoundOp::fold(FoldAdaptor adaptor) {
  return foldFloat(adaptor.getInput(), getType(),
                   [](APFloat &value) { value.roundToIntegral(APFloat::rmNearestTiesToEven); });
}

OpFoldResult ReciprocalOp::fold(FoldAdaptor adaptor) {
  return foldFloat(adaptor.getInput(), getType(), [](APFloat &value) {
    APFloat one = APFloat::getOne(value.getSemantics());
    one.divide(value, APFloat::rmNearestTiesToEven);
    value = one;
  });
}

static APFloat clamp(APFloat value, std::optional<APFloat> low, std::optional<APFloat> high) {
  if (value.isNaN())
    return value;
  if (low && value < convert(*low, value))
    value = convert(*low, value);
  if (high && value > convert(*high, value))
    value = convert(*high, value);
  return value;
}

OpFoldResult ClampOp::fold(FoldAdaptor adaptor) {
  if (std::optional<APFloat> value = floatSplat(adaptor.getInput()))
    return splatOf(getType(), clamp(*value, getMinFloat(), getMaxFloat()));
  auto inner = getInput().getDefiningOp<ClampOp>();
  if (!inner)
    return {};
  // Clamps are monotone, so clamping the bounds of the inner clamp gives those of the composition.
  APFloat infinity = APFloat::getInf(APFloat::IEEEsingle());
  APFloat low = clamp(inner.getMinFloat().value_or(-infinity), getMinFloat(), getMaxFloat());
  APFloat high = clamp(inner.getMaxFloat().value_or(infinity), getMinFloat(), getMaxFloat());
  Builder builder(getContext());
  bool noLow = low.isInfinity() && low.isNegative(),
       noHigh = high.isInfinity() && !high.isNegative();
  if (noLow && noHigh)
    return inner.getInput();
  setMinFloatAttr(noLow ? FloatAttr() : builder.getFloatAttr(builder.getF32Type(), low));
  setMaxFloatAttr(noHigh ? FloatAttr() : builder.getFloatAttr(builder.getF32Type(), high));
  getInputMutable().set(inner.getInput());
  return getResult();
}

/// Whether type `to` can represent every value of type `from`; both are floats or both integers.
static bool isExact(Type from, Type to) {
  if (auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
      fromFloat && toFloat)
    return APFloat::isRepresentableBy(fromFloat.getFloatSemantics(), toFloat.getFloatSemantics());
  if (!from.isInteger() || !to.isInteger())
    return false;
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  bool fromUnsigned = from.isUnsignedInteger() || fromBits == 1;
  if (fromUnsigned == to.isUnsignedInteger())
    return fromBits <= toBits;
  return fromUnsigned && (fromBits < toBits || from == to);
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  Type to = getType().getElementType();
  // A constant of unsigned elements is invalid.
  Attribute input = to.isUnsignedInteger() ? Attribute() : adaptor.getInput();
  if (std::optional<APFloat> value = floatSplat(input)) {
    if (auto floatType = dyn_cast<FloatType>(to)) {
      bool losesInfo = false;
      value->convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      return splatOf(getType(), *value);
    }
    if (to.isInteger(1))
      return splatOf(getType(), APInt(1, !value->isZero()));
    APSInt number(to.getIntOrFloatBitWidth(), /*isUnsigned=*/false);
    bool isExactNumber = false;
    // The result of an out-of-range conversion is undefined.
    if (value->convertToInteger(number, APFloat::rmTowardZero, &isExactNumber) &
        APFloat::opInvalidOp)
      return {};
    return splatOf(getType(), number);
  }
  if (std::optional<APSInt> value = intSplat(input)) {
    if (auto floatType = dyn_cast<FloatType>(to)) {
      APFloat number(floatType.getFloatSemantics());
      number.convertFromAPInt(*value, value->isSigned(), APFloat::rmNearestTiesToEven);
      return splatOf(getType(), number);
    }
    unsigned width = to.getIntOrFloatBitWidth();
    if (width == 1)
      return splatOf(getType(), APInt(1, !value->isZero()));
    return splatOf(getType(), value->extOrTrunc(width));
  }
  // An inner cast that preserves all values is redundant.
  if (auto inner = getInput().getDefiningOp<CastOp>();
      inner &&
      isExact(inner.getInput().getType().getElementType(), inner.getType().getElementType())) {
    if (inner.getInput().getType() == getType())
      return inner.getInput();
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0) && getLhs().getType() == getType())
    return getLhs();
  return foldBinary(
      adaptor.getOperands(), getType(), [](APFloat a, APFloat b) { return a + b; },
      [](APInt a, APInt b) -> std::optional<APInt> { return a + b; });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0) && getLhs().getType() == getType())
    return getLhs();
  return foldBinary(
      adaptor.getOperands(), getType(), [](APFloat a, APFloat b) { return a - b; },
      [](APInt a, APInt b) -> std::optional<APInt> { return a - b; });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1) && getLhs().getType() == getType())
    return getLhs();
  return foldBinary(
      adaptor.getOperands(), getType(), [](APFloat a, APFloat b) { return a * b; },
      [](APInt a, APInt b) -> std::optional<APInt> { return a * b; });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1) && getLhs().getType() == getType())
    return getLhs();
  return foldBinary(
      adaptor.getOperands(), getType(), [](APFloat a, APFloat b) { return a / b; },
      [](APInt, APInt) -> std::optional<APInt> { return std::nullopt; });
}

OpFoldResult MaximumOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() && getLhs().getType() == getType())
    return getLhs();
  if (isFloatSplat(adaptor.getRhs(), -std::numeric_limits<double>::infinity()) &&
      getLhs().getType() == getType())
    return getLhs();
  return foldBinary(
      adaptor.getOperands(), getType(), [](APFloat a, APFloat b) { return llvm::maximum(a, b); },
      [](APSInt a, APSInt b) -> std::optional<APInt> { return a > b ? a : b; });
}

OpFoldResult MinimumOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() && getLhs().getType() == getType())
    return getLhs();
  if (isFloatSplat(adaptor.getRhs(), std::numeric_limits<double>::infinity()) &&
      getLhs().getType() == getType())
    return getLhs();
  return foldBinary(
      adaptor.getOperands(), getType(), [](APFloat a, APFloat b) { return llvm::minimum(a, b); },
      [](APSInt a, APSInt b) -> std::optional<APInt> { return a < b ? a : b; });
}

OpFoldResult PowOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 1) && getLhs().getType() == getType() ? getLhs()
                                                                         : OpFoldResult();
}

/// Whether `predicate` holds for two ordered numbers.
static bool holds(ComparePredicate predicate, bool less, bool equal) {
  switch (predicate) {
  case ComparePredicate::Eq:
    return equal;
  case ComparePredicate::Ne:
    return !equal;
  case ComparePredicate::Lt:
    return less;
  case ComparePredicate::Le:
    return less || equal;
  case ComparePredicate::Gt:
    return !less && !equal;
  case ComparePredicate::Ge:
    return !less;
  }
  llvm_unreachable("unknown predicate");
}

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  auto decide = [&](bool less, bool equal, bool unordered) {
    bool result =
        unordered ? getPredicate() == ComparePredicate::Ne : holds(getPredicate(), less, equal);
    return splatOf(getType(), APInt(1, result));
  };
  if (std::optional<APFloat> lhs = floatSplat(adaptor.getLhs()), rhs = floatSplat(adaptor.getRhs());
      lhs && rhs) {
    APFloat::cmpResult order = lhs->compare(*rhs);
    return decide(order == APFloat::cmpLessThan, order == APFloat::cmpEqual,
                  order == APFloat::cmpUnordered);
  }
  if (std::optional<APSInt> lhs = intSplat(adaptor.getLhs()), rhs = intSplat(adaptor.getRhs());
      lhs && rhs)
    return decide(*lhs < *rhs, *lhs == *rhs, false);
  return {};
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse() && getOnTrue().getType() == getType())
    return getOnTrue();
  std::optional<APSInt> condition = intSplat(adaptor.getCondition());
  if (!condition)
    return {};
  Value chosen = condition->isZero() ? getOnFalse() : getOnTrue();
  return chosen.getType() == getType() ? chosen : OpFoldResult();
}
