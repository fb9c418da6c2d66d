// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pooling: padding, then a reduction over the window. For the mean, a division by counts computed
// from the indices.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

namespace {

/// A window that slides over the spatial dims of a padded input.
struct Window {
  ArrayRef<int64_t> kernel, stride, dilation;
  bool channelsLast;

  /// Reduces each window of `input` into `init`, whose shape is the result's.
  Value reduce(OpBuilder &builder, Location loc, Value input, Value init,
               ScalarBody combine) const {
    int64_t rank = kernel.size(), outer = rank + 2, first = tcp::firstSpatialDim(channelsLast);
    SmallVector<AffineExpr> inputMap, windowMap;
    for (int64_t i = 0; i < outer; ++i)
      inputMap.push_back(builder.getAffineDimExpr(i));
    for (int64_t i = 0; i < rank; ++i) {
      inputMap[first + i] =
          inputMap[first + i] * stride[i] + builder.getAffineDimExpr(outer + i) * dilation[i];
      windowMap.push_back(builder.getAffineDimExpr(outer + i));
    }
    SmallVector<utils::IteratorType> iterators(outer, utils::IteratorType::parallel);
    iterators.append(rank, utils::IteratorType::reduction);
    auto map = [&](ArrayRef<AffineExpr> results) {
      return AffineMap::get(outer + rank, 0, results, builder.getContext());
    };
    // An operand that is never read defines the bounds of the window's loops.
    Value shape = tensor::EmptyOp::create(builder, loc, kernel, elementTypeOf(init));
    return reductionGeneric(builder, loc, init, {input, shape},
                            {map(inputMap), map(windowMap),
                             builder.getMultiDimIdentityMap(outer + rank).getMajorSubMap(outer)},
                            iterators, combine);
  }
};

/// Whether every window of a pooling contains the input's edge at each side where it exceeds the
/// input. Clamping indices to the edge then does not change the maximum.
bool edgesSuffice(tcp::MaxPoolOp op) {
  ArrayRef<int64_t> input = shapeOf(op.getInput()), output = shapeOf(op.getOutput());
  int64_t first = tcp::firstSpatialDim(op.getChannelsLast());
  for (size_t i = 0; i < op.getKernel().size(); ++i) {
    int64_t low = op.getPad()[2 * i], lastStart = (output[first + i] - 1) * op.getStride()[i] - low;
    if (op.getDilation()[i] != 1 || low >= op.getKernel()[i] || lastStart >= input[first + i])
      return false;
  }
  return true;
}

/// Reduces each window of `input` without a padded copy: indices are clamped to the input's edge.
/// `pad` has low and high for each spatial dim. `combine` gets the running value, an element, and a
/// flag whether the window has it there, or null if all windows are within the input.
Value reduceClamped(OpBuilder &builder, Location loc, Value input, Value init,
                    ArrayRef<int64_t> kernel, ArrayRef<int64_t> stride, ArrayRef<int64_t> pad,
                    bool channelsLast,
                    llvm::function_ref<Value(OpBuilder &, Location, Value, Value, Value)> combine) {
  ArrayRef<int64_t> shape = shapeOf(input), places = shapeOf(init);
  int64_t rank = kernel.size(), outer = rank + 2, first = tcp::firstSpatialDim(channelsLast);
  SmallVector<utils::IteratorType> iterators(outer, utils::IteratorType::parallel);
  iterators.append(rank, utils::IteratorType::reduction);
  AffineMap all = builder.getMultiDimIdentityMap(outer + rank);
  // An operand that is never read defines the bounds of the window's loops.
  Value window = tensor::EmptyOp::create(builder, loc, kernel, elementTypeOf(init));
  SmallVector<AffineMap> maps = {all.getMinorSubMap(rank), all.getMajorSubMap(outer)};
  return reductionGeneric(
      builder, loc, init, window, maps, iterators,
      [&](OpBuilder &inner, Location innerLoc, ValueRange args) {
        auto number = [&](int64_t value) {
          return arith::ConstantIndexOp::create(inner, innerLoc, value).getResult();
        };
        SmallVector<Value> indices;
        Value inside;
        for (int64_t i = 0; i < outer; ++i) {
          Value index = linalg::IndexOp::create(inner, innerLoc, i);
          int64_t dim = i - first;
          if (dim >= 0 && dim < rank) {
            int64_t low = pad[2 * dim], step = stride[dim];
            index = arith::MulIOp::create(inner, innerLoc, index, number(step));
            index = arith::AddIOp::create(
                inner, innerLoc, index,
                linalg::IndexOp::create(inner, innerLoc, outer + dim).getResult());
            Value place = index;
            if (low != 0)
              place = arith::SubIOp::create(inner, innerLoc, index, number(low));
            bool above = (places[i] - 1) * step - low + kernel[dim] > shape[i];
            index = low == 0
                        ? place
                        : arith::MaxSIOp::create(inner, innerLoc, place, number(0)).getResult();
            if (above)
              index = arith::MinSIOp::create(inner, innerLoc, index, number(shape[i] - 1));
            if (low != 0 || above) {
              // Unlike the edge's, other places change when they are clamped.
              Value isPlace =
                  arith::CmpIOp::create(inner, innerLoc, arith::CmpIPredicate::eq, place, index);
              inside = inside ? arith::AndIOp::create(inner, innerLoc, inside, isPlace).getResult()
                              : isPlace;
            }
          }
          indices.push_back(index);
        }
        Value element = tensor::ExtractOp::create(inner, innerLoc, input, indices);
        return combine(inner, innerLoc, args[1], element, inside);
      });
}

/// Pads `input` with `pad`: low and high for each spatial dim.
Value paddedSpatial(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> pad,
                    bool channelsLast, Value padding, bool cuda) {
  SmallVector<int64_t> low(shapeOf(input).size(), 0), high = low;
  for (size_t i = 0, first = tcp::firstSpatialDim(channelsLast); i < pad.size() / 2; ++i) {
    low[first + i] = pad[2 * i];
    high[first + i] = pad[2 * i + 1];
  }
  return padded(builder, loc, input, low, high, padding, cuda);
}

struct MaxPoolPattern : public OpConversionPattern<tcp::MaxPoolOp> {
  using OpConversionPattern<tcp::MaxPoolOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::MaxPoolOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Value lowest = lowestOf(rewriter, loc, type.getElementType());
    if (isCuda(op) && edgesSuffice(op)) {
      Value init = filled(rewriter, loc, type.getShape(), lowest);
      rewriter.replaceOp(
          op, reduceClamped(
                  rewriter, loc, adaptor.getInput(), init, op.getKernel(), op.getStride(),
                  op.getPad(), op.getChannelsLast(),
                  [](OpBuilder &builder, Location inner, Value most, Value element, Value) {
                    return arith::MaximumFOp::create(builder, inner, most, element).getResult();
                  }));
      return success();
    }
    Value input = paddedSpatial(rewriter, loc, adaptor.getInput(), op.getPad(),
                                op.getChannelsLast(), lowest, isCuda(op));
    Window window = {op.getKernel(), op.getStride(), op.getDilation(), op.getChannelsLast()};
    rewriter.replaceOp(
        op, window.reduce(
                rewriter, loc, input, filled(rewriter, loc, type.getShape(), lowest),
                [](OpBuilder &builder, Location inner, ValueRange args) {
                  return arith::MaximumFOp::create(builder, inner, args[2], args[0]).getResult();
                }));
    return success();
  }
};

struct AvgPoolPattern : public OpConversionPattern<tcp::AvgPoolOp> {
  using OpConversionPattern<tcp::AvgPoolOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::AvgPoolOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Type accumulator = computeType(type.getElementType());
    SmallVector<int64_t> ones(op.getKernel().size(), 1),
        pad = tcp::withCeilPad(op.getPad(), op.getCeilPad());
    Value zero = zeroOf(rewriter, loc, type.getElementType());
    Value init = filled(rewriter, loc, type.getShape(), zeroOf(rewriter, loc, accumulator));
    auto add = [&](OpBuilder &builder, Location inner, Value sum, Value element) -> Value {
      return arith::AddFOp::create(builder, inner, sum,
                                   convertFloat(builder, inner, element, accumulator));
    };
    Value sum;
    if (isCuda(op)) {
      sum = reduceClamped(
          rewriter, loc, adaptor.getInput(), init, op.getKernel(), op.getStride(), pad,
          op.getChannelsLast(),
          [&](OpBuilder &builder, Location inner, Value running, Value element, Value inside) {
            if (inside)
              element = arith::SelectOp::create(builder, inner, inside, element,
                                                zeroOf(builder, inner, type.getElementType()));
            return add(builder, inner, running, element);
          });
    } else {
      Value input = paddedSpatial(rewriter, loc, adaptor.getInput(), pad, op.getChannelsLast(),
                                  zero, /*cuda=*/false);
      Window window = {op.getKernel(), op.getStride(), ones, op.getChannelsLast()};
      sum = window.reduce(rewriter, loc, input, init,
                          [&](OpBuilder &builder, Location inner, ValueRange args) {
                            return add(builder, inner, args[2], args[0]);
                          });
    }
    Value mean = broadcastGeneric(
        rewriter, loc, type, sum, [&](OpBuilder &builder, Location inner, ValueRange args) {
          Value quotient = arith::DivFOp::create(builder, inner, args[0],
                                                 divisor(op, builder, inner, accumulator));
          return convertFloat(builder, inner, quotient, type.getElementType());
        });
    rewriter.replaceOp(op, mean);
    return success();
  }

  /// The divisor of the element at the indices of the enclosing generic.
  static Value divisor(tcp::AvgPoolOp op, OpBuilder &builder, Location loc, Type type) {
    if (std::optional<uint64_t> fixed = op.getDivisor())
      return scalarConstant(builder, loc, type, static_cast<double>(static_cast<int64_t>(*fixed)));
    int64_t constant = 1, first = tcp::firstSpatialDim(op.getChannelsLast());
    Value count;
    for (size_t i = 0; i < op.getKernel().size(); ++i) {
      int64_t kernel = op.getKernel()[i], size = shapeOf(op.getInput())[first + i],
              places = shapeOf(op.getOutput())[first + i], stride = op.getStride()[i];
      int64_t low = op.getPad()[2 * i], high = op.getPad()[2 * i + 1];
      // Count the elements in [begin, end) in coordinates of the unpadded input, where a window
      // starts at place * stride - low.
      int64_t begin = op.getCountIncludePad() ? -low : 0,
              end = op.getCountIncludePad() ? size + high : size;
      auto counted = [&](int64_t place) {
        int64_t start = place * stride - low;
        return std::min(start + kernel, end) - std::max(start, begin);
      };
      if (llvm::all_of(llvm::seq<int64_t>(0, places),
                       [&](int64_t place) { return counted(place) == counted(0); })) {
        constant *= counted(0);
        continue;
      }
      auto index = [&](int64_t value) {
        return arith::ConstantIndexOp::create(builder, loc, value).getResult();
      };
      Value place = linalg::IndexOp::create(builder, loc, first + i);
      Value start = arith::SubIOp::create(
          builder, loc, arith::MulIOp::create(builder, loc, place, index(stride)), index(low));
      Value stop = arith::MinSIOp::create(
          builder, loc, arith::AddIOp::create(builder, loc, start, index(kernel)), index(end));
      start = arith::MaxSIOp::create(builder, loc, start, index(begin));
      Value length = arith::SubIOp::create(builder, loc, stop, start);
      count = count ? Value(arith::MulIOp::create(builder, loc, count, length)) : length;
    }
    Value factor = scalarConstant(builder, loc, type, constant);
    if (!count)
      return factor;
    count = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), count);
    count = arith::SIToFPOp::create(builder, loc, type, count);
    return constant == 1 ? count : Value(arith::MulFOp::create(builder, loc, count, factor));
  }
};

} // namespace

void convoy::populatePoolingPatterns(RewritePatternSet &patterns) {
  patterns.add<MaxPoolPattern, AvgPoolPattern>(patterns.getContext());
}
