// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pooling, interpolation and their gradients. Each check has the label of its constraint in the
// op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

/// Checks the window of a forward operation from `x` to `y`, which `what` names in messages.
template <typename OpType>
static LogicalResult verifyWindow(OpType op, ArrayRef<int64_t> x, StringRef what,
                                  ArrayRef<int64_t> y) {
  // resample_c2, resample_backward_c2
  int64_t spatialRank = x.size() - 2;
  if (failed(expectCount(op, "window", op.getWindow(), spatialRank, 1)) ||
      failed(expectCount(op, "stride", op.getStride(), spatialRank, 1)) ||
      failed(expectCount(op, "pre_padding", op.getPrePadding(), spatialRank, 0)) ||
      failed(expectCount(op, "post_padding", op.getPostPadding(), spatialRank, 0)))
    return failure();
  // resample_c6, resample_backward_c2
  auto denominator = static_cast<int64_t>(op.getDenominator());
  StringRef mode = stringifyResampleMode(op.getMode());
  bool interpolates =
      op.getMode() == ResampleMode::Nearest || op.getMode() == ResampleMode::Bilinear;
  if (denominator < 1 || (denominator > 1 && !interpolates))
    return op.emitOpError("expects 'denominator' ")
           << (interpolates ? "of at least 1" : "1") << " with mode " << mode << ", but got "
           << denominator;
  // resample_c7, resample_backward_c2
  if (interpolates &&
      llvm::any_of(op.getWindow(), [&](int64_t size) { return size != 2 * denominator; }))
    return op.emitOpError("expects a window of 2 elements per dim, ")
           << 2 * denominator << " over " << denominator << ", with mode " << mode << ", but got "
           << str(op.getWindow());
  // resample_c3, resample_backward_c3
  FailureOr<SmallVector<int64_t>> expected = resampleShape(
      x, op.getWindow(), op.getStride(), op.getPrePadding(), op.getPostPadding(), denominator);
  if (failed(expected))
    return op.emitOpError("expects a window that fits into the padded input, but got input ")
           << str(x) << " and window " << str(op.getWindow());
  if (failed(expectShape(op, what, y, *expected)))
    return failure();
  // resample_c4, resample_backward_c2
  bool isMaxpool = op.getMode() == ResampleMode::Maxpool;
  if (isMaxpool != (op.getPaddingMode() == PaddingMode::NegInfPad))
    return op.emitOpError("expects ")
           << (isMaxpool ? "neg_inf_pad" : "zero_pad or edge_val_pad") << " with mode " << mode
           << ", but got " << stringifyPaddingMode(op.getPaddingMode());
  return expectComputeType(op, op.getComputeType(),
                           {/*integer=*/true}); // resample_c5, resample_backward_c2
}

/// resample_c8, resample_backward_c6
static LogicalResult verifyIndex(Operation *op, Value index, ArrayRef<int64_t> shape) {
  if (!index)
    return success();
  if (failed(expectShape(op, "index", shapeOf(index), shape)))
    return failure();
  Type type = cast<TensorDescType>(index.getType()).getElementType();
  if (!type.isSignlessInteger() || type.isSignlessInteger(4))
    return op->emitOpError("expects an index of i8, i32, i64 or i1, but got ") << type;
  return success();
}

LogicalResult ResampleOp::verify() {
  // resample_c1
  if (failed(expectRank(*this, 3, 5)) ||
      failed(verifyWindow(*this, shapeOf(getX()), "result", shapeOf(getY()))))
    return failure();
  // resample_c8
  if (getIndex() && getMode() != ResampleMode::Maxpool)
    return emitOpError("expects no index with mode ") << stringifyResampleMode(getMode());
  return verifyIndex(*this, getIndex(), shapeOf(getY()));
}

LogicalResult ResampleBackwardOp::verify() {
  // resample_backward_c1
  if (failed(expectRank(*this, 3, 5)))
    return failure();
  // resample_backward_c4
  if (getMode() == ResampleMode::Nearest)
    return emitOpError("expects a mode with a gradient in cuDNN, but got nearest");
  ArrayRef<int64_t> dx = shapeOf(getDx()), dy = shapeOf(getDy());
  if (failed(verifyWindow(*this, dx, "'dy'", dy)))
    return failure();
  // resample_backward_c5
  if (getMode() == ResampleMode::Maxpool) {
    if (!getX() != !getY() || (!getIndex() && !getX()))
      return emitOpError("expects 'index', or 'x' and 'y', with mode maxpool");
  } else if (getIndex() || getX() || getY()) {
    return emitOpError("expects no 'index', 'x' or 'y' with mode ")
           << stringifyResampleMode(getMode());
  }
  // resample_backward_c6
  if (getX() && (failed(expectShape(*this, "'x'", shapeOf(getX()), dx)) ||
                 failed(expectShape(*this, "'y'", shapeOf(getY()), dy))))
    return failure();
  return verifyIndex(*this, getIndex(), dy);
}
