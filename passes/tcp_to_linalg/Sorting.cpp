// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tcp.argsort as a merge sort. A key is an i64: a number in the order of the elements in its upper
// half, the position in its lower half. So all keys differ, the order is stable, and one tensor has
// both. Elements of 64 bits are sorted by their lower half, then by their upper half.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"
#include "passes/tcp_to_linalg/SortedKeys.h"

using namespace mlir;
using namespace convoy;

namespace {

/// A signed integer in the order of an element: of 64 bits if the element has them, else of 32. All
/// NaN are equal and the largest, zeros of both signs are equal.
Value orderOf(const Integers &ints, Value element, bool descending) {
  OpBuilder &builder = ints.builder;
  Type type = element.getType();
  Type wide = builder.getIntegerType(type.getIntOrFloatBitWidth() == 64 ? 64 : 32);
  Value order = element;
  if (isa<FloatType>(type)) {
    Type compute = computeType(type);
    if (compute != type)
      element = arith::ExtFOp::create(builder, ints.loc, compute, element);
    Value zero = zeroOf(builder, ints.loc, compute);
    auto is = [&](arith::CmpFPredicate predicate, Value other) -> Value {
      return arith::CmpFOp::create(builder, ints.loc, predicate, element, other);
    };
    Value bits = arith::BitcastOp::create(builder, ints.loc, wide, element);
    Value most = arith::ConstantOp::create(
        builder, ints.loc,
        builder.getIntegerAttr(wide, APInt::getSignedMaxValue(wide.getIntOrFloatBitWidth())));
    // The magnitude of a negative number decreases.
    Value none = ints.number(wide, 0);
    order = ints.select(ints.compare(arith::CmpIPredicate::slt, bits, none),
                        ints.make<arith::XOrIOp>(bits, most), bits);
    order = ints.select(is(arith::CmpFPredicate::OEQ, zero), none, order);
    order = ints.select(is(arith::CmpFPredicate::UNO, element), most, order);
  } else if (type.isInteger(1)) {
    order = arith::ExtUIOp::create(builder, ints.loc, wide, element);
  } else if (type != wide) {
    order = arith::ExtSIOp::create(builder, ints.loc, wide, element);
  }
  return descending ? ints.make<arith::XOrIOp>(order, ints.number(wide, -1)) : order;
}

/// The key of the upper or lower half of `order` at a position.
Value keyOf(const Integers &ints, Value order, Value position, bool lower) {
  Type i64 = ints.builder.getI64Type();
  Value high = order;
  if (!order.getType().isInteger(64))
    high = arith::ExtSIOp::create(ints.builder, ints.loc, i64, order);
  else if (!lower)
    high = ints.make<arith::ShRSIOp>(order, ints.number(i64, 32));
  else // The lower half is unsigned.
    high = ints.make<arith::XOrIOp>(order, ints.number(i64, int64_t(1) << 31));
  return ints.make<arith::OrIOp>(ints.make<arith::ShLIOp>(high, ints.number(i64, 32)), position);
}

struct ArgsortPattern : public OpConversionPattern<tcp::ArgsortOp> {
  using OpConversionPattern<tcp::ArgsortOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ArgsortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    ArrayRef<int64_t> shape = shapeOf(op.getInput());
    Location loc = op.getLoc();
    int64_t size = shape.back(), rows = op.getType().getNumElements() / std::max<int64_t>(size, 1);
    Value x = reshapeTo(rewriter, loc, adaptor.getInput(), {rows, size});
    Value order;
    if (elementTypeOf(x).getIntOrFloatBitWidth() == 64)
      order = sortedBy(op, x, /*before=*/{}, /*lower=*/true, rewriter);
    order = sortedBy(op, x, order, /*lower=*/false, rewriter);
    rewriter.replaceOp(op, reshapeTo(rewriter, loc, order, shape));
    return success();
  }

private:
  /// The positions in the order of the upper or lower halves; equal elements are in the order
  /// `before`, or in that of their positions.
  static Value sortedBy(tcp::ArgsortOp op, Value x, Value before, bool lower, OpBuilder &builder) {
    Location loc = op.getLoc();
    Type i64 = builder.getI64Type();
    auto type = cast<RankedTensorType>(x.getType()).clone(i64);
    Value keys = broadcastGeneric(
        builder, loc, type, before ? before : x, [&](OpBuilder &inner, Location, ValueRange args) {
          Integers ints{inner, loc};
          Value row = linalg::IndexOp::create(inner, loc, 0);
          Value place = linalg::IndexOp::create(inner, loc, 1);
          Value element = args[0];
          if (before)
            element = tensor::ExtractOp::create(
                inner, loc, x, ValueRange{row, ints.place(args[0], type.getDimSize(1))});
          return keyOf(ints, orderOf(ints, element, op.getDescending()), ints.cast(i64, place),
                       lower);
        });
    keys = sortedKeys(builder, loc, keys, isCuda(op));
    return broadcastGeneric(
        builder, loc, type, keys, [&](OpBuilder &inner, Location, ValueRange args) {
          Integers ints{inner, loc};
          Value place = ints.make<arith::AndIOp>(args[0], ints.number(i64, 0xFFFFFFFF));
          if (!before)
            return place;
          Value row = linalg::IndexOp::create(inner, loc, 0);
          return tensor::ExtractOp::create(inner, loc, before,
                                           ValueRange{row, ints.place(place, type.getDimSize(1))})
              .getResult();
        });
  }
};

} // namespace

void convoy::populateSortingPatterns(RewritePatternSet &patterns) {
  patterns.add<ArgsortPattern>(patterns.getContext());
}
