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
  ArrayRef<int64_t> x = shapeOf(getX()), y = shapeOf(getY());
  int64_t spatialRank = x.size() - 2;
  if (failed(expectCount(*this, "window", getWindow(), spatialRank, 1)) ||
      failed(expectCount(*this, "stride", getStride(), spatialRank, 1)) ||
      failed(expectCount(*this, "pre_padding", getPrePadding(), spatialRank, 0)) ||
      failed(expectCount(*this, "post_padding", getPostPadding(), spatialRank, 0)))
    return failure();
  // resample_c3
  bool pooling = getMode() != ResampleMode::Nearest && getMode() != ResampleMode::Bilinear;
  if (pooling) {
    SmallVector<int64_t> expected =
        windowShape(x, getWindow(), getStride(), getPrePadding(), getPostPadding(), SmallVector<int64_t>(spatialRank, 1));
    if (llvm::is_contained(expected, 0))
      return emitOpError("expects a window that fits into the padded input, but got input ")
             << str(x) << " and window " << str(getWindow());
    if (failed(expectShape(*this, "result", y, expected)))
      return failure();
  } else if (x.take_front(2) != y.take_front(2)) {
    return emitOpError("expects a result with the operand's first two dims, but got ") << str(x) << " and " << str(y);
  }
  // resample_c4
  if ((getMode() == ResampleMode::Maxpool) != (getPaddingMode() == PaddingMode::NegInfPad))
    return emitOpError("expects ") << (getMode() == ResampleMode::Maxpool ? "neg_inf_pad" : "zero_pad or edge_val_pad") << " with mode "
                                   << stringifyResampleMode(getMode()) << ", but got " << stringifyPaddingMode(getPaddingMode());
  return expectComputeType(*this, getComputeType(), /*integers=*/true); // resample_c5
}
