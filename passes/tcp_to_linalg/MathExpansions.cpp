// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Expansions of transcendental functions to additions, multiplications and bit operations, for f32
// and f64. They vectorize and need no libm or libdevice. Their errors are checked in
// test/passes/tcp_to_linalg/test_special_functions.py. Ops on f32 with the flag `afn`, which only
// GPU functions have, use the instruction for 2^x, whose error is 2 units in the last place.
// SineCosine.cpp has sin and cos.
//
// Method: reduce the argument exactly to a small interval, evaluate a polynomial there, and
// assemble the bits of the exponent. Taylor series are used where they converge fast enough; the
// polynomials of erf, and of exp in f32, are fitted at Chebyshev nodes.

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Number.h"
#include "passes/tcp_to_linalg/Patterns.h"
#include "passes/tcp_to_linalg/SineCosine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace convoy;

namespace {

/// The upper bits of ln 2, whose product with an exponent is exact, and the remainder.
constexpr double kLn2High = 0.693359375, kLn2Low = -2.1219444005469058277e-4;

/// 2 to the power of `exponent` (an integer of the format's width, in the range of normal numbers).
Number powerOfTwo(Number like, const FloatFormat &format, Value exponent) {
  ImplicitLocOpBuilder &b = *like.builder;
  Value biased = arith::AddIOp::create(b, exponent, constantLike(b, format.bits, format.bias));
  Value bits = arith::ShLIOp::create(b, biased, constantLike(b, format.bits, format.mantissa));
  return like.with(arith::BitcastOp::create(b, like.type(), bits));
}

/// x as k * `step` * ln 2 + r with |r| at most `step` * ln 2 / 2. The last bits of `bits` are those
/// of k + `offset`.
struct Quotient {
  Value bits;
  Number r;
};

/// Divides x, whose quotient by ln 2 is far below 2^22. `bits` is arbitrary for NaN, and `r` NaN.
Quotient divideByLn2(Number x, const FloatFormat &format, int step, int offset) {
  // In this binade the last bit of the mantissa is 1, so the sum is rounded to an integer, and its
  // bits are those of the integer. That takes fewer instructions than conversions.
  double binade = std::ldexp(1.5, format.mantissa) + offset;
  Number shifted = x * (llvm::numbers::log2e / step) + binade;
  Number whole = shifted - binade;
  Number r = x - whole * (step * kLn2High) - whole * (step * kLn2Low);
  return {arith::BitcastOp::create(*x.builder, format.bits, shifted.value), r};
}

/// x as k * `step` * ln 2 + r with |r| at most `step` * ln 2 / 2, and expm1(r).
struct ReducedExp {
  Value k;
  Number expm1;
};

/// Reduces x, whose quotient by ln 2 is far below 2^22. `k` is arbitrary for NaN, and `expm1` NaN.
ReducedExp reduceExp(Number x, const FloatFormat &format, int step) {
  ImplicitLocOpBuilder &b = *x.builder;
  auto [bits, r] = divideByLn2(x, format, step, /*offset=*/0);
  double binade = std::ldexp(1.5, format.mantissa);
  Value zero = arith::BitcastOp::create(b, format.bits, x.constant(binade).value);
  Value k = arith::SubIOp::create(b, bits, zero);
  SmallVector<double> series;
  // Terms that are below half a unit in the last place of the smallest result are left out.
  double bound = step * std::log(2) / 2, smallest = std::ldexp(1.0, format.isDouble ? -57 : -27);
  double factorial = 2, power = bound * bound;
  while (power / factorial > smallest) {
    series.push_back(1 / factorial);
    power *= bound;
    factorial *= static_cast<double>(series.size() + 2);
  }
  return {k, r + r * r * r.polynomial(series)};
}

/// exp(x) by the instruction for 2^x. x log2(e) has an error of 2^-24 |x|, so the relative error is
/// at most 2^-17.
Number approximateExp(Number x) {
  Number scaled = x * 1.4426950408889634;
  return x.with(math::Exp2Op::create(*x.builder, scaled.value, arith::FastMathFlags::afn));
}

/// The first terms of the Taylor series below `bound`, where `far` has cancellation.
Number nearZero(Number x, double bound, Number near, Number far) {
  return near.where(x.abs() < bound, far);
}

/// With an error of at most 2^-17, as all approximate functions.
Number approximateExpm1(Number x) {
  Number series = x * x.polynomial({1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720});
  return nearZero(x, 0.5, series, approximateExp(x) - 1.0);
}

/// The coefficients of the polynomial that agrees with exp at the Chebyshev nodes of an interval
/// around 0. Its relative error is close to the smallest possible one, bound^n / (n! 2^(n - 1)) for
/// n coefficients.
SmallVector<double> fittedExp(double bound, int count) {
  SmallVector<double> nodes, differences, coefficients(count, 0.0);
  for (int i = 0; i < count; ++i) {
    nodes.push_back(bound * std::cos(llvm::numbers::pi * (2 * i + 1) / (2 * count)));
    differences.push_back(std::exp(nodes.back()));
  }
  // Newton's divided differences.
  for (int order = 1; order < count; ++order)
    for (int i = count - 1; i >= order; --i)
      differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - order]);
  for (int i = count - 1; i >= 0; --i) {
    for (int power = count - 1; power > 0; --power)
      coefficients[power] = coefficients[power - 1] - nodes[i] * coefficients[power];
    coefficients[0] = differences[i] - nodes[i] * coefficients[0];
  }
  return coefficients;
}

/// exp in f32, in as few instructions as possible: activations take a third of the time of
/// EfficientNet on a CPU. With `isAdded`, the result is at least 2^-125, for sums with numbers to
/// which that makes no difference.
Number expSingle(Number x, bool isAdded) {
  ImplicitLocOpBuilder &b = *x.builder;
  FloatFormat format(x.type());
  // Outside of this range the result is 0, 2^-125 or infinity.
  Number bounded = x.limitedOrNan(isAdded ? -86 : -104, 89);
  // 2^k may be out of range although the result is not: one factor of 2^(k - 1) and twice the
  // polynomial, or two factors of 2^k.
  int step = isAdded ? 1 : 2, bias = isAdded ? format.bias - 1 : format.bias;
  auto [bits, r] = divideByLn2(bounded, format, step, /*offset=*/bias);
  bits = arith::ShLIOp::create(b, bits, constantLike(b, format.bits, format.mantissa));
  Number factor = x.with(arith::BitcastOp::create(b, x.type(), bits));
  SmallVector<double> coefficients = fittedExp(step * llvm::numbers::ln2 / 2, isAdded ? 7 : 9);
  if (!isAdded)
    return r.polynomial(coefficients) * factor * factor;
  for (double &each : coefficients)
    each *= 2;
  return r.polynomial(coefficients) * factor;
}

/// With `isAdded`, an f32 result may be 2^-125 instead of a smaller number.
Number exp(Number x, bool isAdded = false) {
  FloatFormat format(x.type());
  if (!format.isDouble)
    return expSingle(x, isAdded);
  // Outside of this range the result is 0 or infinity.
  Number bounded = x.limitedOrNan(-746, 710);
  // Two equal factors, because 4^k may be out of range although the result is not.
  ReducedExp reduced = reduceExp(bounded, format, /*step=*/2);
  Number factor = powerOfTwo(x, format, reduced.k);
  return (reduced.expm1 + 1.0) * factor * factor;
}

Number expm1(Number x) {
  FloatFormat format(x.type());
  ImplicitLocOpBuilder &b = *x.builder;
  ReducedExp reduced =
      reduceExp(format.isDouble ? x.limited(-38, 710) : x.limited(-18, 89), format, /*step=*/1);
  // (q + 1) 2^k - 1 as (q + (1 - 2^-k)) 2^k, which is exact for k = 0.
  Value top = constantLike(b, format.bits, format.bias - 1);
  Value inverse = arith::SubIOp::create(b, constantLike(b, format.bits, 0),
                                        arith::MinSIOp::create(b, reduced.k, top));
  Number sum = reduced.expm1 + (-powerOfTwo(x, format, inverse) + 1.0);
  Value half = arith::ShRSIOp::create(b, reduced.k, constantLike(b, format.bits, 1));
  Value rest = arith::SubIOp::create(b, reduced.k, half);
  Number result = sum * powerOfTwo(x, format, half) * powerOfTwo(x, format, rest);
  // expm1(-0) is -0.
  result = x.where(x == 0, result);
  return x.where(x.isNan(), result);
}

/// With `isApproximate`, the only quotient is approximate.
Number log(Number x, bool isApproximate = false) {
  FloatFormat format(x.type());
  ImplicitLocOpBuilder &b = *x.builder;
  double smallest = format.isDouble ? 2.2250738585072014e-308 : 1.17549435e-38;
  double lift = format.isDouble ? 18014398509481984.0 : 16777216.0; // 2^54, 2^24
  Value isSubnormal = x < smallest;
  Number normal = (x * lift).where(isSubnormal, x);
  // Split into a mantissa in [sqrt(1/2), sqrt(2)) and an exponent.
  int64_t one = static_cast<int64_t>(format.bias) << format.mantissa;
  int64_t root = format.isDouble ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  Value bits = arith::BitcastOp::create(b, format.bits, normal.value);
  bits = arith::AddIOp::create(b, bits, constantLike(b, format.bits, one - root));
  Value exponent = arith::ShRSIOp::create(b, bits, constantLike(b, format.bits, format.mantissa));
  exponent = arith::SubIOp::create(b, exponent, constantLike(b, format.bits, format.bias));
  Value mantissa = arith::AndIOp::create(
      b, bits, constantLike(b, format.bits, (int64_t(1) << format.mantissa) - 1));
  mantissa = arith::AddIOp::create(b, mantissa, constantLike(b, format.bits, root));
  if (format.isDouble)
    exponent = arith::TruncIOp::create(b, b.getI32Type(), exponent);
  Number e = x.with(arith::SIToFPOp::create(b, x.type(), exponent));
  e = (e - (format.isDouble ? 54 : 24)).where(isSubnormal, e);

  // log(1 + f) = 2 atanh(f / (2 + f)), with the largest terms separate.
  Number f = x.with(arith::BitcastOp::create(b, x.type(), mantissa)) - 1.0;
  auto flags = isApproximate ? arith::FastMathFlags::afn : arith::FastMathFlags::contract;
  Number s = x.with(arith::DivFOp::create(b, f.value, (f + 2.0).value, flags)), z = s * s;
  SmallVector<double> series;
  for (int i = 3, end = format.isDouble ? 25 : 13; i < end; i += 2)
    series.push_back(2.0 / i);
  Number halfSquare = f * f * 0.5;
  Number tail = s * (halfSquare + z * z.polynomial(series)) + e * kLn2Low;
  Number result = e * kLn2High + (f - (halfSquare - tail));

  double infinity = std::numeric_limits<double>::infinity();
  result = x.where(x == infinity, result);
  result = x.constant(-infinity).where(x == 0, result);
  result = x.constant(std::numeric_limits<double>::quiet_NaN()).where(x < 0, result);
  return x.where(x.isNan(), result);
}

Number tanh(Number x) {
  // expm1(2|x|) / (expm1(2|x|) + 2); at 20 the quotient is 1.
  Number doubled = x.abs().limited(0, 20) * 2;
  Number e = expm1(doubled);
  return x.where(x.isNan(), copySign(e / (e + 2.0), x));
}

Number approximateTanh(Number x) {
  Number square = x * x;
  Number series = x * square.polynomial({1, -1. / 3, 2. / 15, -17. / 315, 62. / 2835});
  Number sum = approximateExp(x.abs() * 2) + 1.0;
  Number part = x.with(arith::DivFOp::create(*x.builder, x.constant(-2).value, sum.value,
                                             arith::FastMathFlags::afn));
  return nearZero(x, 0.5, series, copySign(part + 1.0, x));
}

Number erf(Number x, bool isApproximate) {
  // For |x| < 1: x times a polynomial in x squared. Otherwise 1 - exp(-g) with a polynomial g.
  static constexpr double nearSingle[] = {
      1.1283791658483509,   -0.37612626666720331,    0.11283594715160218,  -0.026854212010626412,
      0.005189087423433974, -0.00080168642871658695, 7.8758750626854883e-5};
  static constexpr double farSingle[] = {
      -0.00032013804967769884, 1.130233434841994,     0.63182605155916301,
      0.11008008294882025,     -0.026421136005663897, 0.0047595962932662646,
      -0.00059680562566077971, 4.6058042689189779e-5, -1.6371514145936436e-6};
  static constexpr double nearDouble[] = {
      1.1283791670955126,     -0.3761263890318354,   0.11283791670945006,
      -0.02686617064323777,   0.0052239776071164227, -0.00085483259753896921,
      0.00012055294904839708, -1.492473690741966e-5, 1.6447424703317362e-6,
      -1.6208483801871706e-7, 1.3720064546777686e-8, -7.7958988270021422e-10};
  static constexpr double farDouble[] = {
      7.0137160014418202e-6,   1.1283213638939059,     0.63684179890748574,
      0.10224398133674218,     -0.018253649806719573,  -0.0012776171075057233,
      0.0026925335053596508,   -0.0013116830304292537, 0.00043203548093471802,
      -0.00010897240274582661, 2.1780657677932066e-5,  -3.4746197418031896e-6,
      4.3977203010862342e-7,   -4.346154615656584e-8,  3.2644037946119305e-9,
      -1.78475358953147e-10,   6.6107183707326528e-12, -1.4505770720271259e-13,
      1.3611703452414393e-15};
  bool isDouble = x.type().isF64();
  Number magnitude = x.abs().limited(0, isDouble ? 6 : 4);
  Number near = x * (x * x).polynomial(isDouble ? ArrayRef<double>(nearDouble)
                                                : ArrayRef<double>(nearSingle));
  Number exponent =
      -magnitude.polynomial(isDouble ? ArrayRef<double>(farDouble) : ArrayRef<double>(farSingle));
  Number power = isApproximate ? approximateExp(exponent) : exp(exponent, /*isAdded=*/true);
  Number far = copySign(-power + 1.0, x);
  return x.where(x.isNan(), near.where(x.abs() < 1, far));
}

/// Computes in f64, because large values of y log x need an accurate fraction. In f32 the relative
/// error of a result of 16 bits is at most 2^-15, as its logarithm is below 90.
Number pow(Number xNarrow, Number yNarrow, bool isApproximate) {
  ImplicitLocOpBuilder &b = *xNarrow.builder;
  bool widens = xNarrow.type().isF32() && !isApproximate;
  auto widen = [&](Number number) {
    return widens ? number.with(arith::ExtFOp::create(b, b.getF64Type(), number.value)) : number;
  };
  Number x = widen(xNarrow), y = widen(yNarrow);
  Number power = y * log(x.abs(), isApproximate);
  Number magnitude = isApproximate ? approximateExp(power) : exp(power);
  // 1 to any power, and any number to the power of 0.
  Value isOne = arith::OrIOp::create(b, x.abs() == 1, y == 0);
  magnitude = magnitude.constant(1).where(isOne, magnitude);

  Number floor = y.with(math::FloorOp::create(b, y.value)), half = y * 0.5;
  Value isWhole = floor.compare(arith::CmpFPredicate::OEQ, y);
  Value halfIsBroken =
      half.with(math::FloorOp::create(b, half.value)).compare(arith::CmpFPredicate::ONE, half);
  Value isOdd = arith::AndIOp::create(b, isWhole, halfIsBroken);
  Number result = copySign(magnitude, x).where(isOdd, magnitude);
  double infinity = std::numeric_limits<double>::infinity();
  Value isFiniteNegative = arith::AndIOp::create(b, x<0, x> - infinity);
  Value isBroken = floor.compare(arith::CmpFPredicate::ONE, y);
  Number nan = result.constant(std::numeric_limits<double>::quiet_NaN());
  result = nan.where(arith::AndIOp::create(b, isFiniteNegative, isBroken), result);
  // 1 to the power of NaN is 1, and NaN to the power of 0 is 1, but -1 to the power of NaN is NaN.
  Value definite = arith::OrIOp::create(b, x == 1, y == 0);
  Value unordered = x.compare(arith::CmpFPredicate::UNO, y);
  result = result.constant(1).where(definite, nan.where(unordered, result));
  return widens ? xNarrow.with(arith::TruncFOp::create(b, xNarrow.type(), result.value)) : result;
}

/// Whether an exponential is only added to constants beside which 2^-125 makes no difference, as in
/// a logistic function.
bool isOnlyAdded(math::ExpOp op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<arith::AddFOp>(user) && llvm::any_of(user->getOperands(), [](Value operand) {
             FloatAttr number;
             return matchPattern(operand, m_Constant(&number)) &&
                    std::abs(number.getValueAsDouble()) >= 1e-20;
           });
  });
}

/// Expands an op on f32 or f64 scalars. Narrower floats are extended before.
template <typename Op, typename Expand> struct ExpandPattern : public OpRewritePattern<Op> {
  ExpandPattern(MLIRContext *context, Expand expand)
      : OpRewritePattern<Op>(context), expand(expand) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const final {
    if (!isa<Float32Type, Float64Type>(op.getType()))
      return rewriter.notifyMatchFailure(op, "expected a scalar of type f32 or f64");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    bool isApproximate = op.getType().isF32() &&
                         arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
    if constexpr (std::is_same_v<Op, math::PowFOp>)
      rewriter.replaceOp(
          op, expand({&builder, op.getLhs()}, {&builder, op.getRhs()}, isApproximate).value);
    else if constexpr (std::is_same_v<Op, math::SinOp> || std::is_same_v<Op, math::CosOp>)
      rewriter.replaceOp(op, expand({&builder, op.getOperand()}, isCuda(op)).value);
    else if constexpr (std::is_same_v<Op, math::ExpOp>)
      rewriter.replaceOp(op,
                         expand({&builder, op.getOperand()}, isApproximate, isOnlyAdded(op)).value);
    else if constexpr (std::is_invocable_v<Expand, Number, bool>)
      rewriter.replaceOp(op, expand({&builder, op.getOperand()}, isApproximate).value);
    else
      rewriter.replaceOp(op, expand({&builder, op.getOperand()}).value);
    return success();
  }

  Expand expand;
};

template <typename Op, typename Expand> void add(RewritePatternSet &patterns, Expand expand) {
  patterns.add(std::make_unique<ExpandPattern<Op, Expand>>(patterns.getContext(), expand));
}

} // namespace

void convoy::populateMathExpansionPatterns(RewritePatternSet &patterns) {
  add<math::ExpOp>(patterns, [](Number x, bool isApproximate, bool isAdded) {
    return isApproximate ? approximateExp(x) : exp(x, isAdded);
  });
  add<math::ExpM1Op>(patterns, [](Number x, bool isApproximate) {
    return isApproximate ? approximateExpm1(x) : expm1(x);
  });
  add<math::LogOp>(patterns, [](Number x, bool isApproximate) { return log(x, isApproximate); });
  add<math::TanhOp>(patterns, [](Number x, bool isApproximate) {
    return isApproximate ? approximateTanh(x) : tanh(x);
  });
  add<math::ErfOp>(patterns, [](Number x, bool isApproximate) { return erf(x, isApproximate); });
  add<math::SinOp>(patterns, [](Number x, bool onGpu) { return sinOrCos(x, 0, onGpu); });
  add<math::CosOp>(patterns, [](Number x, bool onGpu) { return sinOrCos(x, 1, onGpu); });
  add<math::PowFOp>(
      patterns, [](Number x, Number y, bool isApproximate) { return pow(x, y, isApproximate); });
}
