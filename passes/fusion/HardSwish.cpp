// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/fusion/HardSwish.h"

using namespace mlir;
using namespace convoy::cudnn;

namespace convoy {

/// The operation of `mode` that is the only user of `value`, in f32 and without factors.
static PointwiseOp onlyUser(Value value, PointwiseMode mode) {
  auto op = value.hasOneUse() ? dyn_cast<PointwiseOp>(*value.user_begin()) : PointwiseOp();
  bool isPlain = op && op.getMode() == mode && op.getAlpha1().isExactlyValue(1.0) &&
                 op.getAlpha2().isExactlyValue(1.0) && op.getComputeType().isF32() &&
                 cast<TensorDescType>(value.getType()).getElementType().isF32();
  return isPlain ? op : PointwiseOp();
}

static bool isConstant(Value value, double number) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && cast<FloatAttr>(constant.getValue()).getValueAsDouble() == number;
}

SmallVector<PointwiseOp, 4> matchHardSwish(PointwiseOp add) {
  auto isBound = [](std::optional<APFloat> bound, double number) {
    return bound && bound->isExactlyValue(number);
  };
  if (add.getMode() != PointwiseMode::Add)
    return {};
  Value value = add.getInputs()[0];
  if (!value.hasNUses(2) || !isConstant(add.getInputs()[1], 3.0) ||
      !add.getAlpha1().isExactlyValue(1.0) || !add.getAlpha2().isExactlyValue(1.0) ||
      !add.getComputeType().isF32() ||
      !cast<TensorDescType>(value.getType()).getElementType().isF32())
    return {};
  PointwiseOp clip = onlyUser(add.getY(), PointwiseMode::ReluFwd);
  if (!clip || !isBound(clip.getLowerClip(), 0.0) || !isBound(clip.getUpperClip(), 6.0) ||
      clip.getLowerClipSlope())
    return {};
  PointwiseOp product = onlyUser(clip.getY(), PointwiseMode::Mul);
  if (!product || !llvm::is_contained(product.getInputs(), value))
    return {};
  PointwiseOp quotient = onlyUser(product.getY(), PointwiseMode::Div);
  if (!quotient || quotient.getInputs()[0] != product.getY() ||
      !isConstant(quotient.getInputs()[1], 6.0))
    return {};
  return {add, clip, product, quotient};
}

} // namespace convoy
