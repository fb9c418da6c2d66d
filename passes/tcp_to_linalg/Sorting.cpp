// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tcp.argsort as a merge sort. A key is an i64: a number in the order of the elements in its upper
// half, the position in its lower half. So all keys differ, the order is stable, and one tensor has
// both. Elements of 64 bits are sorted by their lower half, then by their upper half.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

namespace {

/// Builds arithmetic on indices and on integers of one type.
struct Integers {
  OpBuilder &builder;
  Location loc;

  Value index(int64_t value) const { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value number(Type type, int64_t value) const {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  }
  template <typename Op> Value make(Value a, Value b) const {
    return Op::create(builder, loc, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) const {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) const {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value cast(Type type, Value value) const {
    return arith::IndexCastOp::create(builder, loc, type, value);
  }
  /// A position that was read from memory as an index below `size`: no value makes a kernel read
  /// elsewhere, even if the kernel before it has not run, as when the program is profiled.
  Value place(Value position, int64_t size) const {
    return make<arith::MinUIOp>(cast(builder.getIndexType(), position), index(size - 1));
  }
};

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

/// Merges runs of `width` keys of each row to runs of twice the width, by loops.
Value mergeByLoops(OpBuilder &outer, Location where, Value keys, int64_t width) {
  auto type = cast<RankedTensorType>(keys.getType());
  int64_t rows = type.getDimSize(0), size = type.getDimSize(1);
  Integers outside{outer, where};
  Value zero = outside.index(0), one = outside.index(1);
  auto pairs = [&](OpBuilder &builder, Location loc, ValueRange place,
                   ValueRange carried) -> scf::ValueVector {
    Integers ints{builder, loc};
    Value row = place[0], last = ints.index(size);
    Value start = ints.make<arith::MulIOp>(place[1], ints.index(2 * width));
    Value middle =
        ints.make<arith::MinSIOp>(ints.make<arith::AddIOp>(start, ints.index(width)), last);
    Value end =
        ints.make<arith::MinSIOp>(ints.make<arith::AddIOp>(start, ints.index(2 * width)), last);
    Value lastLeft = ints.make<arith::SubIOp>(middle, one),
          lastRight = ints.make<arith::SubIOp>(end, one);
    auto merged = scf::ForOp::create(
        builder, loc, start, end, one, ValueRange{carried[0], start, middle},
        [&](OpBuilder &inner, Location, Value to, ValueRange state) {
          Integers ints{inner, loc};
          Value left = state[1], right = state[2];
          auto keyAt = [&](Value at, Value most) -> Value {
            return tensor::ExtractOp::create(inner, loc, keys,
                                             ValueRange{row, ints.make<arith::MinSIOp>(at, most)});
          };
          Value a = keyAt(left, lastLeft), b = keyAt(right, lastRight);
          Value rightEnded = ints.compare(arith::CmpIPredicate::sge, right, end);
          Value takesLeft = ints.make<arith::AndIOp>(
              ints.compare(arith::CmpIPredicate::slt, left, middle),
              ints.make<arith::OrIOp>(rightEnded, ints.compare(arith::CmpIPredicate::slt, a, b)));
          Value result = tensor::InsertOp::create(inner, loc, ints.select(takesLeft, a, b),
                                                  state[0], ValueRange{row, to});
          Value step = ints.select(takesLeft, one, zero);
          Value other = ints.make<arith::SubIOp>(one, step);
          scf::YieldOp::create(inner, loc,
                               ValueRange{result, ints.make<arith::AddIOp>(left, step),
                                          ints.make<arith::AddIOp>(right, other)});
        });
    return {merged.getResult(0)};
  };
  Value empty = tensor::EmptyOp::create(outer, where, type.getShape(), type.getElementType());
  Value count = outside.index(llvm::divideCeil(size, 2 * width));
  return scf::buildLoopNest(outer, where, {zero, zero}, {outside.index(rows), count}, {one, one},
                            empty, pairs)
      .results[0];
}

/// The same with one thread for each key of the result, which finds by bisection how many keys
/// before it are of the left run.
Value mergeByBisection(OpBuilder &outer, Location where, Value keys, int64_t width) {
  auto type = cast<RankedTensorType>(keys.getType());
  int64_t size = type.getDimSize(1);
  return parallelGeneric(
      outer, where, type, {}, {}, [&](OpBuilder &builder, Location loc, ValueRange) {
        Integers ints{builder, loc};
        Value row = linalg::IndexOp::create(builder, loc, 0),
              to = linalg::IndexOp::create(builder, loc, 1);
        Value zero = ints.index(0), one = ints.index(1), last = ints.index(size - 1);
        Value start =
            ints.make<arith::SubIOp>(to, ints.make<arith::RemUIOp>(to, ints.index(2 * width)));
        auto endOf = [&](int64_t count) {
          return ints.make<arith::MinSIOp>(ints.make<arith::AddIOp>(start, ints.index(count)),
                                           ints.index(size));
        };
        Value middle = endOf(width), end = endOf(2 * width);
        Value offset = ints.make<arith::SubIOp>(to, start);
        auto keyAt = [&](OpBuilder &at, Value index) -> Value {
          Integers ints{at, loc};
          Value inside = ints.make<arith::MaxSIOp>(ints.make<arith::MinSIOp>(index, last), zero);
          return tensor::ExtractOp::create(at, loc, keys, ValueRange{row, inside});
        };
        Value rights = ints.make<arith::SubIOp>(end, middle);
        Value low = ints.make<arith::MaxSIOp>(ints.make<arith::SubIOp>(offset, rights), zero);
        Value high = ints.make<arith::MinSIOp>(offset, ints.make<arith::SubIOp>(middle, start));
        auto search = scf::WhileOp::create(
            builder, loc, TypeRange{low.getType(), high.getType()}, ValueRange{low, high},
            [&](OpBuilder &inner, Location, ValueRange range) {
              Value goesOn =
                  Integers{inner, loc}.compare(arith::CmpIPredicate::slt, range[0], range[1]);
              scf::ConditionOp::create(inner, loc, goesOn, range);
            },
            [&](OpBuilder &inner, Location, ValueRange range) {
              Integers ints{inner, loc};
              Value half =
                  ints.make<arith::ShRUIOp>(ints.make<arith::AddIOp>(range[0], range[1]), one);
              Value mirrored =
                  ints.make<arith::SubIOp>(ints.make<arith::SubIOp>(offset, half), one);
              Value a = keyAt(inner, ints.make<arith::AddIOp>(start, half));
              Value b = keyAt(inner, ints.make<arith::AddIOp>(middle, mirrored));
              Value isBefore = ints.compare(arith::CmpIPredicate::slt, a, b);
              scf::YieldOp::create(
                  inner, loc,
                  ValueRange{ints.select(isBefore, ints.make<arith::AddIOp>(half, one), range[0]),
                             ints.select(isBefore, range[1], half)});
            });
        Value lefts = search.getResult(0);
        Value left = ints.make<arith::AddIOp>(start, lefts);
        Value right = ints.make<arith::AddIOp>(middle, ints.make<arith::SubIOp>(offset, lefts));
        Value a = keyAt(builder, left), b = keyAt(builder, right);
        Value takesLeft = ints.make<arith::AndIOp>(
            ints.compare(arith::CmpIPredicate::slt, left, middle),
            ints.make<arith::OrIOp>(ints.compare(arith::CmpIPredicate::sge, right, end),
                                    ints.compare(arith::CmpIPredicate::slt, a, b)));
        return ints.select(takesLeft, a, b);
      });
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
    for (int64_t width = 1, size = type.getDimSize(1); width < size; width *= 2)
      keys = isCuda(op) ? mergeByBisection(builder, loc, keys, width)
                        : mergeByLoops(builder, loc, keys, width);
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
