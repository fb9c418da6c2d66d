// Folders of the tcp ops: what is the same value, and what splat constants give. Only arithmetic that is rounded correctly is done here;
// transcendental functions stay for the target to compute.

#include "dialect/tcp/TcpOps.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace convoy::tcp;

//===-- splat constants --------------------------------------------------------------------------------------------------===//

static SplatElementsAttr splat(Attribute attribute) { return dyn_cast_if_present<SplatElementsAttr>(attribute); }

static std::optional<APFloat> floatSplat(Attribute attribute) {
  auto constant = splat(attribute);
  if (!constant || !isa<FloatType>(constant.getElementType()))
    return std::nullopt;
  return constant.getSplatValue<APFloat>();
}

static std::optional<APInt> intSplat(Attribute attribute) {
  auto constant = splat(attribute);
  if (!constant || !isa<IntegerType>(constant.getElementType()))
    return std::nullopt;
  return constant.getSplatValue<APInt>();
}

static bool isFloatSplat(Attribute attribute, double number) {
  std::optional<APFloat> value = floatSplat(attribute);
  return value && value->isExactlyValue(number);
}

static bool isIntSplat(Attribute attribute, int64_t number) {
  std::optional<APInt> value = intSplat(attribute);
  return value && value->getSExtValue() == number;
}

/// Whether every element is `number`, zeros of both signs being the same.
static bool isSplat(Attribute attribute, int64_t number) {
  if (std::optional<APFloat> value = floatSplat(attribute))
    return number == 0 ? value->isZero() : value->isExactlyValue(static_cast<double>(number));
  return isIntSplat(attribute, number);
}

static DenseElementsAttr splatOf(Type type, const APFloat &value) { return DenseElementsAttr::get(cast<ShapedType>(type), value); }
static DenseElementsAttr splatOf(Type type, const APInt &value) { return DenseElementsAttr::get(cast<ShapedType>(type), value); }

/// The value of a unary op on a float splat; `function` changes its argument.
template <typename Function> static OpFoldResult foldFloat(Attribute input, Type type, Function &&function) {
  std::optional<APFloat> value = floatSplat(input);
  if (!value)
    return {};
  function(*value);
  return splatOf(type, *value);
}

/// The value of a binary op on two splats, from the one of the two functions that the element type asks for.
template <typename OnFloats, typename OnInts>
static OpFoldResult foldBinary(ArrayRef<Attribute> operands, Type type, OnFloats &&onFloats, OnInts &&onInts) {
  std::optional<APFloat> lhs = floatSplat(operands[0]), rhs = floatSplat(operands[1]);
  if (lhs && rhs)
    return splatOf(type, onFloats(*lhs, *rhs));
  std::optional<APInt> lhsInt = intSplat(operands[0]), rhsInt = intSplat(operands[1]);
  if (lhsInt && rhsInt)
    if (std::optional<APInt> value = onInts(*lhsInt, *rhsInt))
      return splatOf(type, *value);
  return {};
}

//===-- elementwise ------------------------------------------------------------------------------------------------------===//

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  if (getInput().getDefiningOp<AbsOp>())
    return getInput();
  if (std::optional<APInt> value = intSplat(adaptor.getInput()))
    return splatOf(getType(), value->abs());
  return foldFloat(adaptor.getInput(), getType(), [](APFloat &value) { value.clearSign(); });
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getInput().getDefiningOp<NegOp>())
    return inner.getInput();
  if (std::optional<APInt> value = intSplat(adaptor.getInput()))
    return splatOf(getType(), -*value);
  return foldFloat(adaptor.getInput(), getType(), [](APFloat &value) { value.changeSign(); });
}

OpFoldResult CeilOp::fold(FoldAdaptor adaptor) {
  return foldFloat(adaptor.getInput(), getType(), [](APFloat &value) { value.roundToIntegral(APFloat::rmTowardPositive); });
}

OpFoldResult FloorOp::fold(FoldAdaptor adaptor) {
  return foldFloat(adaptor.getInput(), getType(), [](APFloat &value) { value.roundToIntegral(APFloat::rmTowardNegative); });
}

OpFoldResult RoundOp::fold(FoldAdaptor adaptor) {
  return foldFloat(adaptor.getInput(), getType(), [](APFloat &value) { value.roundToIntegral(APFloat::rmNearestTiesToEven); });
}

OpFoldResult ReciprocalOp::fold(FoldAdaptor adaptor) {
  return foldFloat(adaptor.getInput(), getType(), [](APFloat &value) {
    APFloat one = APFloat::getOne(value.getSemantics());
    one.divide(value, APFloat::rmNearestTiesToEven);
    value = one;
  });
}

/// `bound` in the type of `value`; the bounds of a clamp are f32 whatever the element type.
static APFloat convert(APFloat bound, const APFloat &value) {
  bool losesInfo = false;
  bound.convert(value.getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return bound;
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
  // Clamps are monotone, so the outer one moves the ends of the inner one's range.
  APFloat infinity = APFloat::getInf(APFloat::IEEEsingle());
  APFloat low = clamp(inner.getMinFloat().value_or(-infinity), getMinFloat(), getMaxFloat());
  APFloat high = clamp(inner.getMaxFloat().value_or(infinity), getMinFloat(), getMaxFloat());
  Builder builder(getContext());
  bool noLow = low.isInfinity() && low.isNegative(), noHigh = high.isInfinity() && !high.isNegative();
  if (noLow && noHigh)
    return inner.getInput();
  setMinFloatAttr(noLow ? FloatAttr() : builder.getFloatAttr(builder.getF32Type(), low));
  setMaxFloatAttr(noHigh ? FloatAttr() : builder.getFloatAttr(builder.getF32Type(), high));
  getInputMutable().set(inner.getInput());
  return getResult();
}

/// Whether every number of type `from` is a number of type `to`, both floats or both integers.
static bool isExact(Type from, Type to) {
  if (auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to); fromFloat && toFloat)
    return APFloat::isRepresentableBy(fromFloat.getFloatSemantics(), toFloat.getFloatSemantics());
  return from.isInteger() && to.isInteger() && from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  Type to = getType().getElementType();
  if (std::optional<APFloat> value = floatSplat(adaptor.getInput())) {
    if (auto floatType = dyn_cast<FloatType>(to)) {
      bool losesInfo = false;
      value->convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      return splatOf(getType(), *value);
    }
    if (to.isInteger(1))
      return splatOf(getType(), APInt(1, !value->isZero()));
    APSInt number(to.getIntOrFloatBitWidth(), /*isUnsigned=*/false);
    bool isExactNumber = false;
    // Out of range there is no right answer.
    if (value->convertToInteger(number, APFloat::rmTowardZero, &isExactNumber) & APFloat::opInvalidOp)
      return {};
    return splatOf(getType(), number);
  }
  if (std::optional<APInt> value = intSplat(adaptor.getInput())) {
    bool isBool = value->getBitWidth() == 1;
    if (auto floatType = dyn_cast<FloatType>(to)) {
      APFloat number(floatType.getFloatSemantics());
      number.convertFromAPInt(*value, /*IsSigned=*/!isBool, APFloat::rmNearestTiesToEven);
      return splatOf(getType(), number);
    }
    unsigned width = to.getIntOrFloatBitWidth();
    if (width == 1)
      return splatOf(getType(), APInt(1, !value->isZero()));
    return splatOf(getType(), isBool ? value->zext(width) : value->sextOrTrunc(width));
  }
  // Over a type that holds every number of the first the detour changes nothing.
  if (auto inner = getInput().getDefiningOp<CastOp>();
      inner && isExact(inner.getInput().getType().getElementType(), inner.getType().getElementType())) {
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
  if (getLhs() == getRhs())
    return getLhs();
  if (isFloatSplat(adaptor.getRhs(), -std::numeric_limits<double>::infinity()) && getLhs().getType() == getType())
    return getLhs();
  return foldBinary(
      adaptor.getOperands(), getType(), [](APFloat a, APFloat b) { return llvm::maximum(a, b); },
      [](APInt a, APInt b) -> std::optional<APInt> { return a.getBitWidth() == 1 ? a | b
                                                            : a.sgt(b)           ? a
                                                                                 : b; });
}

OpFoldResult MinimumOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return getLhs();
  if (isFloatSplat(adaptor.getRhs(), std::numeric_limits<double>::infinity()) && getLhs().getType() == getType())
    return getLhs();
  return foldBinary(
      adaptor.getOperands(), getType(), [](APFloat a, APFloat b) { return llvm::minimum(a, b); },
      [](APInt a, APInt b) -> std::optional<APInt> { return a.getBitWidth() == 1 ? a & b
                                                            : a.slt(b)           ? a
                                                                                 : b; });
}

OpFoldResult PowOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 1) && getLhs().getType() == getType() ? getLhs() : OpFoldResult();
}

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  auto decide = [&](bool less, bool equal, bool unordered) {
    StringRef predicate = getPredicate();
    bool result = unordered           ? predicate == "ne"
                  : predicate == "eq" ? equal
                  : predicate == "ne" ? !equal
                  : predicate == "lt" ? less
                  : predicate == "le" ? less || equal
                  : predicate == "gt" ? !less && !equal
                                      : !less;
    return splatOf(getType(), APInt(1, result));
  };
  if (std::optional<APFloat> lhs = floatSplat(adaptor.getLhs()), rhs = floatSplat(adaptor.getRhs()); lhs && rhs) {
    APFloat::cmpResult order = lhs->compare(*rhs);
    return decide(order == APFloat::cmpLessThan, order == APFloat::cmpEqual, order == APFloat::cmpUnordered);
  }
  if (std::optional<APInt> lhs = intSplat(adaptor.getLhs()), rhs = intSplat(adaptor.getRhs()); lhs && rhs)
    return decide(lhs->getBitWidth() == 1 ? lhs->ult(*rhs) : lhs->slt(*rhs), *lhs == *rhs, false);
  return {};
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse() && getOnTrue().getType() == getType())
    return getOnTrue();
  std::optional<APInt> condition = intSplat(adaptor.getCondition());
  if (!condition)
    return {};
  Value chosen = condition->isZero() ? getOnFalse() : getOnTrue();
  return chosen.getType() == getType() ? chosen : OpFoldResult();
}

//===-- pooling and reductions -------------------------------------------------------------------------------------------===//

/// Whether a window is one element and moves by one.
template <typename PoolOp> static bool isIdentityPool(PoolOp op) {
  auto isOne = [](int64_t number) { return number == 1; };
  return op.getInput().getType() == op.getType() && llvm::all_of(op.getKernel(), isOne) && llvm::all_of(op.getStride(), isOne);
}

OpFoldResult MaxPoolOp::fold(FoldAdaptor) { return isIdentityPool(*this) ? getInput() : OpFoldResult(); }

OpFoldResult AvgPoolOp::fold(FoldAdaptor) { return isIdentityPool(*this) && getDivisor().value_or(1) == 1 ? getInput() : OpFoldResult(); }

/// A reduction over nothing, or right behind another of its kind.
template <typename ReduceOp> static OpFoldResult foldReduce(ReduceOp op) {
  if (op.getInput().getType() == op.getType())
    return op.getInput();
  auto inner = op.getInput().template getDefiningOp<ReduceOp>();
  if (!inner || !inner->hasOneUse())
    return {};
  SmallVector<int64_t> dims(inner.getDims());
  llvm::append_range(dims, op.getDims());
  llvm::sort(dims);
  dims.erase(llvm::unique(dims), dims.end());
  op.setDims(dims);
  op.getInputMutable().set(inner.getInput());
  return op.getResult();
}

OpFoldResult ReduceSumOp::fold(FoldAdaptor) { return foldReduce(*this); }
OpFoldResult ReduceMeanOp::fold(FoldAdaptor) { return foldReduce(*this); }
OpFoldResult ReduceMaxOp::fold(FoldAdaptor) { return foldReduce(*this); }

//===-- shape ------------------------------------------------------------------------------------------------------------===//

/// The input where the type says that nothing changes, or the same splat in another shape.
template <typename ShapeOp> static OpFoldResult foldMove(ShapeOp op, Attribute input) {
  auto constant = splat(input);
  return constant ? constant.resizeSplat(op.getType()) : OpFoldResult();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<BroadcastOp>()) {
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return foldMove(*this, adaptor.getInput());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto constant = dyn_cast_if_present<DenseElementsAttr>(adaptor.getInput()))
    return constant.reshape(getType());
  // A reshape of a reshape needs only the last shape.
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getPerm(), llvm::seq<int64_t>(0, getPerm().size())))
    return getInput();
  // Two permutations are one.
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> perm = llvm::map_to_vector(getPerm(), [&](int64_t dim) { return inner.getPerm()[dim]; });
    setPerm(perm);
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return foldMove(*this, adaptor.getInput());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  // As many elements as there are leave only one way to take them.
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<SliceOp>()) {
    SmallVector<int64_t> starts, strides;
    for (auto [start, stride, innerStart, innerStride] :
         llvm::zip_equal(getStarts(), getStrides(), inner.getStarts(), inner.getStrides())) {
      starts.push_back(innerStart + start * innerStride);
      strides.push_back(stride * innerStride);
    }
    setStarts(starts);
    setStrides(strides);
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return foldMove(*this, adaptor.getInput());
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  auto isZero = [](int64_t number) { return number == 0; };
  bool noInterior = llvm::all_of(llvm::zip_equal(getInterior(), getInput().getType().getShape()), [](auto pair) {
    auto [interior, size] = pair;
    return interior == 0 || size < 2;
  });
  if (noInterior && llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero))
    return getInput();
  // Padding a splat with its own value, or only cutting it.
  std::optional<APFloat> value = floatSplat(adaptor.getInput());
  auto cuts = [](int64_t number) { return number <= 0; };
  bool onlyCuts = noInterior && llvm::all_of(getLow(), cuts) && llvm::all_of(getHigh(), cuts);
  if (onlyCuts || (value && value->bitwiseIsEqual(convert(getValue(), *value))))
    return foldMove(*this, adaptor.getInput());
  return {};
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  if (llvm::all_of(getDims(), [&](int64_t dim) { return getInput().getType().getDimSize(dim) == 1; }))
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReverseOp>(); inner && inner.getDims() == getDims())
    return inner.getInput();
  return foldMove(*this, adaptor.getInput());
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1)
    return getInputs().front();
  auto first = splat(adaptor.getInputs().front());
  bool same = first && llvm::all_of(adaptor.getInputs(), [&](Attribute input) {
                auto constant = splat(input);
                return constant && constant.getSplatValue<Attribute>() == first.getSplatValue<Attribute>();
              });
  return same ? first.resizeSplat(getType()) : OpFoldResult();
}
