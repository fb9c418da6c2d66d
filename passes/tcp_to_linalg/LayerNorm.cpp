// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layer norm, of which group and instance norms are reshapes. The statistics are f32 for narrower
// floats, and take two passes, the mean and the mean of squared differences, to avoid cancellation.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/common/RowLoops.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/NormParts.h"
#include "passes/tcp_to_linalg/Patterns.h"
#include "passes/tcp_to_linalg/ReductionUtils.h"

using namespace mlir;
using namespace convoy;

namespace {

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
  if (length > kLongInterleavedRow && !first.empty())
    return {first, last};
  return {SmallVector<int64_t>(dims), {}};
}

/// The mean of each row, and the sum of its squared differences from it. Both keep the rank of the
/// input, with 1 at the reduced dims.
struct Statistics {
  Value mean, squares;
};

class StatisticsBuilder {
public:
  StatisticsBuilder(OpBuilder &builder, Location loc, Type compute)
      : b(builder), loc(loc), compute(compute) {}

  /// Statistics of `input` over `first`, then over the dims `last` of the results, which keep them.
  Statistics of(Value input, ArrayRef<int64_t> first, ArrayRef<int64_t> last) {
    auto sumLast = [&](Value sums) { return last.empty() ? sums : sumForEach(b, loc, sums, last); };
    Value mean = dividedBy(sumLast(sum(b, loc, input, first)),
                           countOver(input, first) * countOver(input, last));
    Value squares =
        reduce(b, loc, {input, mean}, first, zeroOf(b, loc, compute),
               [&](OpBuilder &builder, Location inner, ValueRange args) {
                 return addInAnyOrder(builder, inner, args[2],
                                      squaredDifference(builder, inner, args[0], args[1]));
               });
    return {mean, sumLast(squares)};
  }

  /// Statistics of rows from those of their parts, which have equal sizes (Chan, Golub and LeVeque,
  /// "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances").
  Statistics of(Value input, const NormParts &parts) {
    Value split = reshapeTo(b, loc, input, parts.shape);
    auto [mean, squares] = parts.areColumns ? ofColumns(split, parts) : ofRows(split, parts);
    SmallVector<int64_t> dims = parts.inside;
    llvm::append_range(dims, parts.across);
    // The split dim has one number of parts and one size.
    SmallVector<int64_t> shape = keptShape(parts.shape, dims);
    shape.erase(shape.begin() + parts.across.back());
    return {reshapeTo(b, loc, mean, shape), reshapeTo(b, loc, squares, shape)};
  }

private:
  Statistics ofRows(Value split, const NormParts &parts) {
    Statistics each = of(split, parts.inside, {});
    Value mean = dividedBy(sum(b, loc, each.mean, parts.across), countOver(split, parts.across));
    Value squares =
        reduce(b, loc, {each.squares, each.mean, mean}, parts.across, zeroOf(b, loc, compute),
               [&](OpBuilder &builder, Location inner, ValueRange args) {
                 return addPart(builder, inner, parts, args[3], args[0], args[1], args[2]);
               });
    return {mean, squares};
  }

  /// Statistics of parts whose neighboring elements belong to different rows: threads that read
  /// along memory have no part of their own to keep in registers. So one reduction sums the
  /// differences from the first element of the part, and their squares. The square of the sum,
  /// which is subtracted, is at most `size` times the squared differences from the mean, because
  /// the first element is one of them. So roundings grow by that factor at most.
  Statistics ofColumns(Value split, const NormParts &parts) {
    Value first = firstOf(split, parts.inside);
    auto [sums, squaredSums] = sumsOfDifferences(split, first, parts.inside);
    auto meanOf = [&](OpBuilder &builder, Location inner, Value sum, Value start) {
      sum = arith::MulFOp::create(builder, inner, sum,
                                  scalarConstant(builder, inner, compute, 1.0 / parts.size));
      return arith::AddFOp::create(builder, inner, convertFloat(builder, inner, start, compute),
                                   sum)
          .getResult();
    };
    Value total = reduce(b, loc, {sums, first}, parts.across, zeroOf(b, loc, compute),
                         [&](OpBuilder &builder, Location inner, ValueRange args) {
                           return addInAnyOrder(builder, inner, args[2],
                                                meanOf(builder, inner, args[0], args[1]));
                         });
    Value mean = dividedBy(total, countOver(split, parts.across));
    Value squares = reduce(
        b, loc, {sums, squaredSums, first, mean}, parts.across, zeroOf(b, loc, compute),
        [&](OpBuilder &builder, Location inner, ValueRange args) {
          Value own = arith::MulFOp::create(builder, inner, args[0], args[0]);
          own = arith::MulFOp::create(builder, inner, own,
                                      scalarConstant(builder, inner, compute, 1.0 / parts.size));
          own = arith::SubFOp::create(builder, inner, args[1], own);
          return addPart(builder, inner, parts, args[4], own,
                         meanOf(builder, inner, args[0], args[2]), args[3]);
        });
    return {mean, squares};
  }

  /// The elements of `input` at index 0 of `dims`.
  Value firstOf(Value input, ArrayRef<int64_t> dims) {
    SmallVector<OpFoldResult> offsets(shapeOf(input).size(), b.getIndexAttr(0)),
        strides(shapeOf(input).size(), b.getIndexAttr(1)), sizes;
    for (int64_t size : keptShape(shapeOf(input), dims))
      sizes.push_back(b.getIndexAttr(size));
    return tensor::ExtractSliceOp::create(b, loc, input, offsets, sizes, strides);
  }

  /// The sums over `dims` of the differences of `input` and `start`, and of their squares.
  std::pair<Value, Value> sumsOfDifferences(Value input, Value start, ArrayRef<int64_t> dims) {
    ArrayRef<int64_t> shape = shapeOf(input);
    SmallVector<int64_t> sizes;
    SmallVector<AffineExpr> kept;
    SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::reduction);
    for (auto [dim, size] : llvm::enumerate(shape)) {
      if (llvm::is_contained(dims, dim))
        continue;
      iterators[dim] = utils::IteratorType::parallel;
      sizes.push_back(size);
      kept.push_back(b.getAffineDimExpr(dim));
    }
    MLIRContext *context = b.getContext();
    AffineMap result = AffineMap::get(shape.size(), 0, kept, context);
    Value zero = zeroOf(b, loc, compute);
    SmallVector<Value> inits = {filled(b, loc, sizes, zero), filled(b, loc, sizes, zero)};
    auto sums = linalg::GenericOp::create(
        b, loc, TypeRange(inits), ValueRange{input, start}, inits,
        ArrayRef{b.getMultiDimIdentityMap(shape.size()),
                 broadcastMap(context, shapeOf(start), shape), result, result},
        iterators, [&](OpBuilder &builder, Location inner, ValueRange args) {
          Value difference =
              arith::SubFOp::create(builder, inner, convertFloat(builder, inner, args[0], compute),
                                    convertFloat(builder, inner, args[1], compute));
          Value square = arith::MulFOp::create(builder, inner, difference, difference);
          linalg::YieldOp::create(builder, inner,
                                  {addInAnyOrder(builder, inner, args[2], difference),
                                   addInAnyOrder(builder, inner, args[3], square)});
        });
    SmallVector<int64_t> whole = keptShape(shape, dims);
    return {reshapeTo(b, loc, sums.getResult(0), whole),
            reshapeTo(b, loc, sums.getResult(1), whole)};
  }

  /// Adds the squared differences of a part from `mean` to `soFar`: `own` are those from the part's
  /// own mean.
  Value addPart(OpBuilder &builder, Location inner, const NormParts &parts, Value soFar, Value own,
                Value ownMean, Value mean) {
    Value square = squaredDifference(builder, inner, ownMean, mean);
    square = arith::MulFOp::create(builder, inner, square,
                                   scalarConstant(builder, inner, compute, parts.size));
    return addInAnyOrder(builder, inner, soFar, arith::AddFOp::create(builder, inner, own, square));
  }

  Value dividedBy(Value sums, double count) {
    return broadcastGeneric(b, loc, cast<RankedTensorType>(sums.getType()), sums,
                            [&](OpBuilder &builder, Location inner, ValueRange args) {
                              return arith::DivFOp::create(
                                         builder, inner, args[0],
                                         scalarConstant(builder, inner, compute, count))
                                  .getResult();
                            });
  }

  /// The square of the difference of `x` and `mean`.
  Value squaredDifference(OpBuilder &builder, Location inner, Value x, Value mean) {
    Value difference =
        arith::SubFOp::create(builder, inner, convertFloat(builder, inner, x, compute), mean);
    return arith::MulFOp::create(builder, inner, difference, difference);
  }

  OpBuilder &b;
  Location loc;
  Type compute;
};

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
    StatisticsBuilder statistics(rewriter, loc, compute);
    std::optional<NormParts> parts = isCuda(op) ? normPartsOf(type, dims) : std::nullopt;
    auto [first, last] = stepsOf(type.getShape(), dims);
    auto [mean, squares] = parts ? statistics.of(input, *parts) : statistics.of(input, first, last);
    Value scale = broadcastGeneric(
        rewriter, loc, cast<RankedTensorType>(squares.getType()), squares,
        [&](OpBuilder &builder, Location inner, ValueRange args) {
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
                               Value x = convertFloat(builder, inner, args[0], compute);
                               x = arith::SubFOp::create(builder, inner, x, args[1]);
                               x = arith::MulFOp::create(builder, inner, x, args[2]);
                               return convertFloat(builder, inner, x, type.getElementType());
                             }));
    return success();
  }
};

} // namespace

void convoy::populateLayerNormPatterns(RewritePatternSet &patterns) {
  patterns.add<LayerNormPattern>(patterns.getContext());
}
