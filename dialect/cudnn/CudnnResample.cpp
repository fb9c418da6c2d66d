// Pooling and interpolation. Each check carries the label of its constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

LogicalResult ResampleOp::verify() {
  // resample_c1
  if (failed(expectRank(*this, 3, 5)))
    return failure();
  // resample_c2
  SmallVector<int64_t> x(shapeOf(getX()));
  int64_t spatialRank = x.size() - 2;
  if (failed(expectCount(*this, "window", getWindow(), spatialRank, 1)) ||
      failed(expectCount(*this, "stride", getStride(), spatialRank, 1)) ||
      failed(expectCount(*this, "pre_padding", getPrePadding(), spatialRank, 0)) ||
      failed(expectCount(*this, "post_padding", getPostPadding(), spatialRank, 0)))
    return failure();
  // resample_c6
  auto denominator = static_cast<int64_t>(getDenominator());
  StringRef mode = stringifyResampleMode(getMode());
  if (denominator < 1 || (denominator > 1 && !interpolates()))
    return emitOpError("expects 'denominator' ")
           << (interpolates() ? "of at least 1" : "1") << " with mode " << mode << ", but got " << denominator;
  // resample_c7
  if (interpolates() && llvm::any_of(getWindow(), [&](int64_t size) { return size != 2 * denominator; }))
    return emitOpError("expects a window of 2 elements a dim, ")
           << 2 * denominator << " over " << denominator << ", with mode " << mode << ", but got " << str(getWindow());
  // resample_c3
  FailureOr<SmallVector<int64_t>> expected = resampleShape(x, getWindow(), getStride(), getPrePadding(), getPostPadding(), denominator);
  if (failed(expected))
    return emitOpError("expects a window that fits into the padded input, but got input ") << str(x) << " and window " << str(getWindow());
  if (failed(expectShape(*this, "result", shapeOf(getY()), *expected)))
    return failure();
  // resample_c4
  bool isMaxpool = getMode() == ResampleMode::Maxpool;
  if (isMaxpool != (getPaddingMode() == PaddingMode::NegInfPad))
    return emitOpError("expects ") << (isMaxpool ? "neg_inf_pad" : "zero_pad or edge_val_pad") << " with mode " << mode << ", but got "
                                   << stringifyPaddingMode(getPaddingMode());
  // resample_c8
  if (getIndex()) {
    if (!isMaxpool)
      return emitOpError("expects no index with mode ") << mode;
    if (failed(expectShape(*this, "index", shapeOf(getIndex()), *expected)))
      return failure();
    Type type = cast<TensorDescType>(getIndex().getType()).getElementType();
    if (!type.isSignlessInteger() || type.isSignlessInteger(4))
      return emitOpError("expects an index of i8, i32, i64 or i1, but got ") << type;
  }
  return expectComputeType(*this, getComputeType(), {/*integer=*/true}); // resample_c5
}
