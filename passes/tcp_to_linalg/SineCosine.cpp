// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The expansions of sin and cos, as in MathExpansions.cpp.

#include "passes/tcp_to_linalg/SineCosine.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;
using namespace convoy;

namespace {

/// 2 / pi in digits of 24 bits, beginning with the first 24 bits after the binary point.
constexpr uint32_t kTwoOverPi[] = {
    0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62, 0x95993c, 0x439041, 0xfe5163,
    0xabdebb, 0xc561b7, 0x246e3a, 0x424dd2, 0xe00649, 0x2eea09, 0xd1921c, 0xfe1deb, 0x1cb129,
    0xa73ee8, 0x8235f5, 0x2ebb44, 0x84e99c, 0x7026b4, 0x5f7e41, 0x3991d6, 0x398353, 0x39f49c,
    0x845f8b, 0xbdf928, 0x3b1ff8, 0x97ffde, 0x05980f, 0xef2f11, 0x8b5a0a, 0x6d1f6d, 0x367ecf,
    0x27cb09, 0xb74f46, 0x3f669e, 0x5fea2d, 0x7527ba, 0xc7ebe5, 0xf17b3d, 0x0739f7, 0x8a5292,
    0xea6bfb, 0x5fb11f, 0x8d5d08, 0x560330, 0x46fc7b};

constexpr double kHalfPi = 1.57079632679489661923;

/// x as a multiple of pi / 2 and a remainder in [-pi / 4, pi / 4].
struct Quarters {
  Value whole; ///< the multiple, modulo 4, as i32
  Number rest;
};

/// Reduces any x of type f64; with `isSingle` x is representable in f32. The products of x, or its
/// two halves, with the digits of 2 / pi are exact, and so are the products modulo 4; products that
/// are multiples of whole turns vanish. Based on Payne and Hanek, "Radian reduction for
/// trigonometric functions", 1983, but without integers, so that it vectorizes.
Quarters quarters(Number x, bool isSingle) {
  ImplicitLocOpBuilder &b = *x.builder;
  auto rounded = [&](Number number) {
    return number.with(math::RoundEvenOp::create(b, number.value));
  };
  SmallVector<Number> halves = {x};
  if (!isSingle) {
    // The upper 26 bits and the lower 27.
    Value bits = arith::BitcastOp::create(b, b.getI64Type(), x.value);
    bits = arith::AndIOp::create(b, bits, constantLike(b, b.getI64Type(), -(int64_t(1) << 27)));
    Number high = x.with(arith::BitcastOp::create(b, x.type(), bits));
    halves = {high, x - high};
  }
  // Further digits contribute less than 2^-60 to the product with the largest x.
  ArrayRef<uint32_t> digits = ArrayRef(kTwoOverPi).take_front(isSingle ? 8 : 46);
  SmallVector<Number> terms;
  for (auto [i, digit] : llvm::enumerate(digits)) {
    // The scale of late digits is out of f64's range, so a part of it is moved to x; late digits
    // only matter for large x.
    constexpr int kLate = 36, kShift = 256;
    if (i == kLate)
      for (Number &half : halves)
        half = half * std::ldexp(1.0, -kShift);
    for (Number half : halves) {
      Number product =
          half * std::ldexp(double(digit), (i < kLate ? 0 : kShift) - 24 * (int(i) + 1));
      terms.push_back(product - rounded(product * 0.25) * 4.0);
    }
  }
  Number sum = terms.back();
  for (Number term : llvm::reverse(ArrayRef(terms).drop_back()))
    sum = sum + term;
  Number whole = rounded(sum);
  // Beginning with the largest digits, so that cancellation is exact.
  Number rest = terms.front() - whole;
  for (Number term : ArrayRef(terms).drop_front())
    rest = rest + term;
  return {arith::FPToSIOp::create(b, b.getI32Type(), whole.limited(-1024, 1024).value),
          rest * kHalfPi};
}

/// Reduces any x, of type f32 in f64.
Quarters reduce(Number x) {
  ImplicitLocOpBuilder &b = *x.builder;
  if (x.type().isF64())
    return quarters(x, /*isSingle=*/false);
  auto [whole, rest] =
      quarters(x.with(arith::ExtFOp::create(b, b.getF64Type(), x.value)), /*isSingle=*/true);
  return {whole, x.with(arith::TruncFOp::create(b, x.type(), rest.value))};
}

/// Reduces x of type f32 below 2^17 by three fused operations with parts of pi / 2 (Cody and Waite,
/// "Software Manual for the Elementary Functions", 1980). The product with the first part is exact.
Quarters reduceSmall(Number x) {
  ImplicitLocOpBuilder &b = *x.builder;
  Number whole = x.with(math::RoundEvenOp::create(b, (x * (1 / kHalfPi)).value)), rest = x;
  for (double part : {-0x1.921fap0, -0x1.54442cp-20, -0x1.184698p-44})
    rest = x.with(math::FmaOp::create(b, whole.value, x.constant(part).value, rest.value));
  return {arith::FPToSIOp::create(b, b.getI32Type(), whole.value), rest};
}

/// Reduces any x of type f32. Only warps with a large number take the branch of about 50
/// instructions on f64.
Quarters reduceOnGpu(Number x) {
  ImplicitLocOpBuilder &b = *x.builder;
  constexpr double kSmall = 1 << 17;
  auto branch = scf::IfOp::create(b, TypeRange{b.getI32Type(), x.type()}, x.abs() < kSmall,
                                  /*withElseRegion=*/true);
  auto fill = [&](Block *block, auto reduceTo) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    Quarters reduced = reduceTo(x);
    scf::YieldOp::create(b, ValueRange{reduced.whole, reduced.rest.value});
  };
  fill(branch.thenBlock(), reduceSmall);
  fill(branch.elseBlock(), reduce);
  return {branch.getResult(0), x.with(branch.getResult(1))};
}

} // namespace

Number convoy::sinOrCos(Number x, int64_t shift, bool onGpu) {
  ImplicitLocOpBuilder &b = *x.builder;
  bool isDouble = x.type().isF64();
  Quarters reduced = onGpu && !isDouble ? reduceOnGpu(x) : reduce(x);
  Number r = reduced.rest, square = r * r;
  SmallVector<double> sinSeries, cosSeries;
  double term = 1;
  for (int i = 2, end = isDouble ? 20 : 12; i < end; ++i) {
    term /= i;
    double sign = (i / 2) % 2 ? -1 : 1;
    (i % 2 ? sinSeries : cosSeries).push_back(sign * term);
  }
  Number sine = r + r * square * square.polynomial(sinSeries);
  Number cosine = square * square.polynomial(cosSeries) + 1.0;
  Type i32 = b.getI32Type();
  Value quadrant = arith::AddIOp::create(b, reduced.whole, constantLike(b, i32, shift));
  auto bit = [&](int64_t mask) {
    Value masked = arith::AndIOp::create(b, quadrant, constantLike(b, i32, mask));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked, constantLike(b, i32, 0))
        .getResult();
  };
  Number chosen = cosine.where(bit(1), sine);
  Number result = (-chosen).where(bit(2), chosen);
  // The reduction loses the sign of zero and the precision of very small numbers.
  return shift == 0 ? x.where(x.abs() < 1e-8, result) : result;
}
