// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scalar code that is written with operators: the expansions of math functions.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_NUMBER_H
#define CONVOY_PASSES_TCP_TO_LINALG_NUMBER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace convoy {

/// A scalar with operators. Multiplications and additions may be contracted to fused operations.
struct Number {
  mlir::ImplicitLocOpBuilder *builder;
  mlir::Value value;

  mlir::Type type() const { return value.getType(); }
  Number with(mlir::Value other) const { return {builder, other}; }
  Number constant(double number) const {
    return with(mlir::arith::ConstantOp::create(*builder, builder->getFloatAttr(type(), number)));
  }
  template <typename Op> Number apply(Number other) const {
    return with(Op::create(*builder, value, other.value, mlir::arith::FastMathFlags::contract));
  }
  Number operator+(Number other) const { return apply<mlir::arith::AddFOp>(other); }
  Number operator-(Number other) const { return apply<mlir::arith::SubFOp>(other); }
  Number operator*(Number other) const { return apply<mlir::arith::MulFOp>(other); }
  Number operator/(Number other) const { return apply<mlir::arith::DivFOp>(other); }
  Number operator+(double other) const { return *this + constant(other); }
  Number operator-(double other) const { return *this - constant(other); }
  Number operator*(double other) const { return *this * constant(other); }
  Number operator-() const { return with(mlir::arith::NegFOp::create(*builder, value)); }
  Number abs() const { return with(mlir::math::AbsFOp::create(*builder, value)); }

  mlir::Value compare(mlir::arith::CmpFPredicate predicate, Number other) const {
    return mlir::arith::CmpFOp::create(*builder, predicate, value, other.value);
  }
  mlir::Value operator<(double other) const {
    return compare(mlir::arith::CmpFPredicate::OLT, constant(other));
  }
  mlir::Value operator>(double other) const {
    return compare(mlir::arith::CmpFPredicate::OGT, constant(other));
  }
  mlir::Value operator==(double other) const {
    return compare(mlir::arith::CmpFPredicate::OEQ, constant(other));
  }
  mlir::Value isNan() const { return compare(mlir::arith::CmpFPredicate::UNO, *this); }

  /// The value where `condition` holds, `other` elsewhere.
  Number where(mlir::Value condition, Number other) const {
    return with(mlir::arith::SelectOp::create(*builder, condition, value, other.value));
  }
  /// Clamps to a range; NaN becomes the upper bound.
  Number limited(double low, double high) const {
    Number below = where(*this < high, constant(high));
    return below.where(below > low, constant(low));
  }
  /// Clamps to a range; NaN stays. On x86 each bound is one instruction.
  Number limitedOrNan(double low, double high) const {
    Number below = constant(high).where(*this > high, *this);
    return constant(low).where(below < low, below);
  }
  /// The polynomial with these coefficients, constant term first.
  Number polynomial(mlir::ArrayRef<double> coefficients) const {
    Number sum = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = sum * *this + coefficient;
    return sum;
  }
};

/// Properties of a float format.
struct FloatFormat {
  bool isDouble;
  int mantissa, bias;
  mlir::IntegerType bits;

  explicit FloatFormat(mlir::Type type)
      : isDouble(type.isF64()), mantissa(isDouble ? 52 : 23), bias(isDouble ? 1023 : 127),
        bits(mlir::IntegerType::get(type.getContext(), isDouble ? 64 : 32)) {}
};

/// An integer constant.
inline mlir::Value constantLike(mlir::ImplicitLocOpBuilder &b, mlir::Type type, int64_t value) {
  return mlir::arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

/// `magnitude` with the sign of `sign`.
inline Number copySign(Number magnitude, Number sign) {
  return magnitude.with(mlir::math::CopySignOp::create(*sign.builder, magnitude.value, sign.value));
}

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_NUMBER_H
