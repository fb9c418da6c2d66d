// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions, softmax and layer norm. Accumulators are f32 for narrower floats.
//
// The result of a linalg reduction lacks the reduced dims, so that every map is a projected
// permutation; a reshape adds them with size 1.

#include "dialect/tcp/TcpOps.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

namespace {

/// `shape` with 1 at `dims`.
SmallVector<int64_t> keptShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> result(shape);
  for (int64_t dim : dims)
    result[dim] = 1;
  return result;
}

/// Reduces `inputs` (of equal rank; dims of size 1 broadcast to the first one's) over `dims`,
/// beginning with `start`. The last argument of `combine` is the accumulator. The result keeps the
/// dims with size 1.
Value reduce(OpBuilder &builder, Location loc, ValueRange inputs, ArrayRef<int64_t> dims,
             Value start, ScalarBody combine) {
  ArrayRef<int64_t> shape = shapeOf(inputs[0]);
  SmallVector<int64_t> keptSizes;
  SmallVector<AffineExpr> kept;
  SmallVector<utils::IteratorType> iterators;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool isReduced = llvm::is_contained(dims, i);
    iterators.push_back(isReduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    if (isReduced)
      continue;
    keptSizes.push_back(size);
    kept.push_back(builder.getAffineDimExpr(i));
  }
  SmallVector<AffineMap> maps = llvm::map_to_vector(inputs, [&](Value input) {
    return broadcastMap(builder.getContext(), shapeOf(input), shape);
  });
  maps.push_back(AffineMap::get(shape.size(), 0, kept, builder.getContext()));
  Value result = reductionGeneric(builder, loc, filled(builder, loc, keptSizes, start), inputs,
                                  maps, iterators, combine);
  return reshapeTo(builder, loc, result, keptShape(shape, dims));
}

Value maximum(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::MaximumFOp::create(builder, loc, a, b);
  return a.getType().isInteger(1) ? Value(arith::OrIOp::create(builder, loc, a, b))
                                  : Value(arith::MaxSIOp::create(builder, loc, a, b));
}

/// One step of a sum that may be reassociated, so that it can use several vector lanes, which is
/// also more accurate.
Value addInAnyOrder(OpBuilder &builder, Location loc, Value soFar, Value next) {
  return arith::AddFOp::create(builder, loc, soFar, next, arith::FastMathFlags::reassoc);
}

/// The sum over `dims` in the compute type.
Value sum(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  Type type = computeType(elementTypeOf(input));
  return reduce(builder, loc, input, dims, zeroOf(builder, loc, type),
                [&](OpBuilder &inner, Location innerLoc, ValueRange args) {
                  if (!isa<FloatType>(type))
                    return arith::AddIOp::create(inner, innerLoc, args[1], args[0]).getResult();
                  return addInAnyOrder(inner, innerLoc, args[1],
                                       convertFloat(inner, innerLoc, args[0], type));
                });
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

double countOver(Value input, ArrayRef<int64_t> dims) {
  double count = 1;
  for (int64_t dim : dims)
    count *= static_cast<double>(shapeOf(input)[dim]);
  return count;
}

/// For each element the sum over `dims`, on which the result does not depend.
Value sumForEach(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(input.getType());
  unsigned rank = type.getRank(), loops = rank + dims.size();
  SmallVector<AffineExpr> read;
  for (unsigned dim = 0; dim < rank; ++dim)
    read.push_back(builder.getAffineDimExpr(dim));
  for (auto [i, dim] : llvm::enumerate(dims))
    read[dim] = builder.getAffineDimExpr(rank + i);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.resize(loops, utils::IteratorType::reduction);
  Value start = filled(builder, loc, type.getShape(), zeroOf(builder, loc, type.getElementType()));
  return reductionGeneric(
      builder, loc, start, input,
      {AffineMap::get(loops, 0, read, builder.getContext()),
       AffineMap::getMultiDimIdentityMap(loops, builder.getContext()).getMajorSubMap(rank)},
      iterators, [&](OpBuilder &inner, Location innerLoc, ValueRange args) {
        return addInAnyOrder(inner, innerLoc, args[1], args[0]);
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

/// Rows of more elements are reduced in steps if they are not contiguous.
constexpr int64_t kLongRow = 1 << 15;

/// Splits the dims of a reduction into two steps: those outside of another dim, and those inside of
/// all others. In the first step, neighboring threads read neighboring elements, as in a group norm
/// of channels-last images, where a row has only the few channels of a group of each pixel. The
/// second step keeps its dims, so that later loops over them and the others merge. Short rows have
/// one step, since a block that keeps a row in registers reads it only once.
std::pair<SmallVector<int64_t>, SmallVector<int64_t>> stepsOf(ArrayRef<int64_t> shape,
                                                              ArrayRef<int64_t> dims) {
  int64_t inside = shape.size(), length = 1;
  while (inside > 0 && (shape[inside - 1] == 1 || llvm::is_contained(dims, inside - 1)))
    --inside;
  SmallVector<int64_t> first, last;
  for (int64_t dim : dims) {
    length *= shape[dim];
    (dim < inside ? first : last).push_back(dim);
  }
  if (length > kLongRow && !first.empty())
    return {first, last};
  return {SmallVector<int64_t>(dims), {}};
}

/// Two passes over the data, the mean, then the mean of squared differences, to avoid cancellation.
struct LayerNormPattern : public OpConversionPattern<tcp::LayerNormOp> {
  using OpConversionPattern<tcp::LayerNormOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::LayerNormOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    auto type = cast<RankedTensorType>(input.getType());
    Type compute = computeType(type.getElementType());
    ArrayRef<int64_t> dims = op.getDims();
    double count = countOver(input, dims), epsilon = op.getEpsilon().convertToDouble();
    auto [first, last] = stepsOf(type.getShape(), dims);
    RankedTensorType rowType = RankedTensorType::get(keptShape(type.getShape(), first), compute);
    auto sumSteps = [&, dims = last](Value sums) {
      return dims.empty() ? sums : sumForEach(rewriter, loc, sums, dims);
    };
    auto difference = [&](OpBuilder &builder, Location inner, Value x, Value mean) -> Value {
      return arith::SubFOp::create(builder, inner, convertFloat(builder, inner, x, compute), mean);
    };
    Value mean = broadcastGeneric(
        rewriter, loc, rowType, sumSteps(sum(rewriter, loc, input, first)),
        [&](OpBuilder &builder, Location inner, ValueRange args) {
          return arith::DivFOp::create(builder, inner, args[0],
                                       scalarConstant(builder, inner, compute, count))
              .getResult();
        });
    Value squares =
        sumSteps(reduce(rewriter, loc, {input, mean}, first, zeroOf(rewriter, loc, compute),
                        [&](OpBuilder &builder, Location inner, ValueRange args) {
                          Value x = difference(builder, inner, args[0], args[1]);
                          Value square = arith::MulFOp::create(builder, inner, x, x);
                          return addInAnyOrder(builder, inner, args[2], square);
                        }));
    Value scale = broadcastGeneric(
        rewriter, loc, rowType, squares, [&](OpBuilder &builder, Location inner, ValueRange args) {
          Value variance = arith::DivFOp::create(builder, inner, args[0],
                                                 scalarConstant(builder, inner, compute, count));
          variance = arith::AddFOp::create(builder, inner, variance,
                                           scalarConstant(builder, inner, compute, epsilon));
          Value deviation = math::SqrtOp::create(builder, inner, variance);
          return arith::DivFOp::create(builder, inner, scalarConstant(builder, inner, compute, 1),
                                       deviation)
              .getResult();
        });
    rewriter.replaceOp(
        op, broadcastGeneric(rewriter, loc, type, {input, mean, scale},
                             [&](OpBuilder &builder, Location inner, ValueRange args) {
                               Value x = difference(builder, inner, args[0], args[1]);
                               x = arith::MulFOp::create(builder, inner, x, args[2]);
                               return convertFloat(builder, inner, x, type.getElementType());
                             }));
    return success();
  }
};

} // namespace

void convoy::populateReductionPatterns(RewritePatternSet &patterns) {
  patterns
      .add<ReduceSumPattern, ReduceMeanPattern, ReduceMaxPattern, SoftmaxPattern, LayerNormPattern>(
          patterns.getContext());
}
