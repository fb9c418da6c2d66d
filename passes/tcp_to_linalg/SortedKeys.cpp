// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_linalg/SortedKeys.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"

using namespace mlir;
using namespace convoy;

namespace {

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
        Value lefts =
            countBefore(builder, loc, low, high, [&](OpBuilder &inner, Value half) -> Value {
              Integers ints{inner, loc};
              Value mirrored =
                  ints.make<arith::SubIOp>(ints.make<arith::SubIOp>(offset, half), one);
              Value a = keyAt(inner, ints.make<arith::AddIOp>(start, half));
              Value b = keyAt(inner, ints.make<arith::AddIOp>(middle, mirrored));
              return ints.compare(arith::CmpIPredicate::slt, a, b);
            });
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

} // namespace

Value convoy::countBefore(OpBuilder &builder, Location loc, Value low, Value high,
                          function_ref<Value(OpBuilder &, Value)> isBefore) {
  auto search = scf::WhileOp::create(
      builder, loc, TypeRange{low.getType(), high.getType()}, ValueRange{low, high},
      [&](OpBuilder &inner, Location, ValueRange range) {
        Value goesOn = Integers{inner, loc}.compare(arith::CmpIPredicate::slt, range[0], range[1]);
        scf::ConditionOp::create(inner, loc, goesOn, range);
      },
      [&](OpBuilder &inner, Location, ValueRange range) {
        Integers ints{inner, loc};
        Value half =
            ints.make<arith::ShRUIOp>(ints.make<arith::AddIOp>(range[0], range[1]), ints.index(1));
        Value before = isBefore(inner, half);
        Value next = ints.make<arith::AddIOp>(half, ints.index(1));
        scf::YieldOp::create(
            inner, loc,
            ValueRange{ints.select(before, next, range[0]), ints.select(before, range[1], half)});
      });
  return search.getResult(0);
}

Value convoy::sortedKeys(OpBuilder &builder, Location loc, Value keys, bool isCuda) {
  for (int64_t width = 1, size = shapeOf(keys)[1]; width < size; width *= 2)
    keys = isCuda ? mergeByBisection(builder, loc, keys, width)
                  : mergeByLoops(builder, loc, keys, width);
  return keys;
}
