// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Transposed convolutions and gradients of convolutions, which become forward convolutions.

#include "dialect/tcp/TcpOps.h"
#include "passes/common/ConvGradients.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

namespace {

using Dims = SmallVector<int64_t>;

/// tcp.conv_transpose to a convolution with stride 1 of the input with zeros between its elements
/// and the reversed filter.
struct ConvTransposePattern : public OpConversionPattern<tcp::ConvTransposeOp> {
  using OpConversionPattern<tcp::ConvTransposeOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ConvTransposeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    int64_t rank = op.getStride().size(), groups = op.getGroups();
    auto inputType = cast<RankedTensorType>(adaptor.getInput().getType());
    auto weightsType = cast<RankedTensorType>(adaptor.getWeights().getType());
    Dims low(rank + 2, 0), high(rank + 2, 0), interior(rank + 2, 0),
        paddedShape(inputType.getShape()), reversedDims;
    for (int64_t i = 0; i < rank; ++i) {
      int64_t reach = op.getDilation()[i] * (weightsType.getDimSize(i + 2) - 1);
      low[i + 2] = reach - op.getPad()[2 * i];
      high[i + 2] = reach - op.getPad()[2 * i + 1] + op.getOutputPad()[i];
      interior[i + 2] = op.getStride()[i] - 1;
      paddedShape[i + 2] += low[i + 2] + high[i + 2] + (paddedShape[i + 2] - 1) * interior[i + 2];
      reversedDims.push_back(i + 2);
    }
    Value input = tcp::PadOp::create(rewriter, loc, inputType.clone(paddedShape),
                                     adaptor.getInput(), low, high, interior, APFloat(0.0));
    // C x K/groups x window to K x C/groups x window, group by group.
    Value weights =
        tcp::ReverseOp::create(rewriter, loc, weightsType, adaptor.getWeights(), reversedDims);
    int64_t inputs = weightsType.getDimSize(0) / groups, outputs = weightsType.getDimSize(1);
    Dims window(weightsType.getShape().drop_front(2)), byGroup = {groups, inputs, outputs},
                                                       swapped = {groups, outputs, inputs};
    Dims perm = {0, 2, 1}, shape = {groups * outputs, inputs};
    byGroup.append(window);
    swapped.append(window);
    shape.append(window);
    perm.append(llvm::to_vector(llvm::seq<int64_t>(3, rank + 3)));
    weights = tcp::ReshapeOp::create(rewriter, loc, weightsType.clone(byGroup), weights);
    weights = tcp::TransposeOp::create(rewriter, loc, weightsType.clone(swapped), weights, perm);
    weights = tcp::ReshapeOp::create(rewriter, loc, weightsType.clone(shape), weights);

    Dims ones(rank, 1), noPad(2 * rank, 0), dilation(op.getDilation());
    auto replace = [&](auto conv) {
      rewriter.replaceOp(op, conv);
      return success();
    };
    auto groupsAttr = rewriter.getI64IntegerAttr(groups);
    auto array = [&](const Dims &values) { return rewriter.getDenseI64ArrayAttr(values); };
    if (rank == 1)
      return replace(tcp::Conv1dOp::create(rewriter, loc, op.getType(), input, weights, array(ones),
                                           array(noPad), array(dilation), groupsAttr, UnitAttr()));
    if (rank == 2)
      return replace(tcp::Conv2dOp::create(rewriter, loc, op.getType(), input, weights, array(ones),
                                           array(noPad), array(dilation), groupsAttr, UnitAttr()));
    return replace(tcp::Conv3dOp::create(rewriter, loc, op.getType(), input, weights, array(ones),
                                         array(noPad), array(dilation), groupsAttr, UnitAttr()));
  }
};

/// Gradients that cuDNN does not support: forward ops.
template <typename GradientOp> struct ConvGradientPattern : public OpConversionPattern<GradientOp> {
  using OpConversionPattern<GradientOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(GradientOp op, typename GradientOp::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    ValueRange operands = adaptor.getOperands();
    rewriter.replaceOp(op, decomposeGradient(rewriter, op, operands[0], operands[1]));
    return success();
  }
};

} // namespace

void convoy::populateTransposedConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvTransposePattern, ConvGradientPattern<tcp::ConvBackwardDataOp>,
               ConvGradientPattern<tcp::ConvBackwardFilterOp>>(patterns.getContext());
}
