// Convolutions. Each check carries the label of its constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

TensorDescType ConvolutionOp::getInputType() { return getMode() == ConvolutionMode::Dgrad ? getY().getType() : getX().getType(); }

TensorDescType ConvolutionOp::getFilterType() { return getMode() == ConvolutionMode::Wgrad ? getY().getType() : getW().getType(); }

TensorDescType ConvolutionOp::getOutputType() {
  switch (getMode()) {
  case ConvolutionMode::Fprop:
    return getY().getType();
  case ConvolutionMode::Dgrad:
    return getX().getType();
  case ConvolutionMode::Wgrad:
    return getW().getType();
  }
  llvm_unreachable("every mode is above");
}

LogicalResult ConvolutionOp::verify() {
  // convolution_c1
  if (failed(expectRank(*this, 3, 5)))
    return failure();
  // convolution_c2
  int64_t spatialRank = getSpatialRank();
  if (failed(expectCount(*this, "spatial_stride", getSpatialStride(), spatialRank, 1)) ||
      failed(expectCount(*this, "pre_padding", getPrePadding(), spatialRank, 0)) ||
      failed(expectCount(*this, "post_padding", getPostPadding(), spatialRank, 0)) ||
      failed(expectCount(*this, "dilation", getDilation(), spatialRank, 1)))
    return failure();
  // convolution_c6
  if (getSpatialDimCount() && *getSpatialDimCount() != static_cast<uint64_t>(spatialRank) &&
      *getSpatialDimCount() != static_cast<uint64_t>(spatialRank + 2))
    return emitOpError("expects 'spatial_dim_count' ")
           << spatialRank << " (or " << spatialRank + 2 << ", the rank), but got " << static_cast<int64_t>(*getSpatialDimCount());
  // convolution_c3
  ArrayRef<int64_t> input = getInputType().getShape(), filter = getFilterType().getShape();
  if (input[1] % filter[1])
    return emitOpError("expects filter channels that divide ") << input[1] << " input channels, but got " << filter[1];
  if (filter[0] % getGroups())
    return emitOpError("expects ") << getGroups() << " groups (" << input[1] << " input channels, " << filter[1]
                                   << " a filter) that divide the output channels, but got " << filter[0];
  // convolution_c4
  SmallVector<int64_t> output = convolutionShape(input, filter, getSpatialStride(), getPrePadding(), getPostPadding(), getDilation());
  if (llvm::is_contained(output, 0))
    return emitOpError("expects a filter that fits into the padded input, but got input ") << str(input) << " and filter " << str(filter);
  if (failed(expectShape(*this, "output", getOutputType().getShape(), output)))
    return failure();
  return expectComputeType(*this, getComputeType(), /*integers=*/true); // convolution_c5
}

LogicalResult ConvolutionOp::canonicalize(ConvolutionOp op, PatternRewriter &rewriter) {
  if (!op.getSpatialDimCount())
    return rewriter.notifyMatchFailure(op, "spatial_dim_count is not written");
  rewriter.modifyOpInPlace(op, [&] { op.removeSpatialDimCountAttr(); });
  return success();
}
