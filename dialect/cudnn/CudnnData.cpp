// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scalars, random numbers, signals, concatenation and reshape. Each check has the label of its
// constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

LogicalResult ConstantOp::verify() {
  // constant_c1
  TensorDescType type = getY().getType();
  if (ShapedType::getNumElements(type.getShape()) != 1)
    return emitOpError("expects a result of one element, but got shape ") << str(type.getShape());
  Type value = getValue().getType();
  if (type.getElementType() != value)
    return emitOpError("expects a result of the value's type ")
           << value << ", but got " << type.getElementType();
  if (!isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(value) &&
      !value.isSignlessInteger(64) && !value.isSignlessInteger(32))
    return emitOpError("expects a value of f64, f32, f16, bf16, i64 or i32, but got ") << value;
  return success();
}

LogicalResult ConcatOp::verify() {
  // concat_c1
  if (getInputs().empty())
    return emitOpError("expects at least one input, but got none");
  SmallVector<Value> tensors(getInputs());
  tensors.push_back(getY());
  if (failed(expectRank(*this, tensors, 1, 8)))
    return failure();
  Type type = getY().getType().getElementType();
  for (Value input : getInputs())
    if (Type other = cast<TensorDescType>(input.getType()).getElementType(); other != type)
      return emitOpError("expects tensors of one element type, but got ")
             << other << " and " << type;
  // concat_c2
  int64_t rank = shapeOf(getY()).size(), axis = getAxis();
  if (axis < 0 || axis >= rank)
    return emitOpError("expects 'axis' in 0 to ") << rank - 1 << ", but got " << axis;
  // concat_c3
  SmallVector<ArrayRef<int64_t>> shapes = llvm::map_to_vector(getInputs(), shapeOf);
  FailureOr<SmallVector<int64_t>> expected = concatShape(shapes, axis);
  if (failed(expected)) {
    InFlightDiagnostic diag =
        emitOpError("expects inputs that differ only along 'axis', but got shapes ");
    llvm::interleave(
        shapes, [&](ArrayRef<int64_t> shape) { diag << str(shape); }, [&] { diag << " and "; });
    return diag;
  }
  if (failed(expectShape(*this, "result", shapeOf(getY()), *expected)))
    return failure();
  // concat_c4
  int64_t inputs = getInputs().size(), index = getInplaceIndex().value_or(0);
  if (index < 0 || index >= inputs)
    return emitOpError("expects 'inplace_index' in 0 to ") << inputs - 1 << ", but got " << index;
  return success();
}

LogicalResult ReshapeOp::verify() {
  // reshape_c1
  TensorDescType x = getX().getType(), y = getY().getType();
  if (ShapedType::getNumElements(x.getShape()) != ShapedType::getNumElements(y.getShape()))
    return emitOpError("expects operand and result to have the same number of elements, but got ")
           << str(x.getShape()) << " and " << str(y.getShape());
  Type from = x.getElementType(), to = y.getElementType();
  if (from != to && !(isa<FloatType>(from) && isa<FloatType>(to)))
    return emitOpError("expects tensors of one element type or of floats, but got ")
           << from << " and " << to;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  // The operand must be computed in the graph: a cuDNN graph cannot return its arguments.
  return getX().getType() == getY().getType() && getX().getDefiningOp() ? OpFoldResult(getX())
                                                                        : OpFoldResult();
}

LogicalResult RngOp::verify() {
  // rng_c1
  if (getSeedValue().has_value() == static_cast<bool>(getSeed()))
    return emitOpError("expects one seed, 'seed_value' or 'seed', but got ")
           << (getSeed() ? "both" : "none");
  // rng_c2
  for (auto [name, value] :
       {std::pair(StringRef("seed"), getSeed()), std::pair(StringRef("offset"), getOffset())}) {
    if (!value)
      continue;
    TensorDescType type = value.getType();
    if (ShapedType::getNumElements(type.getShape()) != 1)
      return emitOpError("expects '")
             << name << "' to have one element, but got shape " << str(type.getShape());
    if (!type.getElementType().isSignlessInteger(64) &&
        !type.getElementType().isSignlessInteger(32))
      return emitOpError("expects '")
             << name << "' of i32 or i64, but got " << type.getElementType();
  }
  // rng_c3
  RngDistribution distribution = getDistribution();
  StringRef text = stringifyRngDistribution(distribution);
  auto belongs = [&](StringRef name, bool present, RngDistribution owner) -> LogicalResult {
    if (present == (distribution == owner))
      return success();
    return emitOpError("expects ") << (present ? "no '" : "'") << name << "' with " << text;
  };
  if (failed(belongs("probability", getProbability().has_value(), RngDistribution::Bernoulli)) ||
      failed(belongs("minimum", getMinimum().has_value(), RngDistribution::Uniform)) ||
      failed(belongs("maximum", getMaximum().has_value(), RngDistribution::Uniform)) ||
      failed(belongs("mean", getMean().has_value(), RngDistribution::Normal)) ||
      failed(belongs("standard_deviation", getStandardDeviation().has_value(),
                     RngDistribution::Normal)))
    return failure();
  auto number = [](std::optional<APFloat> value) { return value->convertToDouble(); };
  if (getProbability() && !(number(getProbability()) >= 0.0 && number(getProbability()) <= 1.0))
    return emitOpError("expects 'probability' in 0 to 1, but got ") << number(getProbability());
  if (getMinimum() && !(number(getMinimum()) <= number(getMaximum())))
    return emitOpError("expects 'minimum' at most 'maximum', but got ")
           << number(getMinimum()) << " and " << number(getMaximum());
  if (getStandardDeviation() && !(number(getStandardDeviation()) >= 0.0))
    return emitOpError("expects a non-negative 'standard_deviation', but got ")
           << number(getStandardDeviation());
  return success();
}

LogicalResult SignalOp::verify() {
  // signal_c1
  if (failed(expectShape(*this, "result", shapeOf(getY()), shapeOf(getX()))))
    return failure();
  if (Type type = getX().getType().getElementType(), other = getY().getType().getElementType();
      type != other)
    return emitOpError("expects a result of ") << type << ", but got " << other;
  // signal_c2
  TensorDescType flag = getFlag().getType();
  if (ShapedType::getNumElements(flag.getShape()) != 1)
    return emitOpError("expects 'flag' to have one element, but got shape ")
           << str(flag.getShape());
  if (!isa<IntegerType>(flag.getElementType()))
    return emitOpError("expects 'flag' of an integer type, but got ") << flag.getElementType();
  return success();
}
