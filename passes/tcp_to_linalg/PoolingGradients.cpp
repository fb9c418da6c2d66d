// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The indices of a max pooling's maxima, and the gradient of max pooling by these indices. Both
// read at computed indices, so neither pads its operands.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

namespace {

/// Index arithmetic in the body of a generic.
struct Indices {
  OpBuilder &builder;
  Location loc;

  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value).getResult();
  }
  Value loop(int64_t dim) { return linalg::IndexOp::create(builder, loc, dim).getResult(); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b).getResult(); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b).getResult(); }
  Value mul(Value a, int64_t b) {
    return b == 1 ? a : arith::MulIOp::create(builder, loc, a, number(b)).getResult();
  }
  /// Clamps `index` to [0, size), and adds to `inside` whether it was in this range.
  Value clamp(Value index, int64_t size, Value &inside) {
    Value last = number(size - 1);
    // A negative index is large as an unsigned number.
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, index, last);
    inside = inside ? arith::AndIOp::create(builder, loc, inside, holds).getResult() : holds;
    Value low = arith::MaxSIOp::create(builder, loc, index, number(0));
    return arith::MinSIOp::create(builder, loc, low, last);
  }
  Value extract(Value tensor, ArrayRef<Value> indices) {
    return tensor::ExtractOp::create(builder, loc, tensor, indices);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  /// The row-major index of a place in a plane of `sizes`, as an `integer`.
  Value flat(ArrayRef<Value> place, ArrayRef<int64_t> sizes, Type integer) {
    Value result = number(0);
    for (auto [index, size] : llvm::zip_equal(place, sizes))
      result = add(mul(result, size), index);
    return arith::IndexCastOp::create(builder, loc, integer, result);
  }
};

/// Reduces into `init`, whose dims are the parallel loops, over `window`, the innermost loops.
/// `inputs` have the shape of `init`.
Value reduceWindow(OpBuilder &builder, Location loc, Value init, ValueRange inputs,
                   ArrayRef<int64_t> window, ScalarBody body) {
  int64_t outer = shapeOf(init).size(), rank = window.size();
  SmallVector<utils::IteratorType> iterators(outer, utils::IteratorType::parallel);
  iterators.append(rank, utils::IteratorType::reduction);
  AffineMap all = builder.getMultiDimIdentityMap(outer + rank);
  SmallVector<Value> operands(inputs);
  SmallVector<AffineMap> maps(inputs.size(), all.getMajorSubMap(outer));
  // An operand that is never read defines the bounds of the window's loops.
  operands.push_back(tensor::EmptyOp::create(builder, loc, window, builder.getI8Type()));
  maps.append({all.getMinorSubMap(rank), all.getMajorSubMap(outer)});
  return reductionGeneric(builder, loc, init, operands, maps, iterators, body);
}

/// The minimum over each window of a key: the index of an element that equals the maximum, or minus
/// the index minus one of a NaN, whose largest index counts.
struct MaxPoolIndicesPattern : public OpConversionPattern<tcp::MaxPoolIndicesOp> {
  using OpConversionPattern<tcp::MaxPoolIndicesOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::MaxPoolIndicesOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    Type integer = type.getElementType();
    int64_t rank = op.getKernel().size(), outer = rank + 2,
            first = tcp::firstSpatialDim(op.getChannelsLast());
    Value input = adaptor.getInput();
    ArrayRef<int64_t> sizes = shapeOf(input).slice(first, rank);
    Value none = arith::ConstantOp::create(
        rewriter, loc,
        rewriter.getIntegerAttr(integer,
                                APInt::getSignedMaxValue(integer.getIntOrFloatBitWidth())));
    auto body = [&](OpBuilder &builder, Location inner, ValueRange args) -> Value {
      Indices at = {builder, inner};
      Value inside;
      SmallVector<Value> indices, place;
      for (int64_t i = 0; i < outer; ++i) {
        Value index = at.loop(i);
        if (int64_t dim = i - first; dim >= 0 && dim < rank) {
          index = at.sub(at.add(at.mul(index, op.getStride()[dim]),
                                at.mul(at.loop(outer + dim), op.getDilation()[dim])),
                         at.number(op.getPad()[2 * dim]));
          index = at.clamp(index, sizes[dim], inside);
          place.push_back(index);
        }
        indices.push_back(index);
      }
      Value element = at.extract(input, indices);
      Value isMaximum =
          arith::CmpFOp::create(builder, inner, arith::CmpFPredicate::OEQ, element, args[0]);
      Value isNan =
          arith::CmpFOp::create(builder, inner, arith::CmpFPredicate::UNO, element, element);
      Value flat = at.flat(place, sizes, integer);
      Value key =
          at.select(isMaximum, flat, at.select(isNan, complement(builder, inner, flat), none));
      return arith::MinSIOp::create(builder, inner, args.back(), at.select(inside, key, none));
    };
    Value init = filled(rewriter, loc, type.getShape(), none);
    Value keys = reduceWindow(rewriter, loc, init, adaptor.getMaxima(), op.getKernel(), body);
    rewriter.replaceOp(
        op, broadcastGeneric(rewriter, loc, type, keys,
                             [&](OpBuilder &builder, Location inner, ValueRange args) -> Value {
                               Value zero = zeroOf(builder, inner, integer);
                               Value isNan = arith::CmpIOp::create(
                                   builder, inner, arith::CmpIPredicate::slt, args[0], zero);
                               return arith::SelectOp::create(builder, inner, isNan,
                                                              complement(builder, inner, args[0]),
                                                              args[0]);
                             }));
    return success();
  }

  /// -value - 1.
  static Value complement(OpBuilder &builder, Location loc, Value value) {
    Value ones = scalarConstant(builder, loc, value.getType(), -1);
    return arith::XOrIOp::create(builder, loc, value, ones);
  }
};

/// Each element of the result adds the gradients of the windows around it whose maximum it is.
struct MaxPoolBackwardPattern : public OpConversionPattern<tcp::MaxPoolBackwardOp> {
  using OpConversionPattern<tcp::MaxPoolBackwardOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::MaxPoolBackwardOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    Type accumulator = computeType(type.getElementType());
    int64_t rank = op.getKernel().size(), outer = rank + 2,
            first = tcp::firstSpatialDim(op.getChannelsLast());
    Value gradient = adaptor.getGradient(), chosen = adaptor.getIndices();
    ArrayRef<int64_t> sizes = type.getShape().slice(first, rank),
                      places = shapeOf(gradient).slice(first, rank);
    // The most windows that contain an element.
    SmallVector<int64_t> around;
    for (int64_t dim = 0; dim < rank; ++dim)
      around.push_back(
          std::min(places[dim],
                   op.getDilation()[dim] * (op.getKernel()[dim] - 1) / op.getStride()[dim] + 1));
    auto body = [&](OpBuilder &builder, Location inner, ValueRange args) -> Value {
      Indices at = {builder, inner};
      Value inside;
      SmallVector<Value> indices, place;
      for (int64_t i = 0; i < outer; ++i) {
        Value index = at.loop(i);
        if (int64_t dim = i - first; dim >= 0 && dim < rank) {
          place.push_back(index);
          // The last window that begins at the element or before it, and those before that.
          Value last = at.add(index, at.number(op.getPad()[2 * dim]));
          if (int64_t stride = op.getStride()[dim]; stride != 1)
            last = arith::DivUIOp::create(builder, inner, last, at.number(stride));
          last = arith::MinUIOp::create(builder, inner, last, at.number(places[dim] - 1));
          index = at.clamp(at.sub(last, at.loop(outer + dim)), places[dim], inside);
        }
        indices.push_back(index);
      }
      Value index = at.extract(chosen, indices);
      Value isMaximum = arith::CmpIOp::create(builder, inner, arith::CmpIPredicate::eq, index,
                                              at.flat(place, sizes, index.getType()));
      isMaximum = arith::AndIOp::create(builder, inner, isMaximum, inside);
      Value part = convertFloat(builder, inner, at.extract(gradient, indices), accumulator);
      part = at.select(isMaximum, part, zeroOf(builder, inner, accumulator));
      return arith::AddFOp::create(builder, inner, args.back(), part);
    };
    Value init = filled(rewriter, loc, type.getShape(), zeroOf(rewriter, loc, accumulator));
    Value sum = reduceWindow(rewriter, loc, init, {}, around, body);
    rewriter.replaceOp(op, convertElements(rewriter, loc, sum, type.getElementType()));
    return success();
  }
};

} // namespace

void convoy::populatePoolingGradientPatterns(RewritePatternSet &patterns) {
  patterns.add<MaxPoolIndicesPattern, MaxPoolBackwardPattern>(patterns.getContext());
}
