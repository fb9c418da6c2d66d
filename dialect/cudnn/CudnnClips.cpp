// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Merges two bounds, such as `min` of `max`, into one relu with clips: one operation fewer, and the
// form that cuDNN has engines for.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace convoy::cudnn;

namespace {

/// A value clamped to [lower, upper].
struct Clip {
  Value input;
  double lower = -std::numeric_limits<double>::infinity(),
         upper = std::numeric_limits<double>::infinity();
};

} // namespace

static Type elementType(Value value) {
  return cast<TensorDescType>(value.getType()).getElementType();
}

/// Whether `type` can represent `number` exactly.
static bool isIn(FloatType type, APFloat number) {
  bool losesInfo = false;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return !losesInfo;
}

/// The constant `value`, if it is finite and `type` can represent it.
static std::optional<double> numberIn(Value value, FloatType type) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  if (!number || !number.getValue().isFinite() || !isIn(type, number.getValue()))
    return std::nullopt;
  return number.getValueAsDouble();
}

/// Matches `op` as a clip; on failure the input is null and `reason` is set. `op` must propagate
/// NaN: cuDNN does not document the result otherwise, so the two forms might differ. By default
/// `relu_fwd` propagates NaN, and `min` and `max` do not.
static Clip clipOf(PointwiseOp op, StringRef &reason) {
  PointwiseMode mode = op.getMode();
  bool isRelu = mode == PointwiseMode::ReluFwd;
  auto refuse = [&](StringRef why) { return reason = why, Clip(); };
  if (!isRelu && mode != PointwiseMode::Min && mode != PointwiseMode::Max)
    return refuse("not a bound: neither min, max nor relu_fwd");
  auto computeType = dyn_cast<FloatType>(op.getComputeType());
  if (!computeType)
    return refuse("the compute type of a bound is not a float type");
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
    return refuse("a bound is not a finite constant of the compute type");
  (mode == PointwiseMode::Max ? clip.lower : clip.upper) = *number;
  return clip;
}

/// Whether the inner bound's result can represent every value of `clip`: all values of the compute
/// type, or else all values of the input type and both bounds.
static bool keepsValues(PointwiseOp inner, const Clip &clip) {
  Type read = elementType(clip.input), stored = elementType(inner.getY()),
       computed = inner.getComputeType();
  auto isStored = [&](double number) {
    return std::isinf(number) || isIn(cast<FloatType>(stored), APFloat(number));
  };
  return holds(stored, computed) || (holds(computed, read) && holds(stored, read) &&
                                     isStored(clip.lower) && isStored(clip.upper));
}

/// Whether cuDNN 9.19 supports a bounded relu instead of `outer` only when an identity follows it:
/// at the end of a convolution graph, after other pointwise operations.
static bool needsIdentity(PointwiseOp outer, Value input) {
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
    return rewriter.notifyMatchFailure(outer, "the input is not a pointwise operation");
  Clip first = clipOf(inner, reason);
  if (!first.input)
    return rewriter.notifyMatchFailure(outer, reason);
  if (!inner->hasOneUse())
    return rewriter.notifyMatchFailure(outer, "the inner bound has other uses");
  if (inner.getComputeType() != outer.getComputeType())
    return rewriter.notifyMatchFailure(outer, "the bounds have different compute types");
  if (first.lower > last.upper || last.lower > first.upper)
    return rewriter.notifyMatchFailure(outer, "the bounds do not overlap");
  Clip both{first.input, std::max(first.lower, last.lower), std::min(first.upper, last.upper)};
  if (std::isinf(both.lower))
    return rewriter.notifyMatchFailure(outer, "there is no lower bound, which relu_fwd needs");
  if (!keepsValues(inner, both))
    return rewriter.notifyMatchFailure(outer, "the tensor between the bounds rounds");

  bool isBounded = !std::isinf(both.upper),
       identity = isBounded && needsIdentity(outer, both.input);
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
