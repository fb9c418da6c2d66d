// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_linalg/IntegerArithmetic.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"

using namespace mlir;
using namespace convoy;

Value convoy::divideIntegers(OpBuilder &builder, Location loc, Value dividend, Value divisor) {
  auto constant = [&](double value) {
    return scalarConstant(builder, loc, dividend.getType(), value);
  };
  auto equals = [&](int64_t number) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, divisor, constant(number));
  };
  Value isZero = equals(0), isMinusOne = equals(-1);
  Value safe = arith::SelectOp::create(
      builder, loc, arith::OrIOp::create(builder, loc, isZero, isMinusOne), constant(1), divisor);
  Value quotient = arith::DivSIOp::create(builder, loc, dividend, safe);
  Value negated = arith::SubIOp::create(builder, loc, constant(0), dividend);
  return arith::SelectOp::create(
      builder, loc, isZero, constant(0),
      arith::SelectOp::create(builder, loc, isMinusOne, negated, quotient));
}

namespace {

/// Whether `count`, which is large as an unsigned number if it is negative, is below the number of
/// bits. arith's shifts are undefined otherwise.
Value isShift(OpBuilder &builder, Location loc, Value count) {
  Type type = count.getType();
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, count,
                               scalarConstant(builder, loc, type, type.getIntOrFloatBitWidth()));
}

} // namespace

Value convoy::shiftLeft(OpBuilder &builder, Location loc, Value number, Value count) {
  auto zero = [&] { return scalarConstant(builder, loc, number.getType(), 0); };
  Value valid = isShift(builder, loc, count);
  Value safe = arith::SelectOp::create(builder, loc, valid, count, zero());
  return arith::SelectOp::create(builder, loc, valid,
                                 arith::ShLIOp::create(builder, loc, number, safe), zero());
}

Value convoy::shiftRight(OpBuilder &builder, Location loc, Value number, Value count) {
  Type type = number.getType();
  Value safe =
      arith::SelectOp::create(builder, loc, isShift(builder, loc, count), count,
                              scalarConstant(builder, loc, type, type.getIntOrFloatBitWidth() - 1));
  return arith::ShRSIOp::create(builder, loc, number, safe);
}

Value convoy::greatestCommonDivisor(OpBuilder &builder, Location loc, Value a, Value b) {
  Type type = a.getType();
  SmallVector<Value> start = {math::AbsIOp::create(builder, loc, a),
                              math::AbsIOp::create(builder, loc, b)};
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{type, type}, start,
      [&](OpBuilder &inner, Location innerLoc, ValueRange pair) {
        Value goesOn = arith::CmpIOp::create(inner, innerLoc, arith::CmpIPredicate::ne, pair[1],
                                             scalarConstant(inner, innerLoc, type, 0));
        scf::ConditionOp::create(inner, innerLoc, goesOn, pair);
      },
      [&](OpBuilder &inner, Location innerLoc, ValueRange pair) {
        Value rest = arith::RemUIOp::create(inner, innerLoc, pair[0], pair[1]);
        scf::YieldOp::create(inner, innerLoc, ValueRange{pair[1], rest});
      });
  return loop.getResult(0);
}

Value convoy::integerPower(OpBuilder &builder, Location loc, Value base, Value exponent) {
  Type type = base.getType();
  auto constant = [&](double value) { return scalarConstant(builder, loc, type, value); };
  auto compare = [&](OpBuilder &at, arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(at, loc, predicate, a, b);
  };
  Value zero = constant(0), one = constant(1);
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{type, type, type}, ValueRange{one, base, exponent},
      [&](OpBuilder &inner, Location, ValueRange state) {
        Value goesOn = compare(inner, arith::CmpIPredicate::sgt, state[2], zero);
        scf::ConditionOp::create(inner, loc, goesOn, state);
      },
      [&](OpBuilder &inner, Location, ValueRange state) {
        Value bit = arith::AndIOp::create(inner, loc, state[2], one);
        Value isSet = compare(inner, arith::CmpIPredicate::ne, bit, zero);
        Value product = arith::MulIOp::create(inner, loc, state[0], state[1]);
        Value result = arith::SelectOp::create(inner, loc, isSet, product, state[0]);
        Value square = arith::MulIOp::create(inner, loc, state[1], state[1]);
        Value rest = arith::ShRSIOp::create(inner, loc, state[2], one);
        scf::YieldOp::create(inner, loc, ValueRange{result, square, rest});
      });
  Value isOdd = compare(builder, arith::CmpIPredicate::ne,
                        arith::AndIOp::create(builder, loc, exponent, one), zero);
  Value isOne = compare(builder, arith::CmpIPredicate::eq, base, one);
  Value isMinusOne = compare(builder, arith::CmpIPredicate::eq, base, constant(-1));
  Value sign = arith::SelectOp::create(builder, loc, isOdd, constant(-1), one);
  Value fraction = arith::SelectOp::create(
      builder, loc, isOne, one, arith::SelectOp::create(builder, loc, isMinusOne, sign, zero));
  Value isNegative = compare(builder, arith::CmpIPredicate::slt, exponent, zero);
  return arith::SelectOp::create(builder, loc, isNegative, fraction, loop.getResult(0));
}
