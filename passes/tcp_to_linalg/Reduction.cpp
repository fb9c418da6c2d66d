// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions and softmax. Accumulators are f32 for narrower floats.

#include "dialect/tcp/TcpOps.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"
#include "passes/tcp_to_linalg/ReductionUtils.h"

using namespace mlir;
using namespace convoy;

namespace {

Value maximum(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::MaximumFOp::create(builder, loc, a, b);
  return a.getType().isInteger(1) ? Value(arith::OrIOp::create(builder, loc, a, b))
                                  : Value(arith::MaxSIOp::create(builder, loc, a, b));
}

/// The maximum over `dims` in the compute type, which represents it exactly: loops over narrow
/// floats do not vectorize.
Value largest(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  Type type = computeType(elementTypeOf(input));
  return reduce(builder, loc, input, dims, lowestOf(builder, loc, type),
                [&](OpBuilder &inner, Location innerLoc, ValueRange args) {
                  return maximum(inner, innerLoc, args[1],
                                 isa<FloatType>(type) ? convertFloat(inner, innerLoc, args[0], type)
                                                      : args[0]);
                });
}

struct ReduceSumPattern : public OpConversionPattern<tcp::ReduceSumOp> {
  using OpConversionPattern<tcp::ReduceSumOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ReduceSumOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    if (!whyUnsupported(op).empty())
      return rewriter.notifyMatchFailure(op, whyUnsupported(op));
    Value result = sum(rewriter, op.getLoc(), adaptor.getInput(), op.getDims());
    rewriter.replaceOp(
        op, convertElements(rewriter, op.getLoc(), result, elementTypeOf(op.getOutput())));
    return success();
  }
};

struct ReduceMeanPattern : public OpConversionPattern<tcp::ReduceMeanOp> {
  using OpConversionPattern<tcp::ReduceMeanOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ReduceMeanOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    if (!whyUnsupported(op).empty())
      return rewriter.notifyMatchFailure(op, whyUnsupported(op));
    Value total = sum(rewriter, op.getLoc(), adaptor.getInput(), op.getDims());
    double count = countOver(adaptor.getInput(), op.getDims());
    Value mean = broadcastGeneric(
        rewriter, op.getLoc(), type, total, [&](OpBuilder &builder, Location loc, ValueRange args) {
          Value quotient = arith::DivFOp::create(
              builder, loc, args[0], scalarConstant(builder, loc, args[0].getType(), count));
          return convertFloat(builder, loc, quotient, type.getElementType());
        });
    rewriter.replaceOp(op, mean);
    return success();
  }
};

struct ReduceMaxPattern : public OpConversionPattern<tcp::ReduceMaxOp> {
  using OpConversionPattern<tcp::ReduceMaxOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ReduceMaxOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Value result = largest(rewriter, op.getLoc(), adaptor.getInput(), op.getDims());
    rewriter.replaceOp(
        op, convertElements(rewriter, op.getLoc(), result, elementTypeOf(op.getOutput())));
    return success();
  }
};

struct SoftmaxPattern : public OpConversionPattern<tcp::SoftmaxOp> {
  using OpConversionPattern<tcp::SoftmaxOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::SoftmaxOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    auto type = cast<RankedTensorType>(input.getType());
    Type compute = computeType(type.getElementType());
    SmallVector<int64_t> dims = {static_cast<int64_t>(op.getDim())};
    Value top = largest(rewriter, loc, input, dims);
    Value exponentials = broadcastGeneric(
        rewriter, loc, type.clone(compute), {input, top},
        [&](OpBuilder &builder, Location inner, ValueRange args) {
          Value difference = arith::SubFOp::create(
              builder, inner, convertFloat(builder, inner, args[0], compute), args[1]);
          Value exponential = math::ExpOp::create(builder, inner, difference);
          allowApproximation(op, builder.getInsertionBlock(), type.getElementType());
          return exponential;
        });
    Value total = sum(rewriter, loc, exponentials, dims);
    rewriter.replaceOp(
        op, broadcastGeneric(rewriter, loc, type, {exponentials, total},
                             [&](OpBuilder &builder, Location inner, ValueRange args) {
                               Value quotient =
                                   arith::DivFOp::create(builder, inner, args[0], args[1]);
                               allowApproximation(op, builder.getInsertionBlock(),
                                                  type.getElementType());
                               return convertFloat(builder, inner, quotient, type.getElementType());
                             }));
    return success();
  }
};

} // namespace

void convoy::populateReductionPatterns(RewritePatternSet &patterns) {
  patterns.add<ReduceSumPattern, ReduceMeanPattern, ReduceMaxPattern, SoftmaxPattern>(
      patterns.getContext());
}
