// Bounds written as two operations, `min` of `max`, are one relu with clips: one operation less,
// and the form that cuDNN has engines for.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace convoy::cudnn;

namespace {

/// A value kept between two numbers.
struct Clip {
  Value input;
  double lower = -std::numeric_limits<double>::infinity(),
         upper = std::numeric_limits<double>::infinity();
};

} // namespace

static Type elementType(Value value) {
  return cast<TensorDescType>(value.getType()).getElementType();
}

static bool isIn(FloatType type, APFloat number) {
  bool losesInfo = false;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return !losesInfo;
}

/// The number that `value` is, if it is finite and `type` has it.
static std::optional<double> numberIn(Value value, FloatType type) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  if (!number || !number.getValue().isFinite() || !isIn(type, number.getValue()))
    return std::nullopt;
  return number.getValueAsDouble();
}

/// `op` as a clip; otherwise a null input, and `reason` says why. Of a NaN it has to give NaN: what
/// else comes out of one, cuDNN says nowhere, and the two forms would differ. `min` and `max`
/// propagate NaN when told to, relu_fwd unless told not to.
static Clip clipOf(PointwiseOp op, StringRef &reason) {
  PointwiseMode mode = op.getMode();
  bool isRelu = mode == PointwiseMode::ReluFwd;
  auto refuse = [&](StringRef why) { return reason = why, Clip(); };
  if (!isRelu && mode != PointwiseMode::Min && mode != PointwiseMode::Max)
    return refuse("it is no bound: neither min, max nor relu_fwd");
  auto computeType = dyn_cast<FloatType>(op.getComputeType());
  if (!computeType)
    return refuse("a bound is not computed in a float type");
  if (op.getNanPropagation().value_or(isRelu ? NanPropagation::PropagateNan
                                             : NanPropagation::NotPropagateNan) !=
      NanPropagation::PropagateNan)
    return refuse("a bound does not propagate NaN");
  if (!op.getAlpha1().isExactlyValue(1.0) || !op.getAlpha2().isExactlyValue(1.0))
    return refuse("a bound scales its operands");
  Clip clip{op.getInputs().front()};
  if (isRelu) {
    if (op.getLowerClipSlope() && !op.getLowerClipSlope()->isZero())
      return refuse("a relu has a slope below its clip");
    APFloat lower = op.getLowerClip().value_or(APFloat(0.0)),
            upper = op.getUpperClip().value_or(APFloat::getInf(APFloat::IEEEdouble()));
    if (!lower.isFinite() || (op.getUpperClip() && !upper.isFinite()))
      return refuse("a relu has a clip that is not finite");
    return Clip{clip.input, lower.convertToDouble(), upper.convertToDouble()};
  }
  std::optional<double> number = numberIn(op.getInputs().back(), computeType);
  if (!number) {
    clip.input = op.getInputs().back();
    number = numberIn(op.getInputs().front(), computeType);
  }
  if (!number)
    return refuse("a bound is no finite constant of the compute type");
  (mode == PointwiseMode::Max ? clip.lower : clip.upper) = *number;
  return clip;
}

/// Whether the inner bound's result holds what `clip` gives: all that the compute type has, or else
/// all that is read, and the bounds.
static bool keepsValues(PointwiseOp inner, const Clip &clip) {
  Type read = elementType(clip.input), stored = elementType(inner.getY()),
       computed = inner.getComputeType();
  auto isStored = [&](double number) {
    return std::isinf(number) || isIn(cast<FloatType>(stored), APFloat(number));
  };
  return holds(stored, computed) || (holds(computed, read) && holds(stored, read) &&
                                     isStored(clip.lower) && isStored(clip.upper));
}

/// Whether cuDNN 9.19 takes a bounded relu in the place of `outer` only with an identity after it:
/// at the end of a convolution that has other operations in between.
static bool wantsIdentity(PointwiseOp outer, Value input) {
  return input.getDefiningOp<PointwiseOp>() &&
         !outer->getBlock()->getOps<ConvolutionOp>().empty() &&
         llvm::any_of(outer->getUsers(),
                      [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
}

LogicalResult PointwiseOp::canonicalize(PointwiseOp outer, PatternRewriter &rewriter) {
  StringRef reason;
  Clip last = clipOf(outer, reason);
  if (!last.input)
    return rewriter.notifyMatchFailure(outer, reason);
  auto inner = last.input.getDefiningOp<PointwiseOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(outer, "what is bounded is not bounded before");
  Clip first = clipOf(inner, reason);
  if (!first.input)
    return rewriter.notifyMatchFailure(outer, reason);
  if (!inner->hasOneUse())
    return rewriter.notifyMatchFailure(outer, "the inner bound has other uses");
  if (inner.getComputeType() != outer.getComputeType())
    return rewriter.notifyMatchFailure(outer, "the bounds have different compute types");
  if (first.lower > last.upper || last.lower > first.upper)
    return rewriter.notifyMatchFailure(outer, "the bounds leave one value");
  Clip both{first.input, std::max(first.lower, last.lower), std::min(first.upper, last.upper)};
  if (std::isinf(both.lower))
    return rewriter.notifyMatchFailure(outer, "there is no lower bound, which relu_fwd needs");
  if (!keepsValues(inner, both))
    return rewriter.notifyMatchFailure(outer, "the tensor between the bounds rounds");

  bool isBounded = !std::isinf(both.upper),
       identity = isBounded && wantsIdentity(outer, both.input);
  Type computeType = outer.getComputeType();
  auto relu = create(rewriter, outer.getLoc(), (identity ? inner : outer).getY().getType(),
                     PointwiseMode::ReluFwd, both.input, computeType);
  relu.setLowerClipAttr(rewriter.getF64FloatAttr(both.lower));
  if (isBounded)
    relu.setUpperClipAttr(rewriter.getF64FloatAttr(both.upper));
  if (identity)
    relu = create(rewriter, outer.getLoc(), outer.getY().getType(), PointwiseMode::Identity,
                  relu.getY(), computeType);
  rewriter.replaceOp(outer, relu);
  return success();
}
