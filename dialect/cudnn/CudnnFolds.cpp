// Folds and canonical forms of the cudnn ops.

#include "dialect/cudnn/CudnnOps.h"

using namespace mlir;
using namespace convoy::cudnn;

OpFoldResult PointwiseOp::fold(FoldAdaptor) {
  // An identity that converts nothing. Its operand must be computed in the graph: cuDNN has no graph that returns what it reads. An
  // identity over a clip is kept: it is what makes cuDNN take a bounded clip after a bias.
  if (getMode() != PointwiseMode::Identity || getInputs().front().getType() != getY().getType() || !getAlpha1().isExactlyValue(1.0))
    return {};
  auto producer = getInputs().front().getDefiningOp<PointwiseOp>();
  if (!getInputs().front().getDefiningOp() || (producer && producer.getUpperClip()))
    return {};
  return getInputs().front();
}

LogicalResult ConvolutionOp::canonicalize(ConvolutionOp op, PatternRewriter &rewriter) {
  if (!op.getSpatialDimCount())
    return rewriter.notifyMatchFailure(op, "spatial_dim_count is not written");
  rewriter.modifyOpInPlace(op, [&] { op.removeSpatialDimCountAttr(); });
  return success();
}

LogicalResult PointwiseReluOp::canonicalize(PointwiseReluOp op, PatternRewriter &rewriter) {
  auto relu = PointwiseOp::create(rewriter, op.getLoc(), op.getY().getType(), PointwiseMode::ReluFwd, op.getX(), op.getComputeType());
  relu.setLowerClipAttr(op.getLowerClipAttr());
  rewriter.replaceOp(op, relu);
  return success();
}
