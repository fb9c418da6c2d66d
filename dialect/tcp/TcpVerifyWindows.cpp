// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of convolutions and poolings, as in TcpVerify.cpp.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

static LogicalResult expectSpatialRank(Operation *op, StringRef what, Value value,
                                       int64_t spatialRank) {
  int64_t rank = shapeOf(value).size();
  if (rank == spatialRank + 2)
    return success();
  return op->emitOpError() << "expects " << what << " of rank " << spatialRank + 2 << ", but got "
                           << rank;
}

//===-- convolutions -------------------------------------------------------===//

static LogicalResult verifyConv(ConvOpInterface op, int64_t spatialRank) {
  // conv_c1
  if (failed(expectSpatialRank(op, "input", op.getInput(), spatialRank)) ||
      failed(expectSpatialRank(op, "weights", op.getWeights(), spatialRank)) ||
      failed(expectSpatialRank(op, "output", op.getOutput(), spatialRank)))
    return failure();
  // conv_c2
  if (failed(expectCount(op, "stride", op.getStride(), spatialRank, 1)) ||
      failed(expectCount(op, "pad", op.getPad(), 2 * spatialRank, 0)) ||
      failed(expectCount(op, "dilation", op.getDilation(), spatialRank, 1)))
    return failure();
  return success();
}

LogicalResult Conv1dOp::verify() { return verifyConv(*this, 1); }
LogicalResult Conv2dOp::verify() { return verifyConv(*this, 2); }
LogicalResult Conv3dOp::verify() { return verifyConv(*this, 3); }

LogicalResult ConvTransposeOp::verify() {
  int64_t spatialRank = getStride().size();
  // conv_transpose_c1
  if (spatialRank < 1 || spatialRank > 3)
    return emitOpError("expects 1 to 3 spatial dims in 'stride', but got ") << spatialRank;
  if (failed(expectSpatialRank(*this, "input", getInput(), spatialRank)) ||
      failed(expectSpatialRank(*this, "weights", getWeights(), spatialRank)) ||
      failed(expectSpatialRank(*this, "output", getOutput(), spatialRank)))
    return failure();
  // conv_transpose_c2
  if (failed(expectCount(*this, "stride", getStride(), spatialRank, 1)) ||
      failed(expectCount(*this, "pad", getPad(), 2 * spatialRank, 0)) ||
      failed(expectCount(*this, "output_pad", getOutputPad(), spatialRank, 0)) ||
      failed(expectCount(*this, "dilation", getDilation(), spatialRank, 1)))
    return failure();
  return success();
}

/// Checks a gradient of the convolution of `input` with `weights`, whose output has the shape of
/// `gradient`.
template <typename GradientOp>
static LogicalResult verifyConvGradient(GradientOp op, Value input, Value weights, Value gradient) {
  int64_t spatialRank = op.getStride().size();
  // conv_backward_data_c1, conv_backward_filter_c1
  if (spatialRank < 1 || spatialRank > 3)
    return op.emitOpError("expects 1 to 3 spatial dims in 'stride', but got ") << spatialRank;
  bool isResult = input == op.getOutput();
  if (failed(expectSpatialRank(op, isResult ? "result" : "input", input, spatialRank)) ||
      failed(expectSpatialRank(op, isResult ? "weights" : "result", weights, spatialRank)) ||
      failed(expectSpatialRank(op, "gradient", gradient, spatialRank)))
    return failure();
  // conv_backward_data_c2, conv_backward_filter_c2
  if (failed(expectCount(op, "stride", op.getStride(), spatialRank, 1)) ||
      failed(expectCount(op, "pad", op.getPad(), 2 * spatialRank, 0)) ||
      failed(expectCount(op, "dilation", op.getDilation(), spatialRank, 1)))
    return failure();
  // conv_backward_data_c3, conv_backward_filter_c3
  Symbols none;
  Dims x = dimsOf(input), w = dimsOf(weights), dy = dimsOf(gradient);
  int64_t channel = channelDim(spatialRank, op.getChannelsLast()), groups = op.getGroups();
  if (groups < 1 || !isMultipleOf(x[channel], groups) || !isMultipleOf(dy[channel], groups))
    return op.emitOpError("expects 'groups' to divide ")
           << none.str(x[channel]) << " input channels and " << none.str(dy[channel])
           << " channels of the gradient, but got " << groups;
  Dim weightChannels = floorDiv(x[channel], groups);
  if (!none.canBeEqual(w[channel], weightChannels))
    return op.emitOpError("expects weights with ")
           << none.str(weightChannels) << " channels (" << none.str(x[channel])
           << " input channels in " << groups << " groups), but got " << none.str(w[channel]);
  // conv_backward_data_c4, conv_backward_filter_c4
  Dims expected =
      convShape(x, w, op.getStride(), op.getPad(), op.getDilation(), op.getChannelsLast());
  if (!none.canBeEqual(dy, expected) || llvm::any_of(expected, [](Dim dim) { return dim.is(0); }))
    return op.emitOpError("expects a gradient of shape ")
           << none.str(expected) << ", that of the convolution of " << none.str(x) << " with "
           << none.str(w) << ", without empty dims, but got " << none.str(dy);
  return success();
}

LogicalResult ConvBackwardDataOp::verify() {
  return verifyConvGradient(*this, getOutput(), getWeights(), getGradient());
}

LogicalResult ConvBackwardFilterOp::verify() {
  return verifyConvGradient(*this, getInput(), getOutput(), getGradient());
}

//===-- pooling ------------------------------------------------------------===//

/// Checks the attributes of a pooling of `input`, which `what` names, or of its gradient.
template <typename PoolOp>
static LogicalResult verifyPool(PoolOp op, StringRef what, Value input, ArrayRef<int64_t> pad,
                                ArrayRef<int64_t> dilation) {
  int64_t spatialRank = op.getKernel().size();
  // max_pool_c1, avg_pool_c1, max_pool_indices_c1, max_pool_backward_c1
  if (spatialRank < 1 || spatialRank > 3)
    return op.emitOpError("expects 1 to 3 numbers in 'kernel', but got ") << spatialRank;
  if (failed(expectSpatialRank(op, what, input, spatialRank)))
    return failure();
  // max_pool_c2, avg_pool_c2, max_pool_indices_c2, max_pool_backward_c2
  if (failed(expectCount(op, "kernel", op.getKernel(), spatialRank, 1)) ||
      failed(expectCount(op, "stride", op.getStride(), spatialRank, 1)) ||
      failed(expectCount(op, "pad", pad, 2 * spatialRank, 0)) ||
      failed(expectCount(op, "dilation", dilation, spatialRank, 1)))
    return failure();
  return success();
}

LogicalResult MaxPoolOp::verify() {
  return verifyPool(*this, "input", getInput(), getPad(), getDilation());
}

LogicalResult MaxPoolIndicesOp::verify() {
  return verifyPool(*this, "input", getInput(), getPad(), getDilation());
}

LogicalResult MaxPoolBackwardOp::verify() {
  int64_t spatialRank = getKernel().size();
  if (failed(verifyPool(*this, "result", getOutput(), getPad(), getDilation())))
    return failure();
  return expectSpatialRank(*this, "gradient", getGradient(), spatialRank);
}

LogicalResult AvgPoolOp::verify() {
  // avg_pool_c2
  int64_t spatialRank = getKernel().size();
  if (failed(expectCount(*this, "ceil_pad", getCeilPad(), spatialRank, 0)) ||
      failed(expectCount(*this, "pad", getPad(), 2 * spatialRank, 0)))
    return failure();
  // avg_pool_c4
  if (getDivisor() && *getDivisor() == 0)
    return emitOpError("expects a nonzero 'divisor', but got 0");
  return verifyPool(*this, "input", getInput(), getPad(), SmallVector<int64_t>(spatialRank, 1));
}
