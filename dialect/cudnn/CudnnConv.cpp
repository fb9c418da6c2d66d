// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolutions. Each check has the label of its constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

TensorDescType ConvolutionOp::getInputType() {
  return getMode() == ConvolutionMode::Dgrad ? getY().getType() : getX().getType();
}

TensorDescType ConvolutionOp::getFilterType() {
  return getMode() == ConvolutionMode::Wgrad ? getY().getType() : getW().getType();
}

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

/// Checks the channels and groups of an input and a filter.
static LogicalResult verifyChannels(ConvolutionOp op, ArrayRef<int64_t> input,
                                    ArrayRef<int64_t> filter) {
  if (op.hasGroupDim()) {
    if (input[1] != filter[0] || input[2] != filter[2])
      return op.emitOpError("expects input N x G x C x spatial and filter G x K x C x window with "
                            "equal G and C, but got ")
             << str(input) << " and " << str(filter);
    return success();
  }
  if (input[1] % filter[1])
    return op.emitOpError("expects the filter channels to divide ")
           << input[1] << " input channels, but got " << filter[1];
  int64_t groups = input[1] / filter[1];
  if (filter[0] % groups)
    return op.emitOpError("expects ")
           << groups << " groups (" << input[1] << " input channels, " << filter[1]
           << " per filter) to divide the output channels, but got " << filter[0];
  return success();
}

LogicalResult ConvolutionOp::verify() {
  // convolution_c1
  int64_t spatialRank = getSpatialRank(), rank = getX().getType().getRank();
  if (spatialRank < 1 || spatialRank > 3)
    return emitOpError("expects 1 to 3 spatial dims (the length of 'spatial_stride'), but got ")
           << spatialRank;
  if (failed(expectRank(*this, spatialRank + 2, spatialRank + 3)))
    return failure();
  // convolution_c2
  if (failed(expectCount(*this, "spatial_stride", getSpatialStride(), spatialRank, 1)) ||
      failed(expectCount(*this, "pre_padding", getPrePadding(), spatialRank, 0)) ||
      failed(expectCount(*this, "post_padding", getPostPadding(), spatialRank, 0)) ||
      failed(expectCount(*this, "dilation", getDilation(), spatialRank, 1)))
    return failure();
  // convolution_c6
  if (getSpatialDimCount() && *getSpatialDimCount() != static_cast<uint64_t>(spatialRank) &&
      *getSpatialDimCount() != static_cast<uint64_t>(rank))
    return emitOpError("expects 'spatial_dim_count' ")
           << spatialRank << " (or " << rank << ", the rank), but got "
           << static_cast<int64_t>(*getSpatialDimCount());
  // convolution_c3
  SmallVector<int64_t> input = getInputType().getLogicalShape(),
                       filter = getFilterType().getLogicalShape();
  if (failed(verifyChannels(*this, input, filter)))
    return failure();
  // convolution_c4
  FailureOr<SmallVector<int64_t>> output = convolutionShape(
      input, filter, getSpatialStride(), getPrePadding(), getPostPadding(), getDilation());
  if (failed(output))
    return emitOpError("expects a filter that fits into the padded input, but got input ")
           << str(input) << " and filter " << str(filter);
  if (failed(expectShape(*this, "output", getOutputType().getLogicalShape(), *output)))
    return failure();
  return expectComputeType(*this, getComputeType(),
                           {/*integer=*/true, /*boolean=*/false, /*fp8=*/true}); // convolution_c5
}

LogicalResult ConvolutionOp::canonicalize(ConvolutionOp op, PatternRewriter &rewriter) {
  if (!op.getSpatialDimCount())
    return rewriter.notifyMatchFailure(op, "spatial_dim_count is absent");
  rewriter.modifyOpInPlace(op, [&] { op.removeSpatialDimCountAttr(); });
  return success();
}
