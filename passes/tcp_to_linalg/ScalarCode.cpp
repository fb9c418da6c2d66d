// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_linalg/ScalarCode.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/tcp_to_linalg/IntegerArithmetic.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace convoy;

namespace {

/// Comparisons with NaN are false, except `ne`.
arith::CmpFPredicate floatPredicate(tcp::ComparePredicate predicate) {
  switch (predicate) {
  case tcp::ComparePredicate::Eq:
    return arith::CmpFPredicate::OEQ;
  case tcp::ComparePredicate::Ne:
    return arith::CmpFPredicate::UNE;
  case tcp::ComparePredicate::Lt:
    return arith::CmpFPredicate::OLT;
  case tcp::ComparePredicate::Le:
    return arith::CmpFPredicate::OLE;
  case tcp::ComparePredicate::Gt:
    return arith::CmpFPredicate::OGT;
  case tcp::ComparePredicate::Ge:
    return arith::CmpFPredicate::OGE;
  }
  llvm_unreachable("unknown predicate");
}

arith::CmpIPredicate intPredicate(tcp::ComparePredicate predicate, bool isSigned) {
  switch (predicate) {
  case tcp::ComparePredicate::Eq:
    return arith::CmpIPredicate::eq;
  case tcp::ComparePredicate::Ne:
    return arith::CmpIPredicate::ne;
  case tcp::ComparePredicate::Lt:
    return isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult;
  case tcp::ComparePredicate::Le:
    return isSigned ? arith::CmpIPredicate::sle : arith::CmpIPredicate::ule;
  case tcp::ComparePredicate::Gt:
    return isSigned ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::ugt;
  case tcp::ComparePredicate::Ge:
    return isSigned ? arith::CmpIPredicate::sge : arith::CmpIPredicate::uge;
  }
  llvm_unreachable("unknown predicate");
}

/// Builds the scalar code of one op. Float operands have the compute type; the result has the
/// compute type of the op's result. The result is null if the op does not support the element type.
class ScalarBuilder {
public:
  ScalarBuilder(OpBuilder &builder, Location loc, ValueRange args)
      : builder(builder), loc(loc), args(args), type(args.empty() ? Type() : args[0].getType()),
        isFloat(type && isa<FloatType>(type)) {}

  Value build(Operation *op) {
    return TypeSwitch<Operation *, Value>(op)
        .Case([&](tcp::AbsOp) {
          return isFloat ? unary<math::AbsFOp>() : isBool() ? args[0] : unary<math::AbsIOp>();
        })
        .Case([&](tcp::CeilOp) { return unary<math::CeilOp>(); })
        .Case([&](tcp::CosOp) { return unary<math::CosOp>(); })
        .Case([&](tcp::ErfOp) { return unary<math::ErfOp>(); })
        .Case([&](tcp::ExpOp) { return unary<math::ExpOp>(); })
        .Case([&](tcp::Expm1Op) { return unary<math::ExpM1Op>(); })
        .Case([&](tcp::FloorOp) { return unary<math::FloorOp>(); })
        .Case([&](tcp::LogOp) { return unary<math::LogOp>(); })
        .Case([&](tcp::RoundOp) { return unary<math::RoundEvenOp>(); })
        .Case([&](tcp::SinOp) { return unary<math::SinOp>(); })
        .Case([&](tcp::SqrtOp) { return unary<math::SqrtOp>(); })
        .Case([&](tcp::TanhOp) { return unary<math::TanhOp>(); })
        .Case([&](tcp::NegOp) {
          if (isFloat)
            return unary<arith::NegFOp>();
          return isBool() ? Value() : binary<arith::SubIOp>(constant(0), args[0]);
        })
        .Case([&](tcp::ReciprocalOp) { return binary<arith::DivFOp>(constant(1), args[0]); })
        .Case(
            [&](tcp::RsqrtOp) { return binary<arith::DivFOp>(constant(1), unary<math::SqrtOp>()); })
        .Case(
            [&](tcp::SigmoidOp) { return binary<arith::DivFOp>(constant(1), onePlusExpOfMinus()); })
        .Case([&](tcp::SiluOp) { return binary<arith::DivFOp>(args[0], onePlusExpOfMinus()); })
        .Case([&](tcp::GeluOp gelu) {
          return gelu.getApproximate() == tcp::GeluApproximation::Tanh ? geluTanh() : geluErf();
        })
        .Case([&](tcp::EluOp elu) {
          Value negative = binary<arith::MulFOp>(math::ExpM1Op::create(builder, loc, args[0]),
                                                 constant(elu.getAlpha().convertToDouble()));
          return positiveOr(negative);
        })
        .Case([&](tcp::LeakyReluOp leaky) {
          return positiveOr(
              binary<arith::MulFOp>(args[0], constant(leaky.getNegativeSlope().convertToDouble())));
        })
        .Case([&](tcp::PolynomialOp polynomial) {
          return buildPolynomial(polynomial.getCoefficients());
        })
        .Case([&](tcp::ClampOp clamp) { return buildClamp(clamp); })
        .Case([&](tcp::CastOp cast) {
          return buildCast(computeType(cast.getType().getElementType()));
        })
        .Case([&](tcp::AddOp) { return arithmetic<arith::AddFOp, arith::AddIOp, arith::OrIOp>(); })
        .Case([&](tcp::SubOp) {
          return isBool() ? Value() : arithmetic<arith::SubFOp, arith::SubIOp, arith::SubIOp>();
        })
        .Case([&](tcp::MulOp) { return arithmetic<arith::MulFOp, arith::MulIOp, arith::AndIOp>(); })
        .Case([&](tcp::DivOp) {
          if (isFloat)
            return binary<arith::DivFOp>(args[0], args[1]);
          return isBool() ? Value() : divideIntegers(builder, loc, args[0], args[1]);
        })
        .Case([&](tcp::MaximumOp) {
          return arithmetic<arith::MaximumFOp, arith::MaxSIOp, arith::OrIOp>();
        })
        .Case([&](tcp::MinimumOp) {
          return arithmetic<arith::MinimumFOp, arith::MinSIOp, arith::AndIOp>();
        })
        .Case([&](tcp::PowOp) { return buildPow(); })
        .Case([&](tcp::BitwiseAndOp) { return binary<arith::AndIOp>(args[0], args[1]); })
        .Case([&](tcp::BitwiseOrOp) { return binary<arith::OrIOp>(args[0], args[1]); })
        .Case([&](tcp::BitwiseXorOp) { return binary<arith::XOrIOp>(args[0], args[1]); })
        .Case([&](tcp::GcdOp) {
          return isBool() ? Value() : greatestCommonDivisor(builder, loc, args[0], args[1]);
        })
        .Case([&](tcp::ShiftLeftOp) {
          return isBool() ? Value() : shiftLeft(builder, loc, args[0], args[1]);
        })
        .Case([&](tcp::ShiftRightOp) {
          return isBool() ? Value() : shiftRight(builder, loc, args[0], args[1]);
        })
        .Case([&](tcp::CopysignOp) { return binary<math::CopySignOp>(args[0], args[1]); })
        .Case([&](tcp::CompareOp compare) { return buildCompare(compare.getPredicate()); })
        .Case([&](tcp::SelectOp) {
          return arith::SelectOp::create(builder, loc, args[0], args[1], args[2]).getResult();
        })
        .Default([](Operation *) { return Value(); });
  }

private:
  OpBuilder &builder;
  Location loc;
  ValueRange args;
  Type type;
  bool isFloat;

  bool isBool() const { return type.isInteger(1); }

  Value constant(double value) { return scalarConstant(builder, loc, type, value); }

  template <typename Op> Value unary() { return Op::create(builder, loc, args[0]); }

  template <typename Op> Value binary(Value a, Value b) { return Op::create(builder, loc, a, b); }

  template <typename FloatOp, typename IntOp, typename BoolOp> Value arithmetic() {
    if (isFloat)
      return binary<FloatOp>(args[0], args[1]);
    return isBool() ? binary<BoolOp>(args[0], args[1]) : binary<IntOp>(args[0], args[1]);
  }

  Value onePlusExpOfMinus() {
    Value exp = math::ExpOp::create(builder, loc, unary<arith::NegFOp>());
    return binary<arith::AddFOp>(exp, constant(1));
  }

  /// The operand if it is positive, otherwise (including NaN) `other`, which is computed from it.
  Value positiveOr(Value other) {
    Value positive =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, args[0], constant(0));
    return arith::SelectOp::create(builder, loc, positive, args[0], other);
  }

  Value geluErf() {
    Value erf = math::ErfOp::create(
        builder, loc, binary<arith::MulFOp>(args[0], constant(1 / llvm::numbers::sqrt2)));
    return binary<arith::MulFOp>(binary<arith::MulFOp>(args[0], constant(0.5)),
                                 binary<arith::AddFOp>(erf, constant(1)));
  }

  Value geluTanh() {
    Value cube = binary<arith::MulFOp>(binary<arith::MulFOp>(args[0], args[0]), args[0]);
    Value inner = binary<arith::AddFOp>(args[0], binary<arith::MulFOp>(cube, constant(0.044715)));
    Value tanh = math::TanhOp::create(
        builder, loc,
        binary<arith::MulFOp>(inner, constant(llvm::numbers::sqrt2 * llvm::numbers::inv_sqrtpi)));
    return binary<arith::MulFOp>(binary<arith::MulFOp>(args[0], constant(0.5)),
                                 binary<arith::AddFOp>(tanh, constant(1)));
  }

  Value buildPolynomial(ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back())) {
      Value product =
          arith::MulFOp::create(builder, loc, sum, args[0], arith::FastMathFlags::contract);
      sum = arith::AddFOp::create(builder, loc, product, constant(coefficient),
                                  arith::FastMathFlags::contract);
    }
    return sum;
  }

  /// A comparison that is false for NaN, and a select: preserves NaN, and is one instruction on
  /// x86.
  Value limit(Value x, double bound, arith::CmpFPredicate beyond) {
    Value limit = constant(bound);
    return arith::SelectOp::create(builder, loc,
                                   arith::CmpFOp::create(builder, loc, beyond, limit, x), limit, x);
  }

  Value buildClamp(tcp::ClampOp clamp) {
    Value x = args[0];
    if (std::optional<APFloat> bound = clamp.getMinFloat())
      x = limit(x, bound->convertToFloat(), arith::CmpFPredicate::OGT);
    if (std::optional<APFloat> bound = clamp.getMaxFloat())
      x = limit(x, bound->convertToFloat(), arith::CmpFPredicate::OLT);
    return x;
  }

  /// Truncates a float to an integer. Values out of range and NaN become the smallest i32 or i64,
  /// truncated for narrower integers, as on x86 and in PyTorch on x86; arith.fptosi is undefined
  /// for them.
  Value toInteger(Value x, Type to) {
    Type wide = builder.getIntegerType(to.getIntOrFloatBitWidth() <= 32 ? 32 : 64);
    double limit = std::ldexp(1.0, wide.getIntOrFloatBitWidth() - 1);
    Value above =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, x, constant(-limit));
    Value below =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, constant(limit));
    Value least = arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(wide, APInt::getSignedMinValue(wide.getIntOrFloatBitWidth())));
    Value whole = arith::FPToSIOp::create(builder, loc, wide, x);
    whole = arith::SelectOp::create(builder, loc, arith::AndIOp::create(builder, loc, above, below),
                                    whole, least);
    return wide == to ? whole : Value(arith::TruncIOp::create(builder, loc, to, whole));
  }

  Value buildCast(Type to) {
    Value x = args[0];
    if (type == to)
      return x;
    bool toFloat = isa<FloatType>(to);
    if (to.isInteger(1))
      return isFloat ? Value(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, x,
                                                   constant(0)))
                     : Value(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, x,
                                                   constant(0)));
    if (isFloat && toFloat)
      return type.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()
                 ? Value(arith::ExtFOp::create(builder, loc, to, x))
                 : Value(arith::TruncFOp::create(builder, loc, to, x));
    if (isFloat)
      return toInteger(x, to);
    if (toFloat)
      return isBool() ? Value(arith::UIToFPOp::create(builder, loc, to, x))
                      : Value(arith::SIToFPOp::create(builder, loc, to, x));
    if (type.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
      return arith::TruncIOp::create(builder, loc, to, x);
    return isBool() ? Value(arith::ExtUIOp::create(builder, loc, to, x))
                    : Value(arith::ExtSIOp::create(builder, loc, to, x));
  }

  /// A power with a constant exponent, by squaring.
  Value power(uint64_t exponent) {
    Value square = args[0], result;
    for (; exponent; exponent >>= 1) {
      if (exponent & 1)
        result = !result   ? square
                 : isFloat ? binary<arith::MulFOp>(result, square)
                           : binary<arith::MulIOp>(result, square);
      if (exponent > 1)
        square =
            isFloat ? binary<arith::MulFOp>(square, square) : binary<arith::MulIOp>(square, square);
    }
    return result ? result : constant(1);
  }

  Value buildPow() {
    if (!isFloat) {
      APInt exponent;
      if (isBool())
        return {};
      bool isKnown = matchPattern(args[1], m_ConstantInt(&exponent)) && !exponent.isNegative();
      return isKnown ? power(exponent.getZExtValue())
                     : integerPower(builder, loc, args[0], args[1]);
    }
    // The powers that PyTorch computes without pow.
    APFloat exponent(0.0);
    if (matchPattern(args[1], m_ConstantFloat(&exponent))) {
      for (int whole : {0, 1, 2, 3})
        if (exponent.isExactlyValue(whole))
          return power(whole);
      if (exponent.isExactlyValue(0.5))
        return unary<math::SqrtOp>();
      if (exponent.isExactlyValue(-0.5))
        return binary<arith::DivFOp>(constant(1), unary<math::SqrtOp>());
      if (exponent.isExactlyValue(-1))
        return binary<arith::DivFOp>(constant(1), args[0]);
      if (exponent.isExactlyValue(-2))
        return binary<arith::DivFOp>(constant(1), power(2));
    }
    return binary<math::PowFOp>(args[0], args[1]);
  }

  Value buildCompare(tcp::ComparePredicate predicate) {
    if (isFloat)
      return arith::CmpFOp::create(builder, loc, floatPredicate(predicate), args[0], args[1]);
    return arith::CmpIOp::create(builder, loc, intPredicate(predicate, /*isSigned=*/!isBool()),
                                 args[0], args[1]);
  }
};

} // namespace

Value convoy::scalarCode(OpBuilder &builder, Location loc, Operation *op, ValueRange args) {
  return ScalarBuilder(builder, loc, args).build(op);
}
