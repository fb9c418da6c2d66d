# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Special functions: error functions, the gamma function's logarithm and its derivatives. All are
evaluated in float64. For float64 the error near a zero of lgamma, digamma or polygamma is relative
to their terms, not to the result."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch_mlir import ir

from convoy.frontend import _special_tables as tables
from convoy.frontend._builder import Builder, Unsupported
from convoy.frontend._expression import Expression, wide
from convoy.frontend._registry import Call, converts
from convoy.frontend.elementary import operands, sin_and_cos_of_pi

__all__: list[str] = []

_INF = math.inf


def _exp_of_square(x: Expression, sign: float) -> Expression:
    """exp(sign * x * x). The square of the upper 24 bits of x is exact."""
    high = wide(x.builder, x.builder.cast(x.value, torch.float32))
    # The upper bits of an x out of float32's range do not matter: the result is 0 or infinity.
    high = high.replaced(high.is_infinite(), x)
    low = ((x - high) * (x + high)).replaced(x.is_infinite(), 0.0)
    return (high * high * sign).exp() * (low * sign).exp()


def _erfcx_of_positive(a: Expression) -> Expression:
    """exp(a * a) * erfc(a) for a >= 0: a polynomial in (a - 3.75) / (a + 3.75), by 1 + 2 a."""
    t = ((a - 3.75) / (a + 3.75)).replaced(a.equals(_INF), 1.0)
    return t.polynomial(tables.ERFCX) / (2.0 * a + 1.0)


def _erfcx(x: Expression) -> Expression:
    positive = _erfcx_of_positive(x.abs())
    # 2 exp(x * x) - erfcx(-x) overflows below -26.7.
    return positive.replaced(x < 0.0, 2.0 * _exp_of_square(x.maximum(-30.0), 1.0) - positive)


def _erfc(x: Expression) -> Expression:
    a = x.abs()
    # erfc(30) is 0 in float64.
    positive = _erfcx_of_positive(a) * _exp_of_square(a.minimum(30.0), -1.0)
    return positive.replaced(x < 0.0, 2.0 - positive)


def _erfinv(x: Expression) -> Expression:
    """Two steps of Newton's method from the rational approximation of ATen/native/Math.h. Where |x|
    is large, they use erfc, because erf is almost 1 there."""
    a = x.abs()
    square = x * x
    near = a * square.polynomial((0.886226899, -1.645349621, 0.914624893, -0.140543331))
    near = near / square.polynomial((1.0, -2.118377725, 1.442710462, -0.329097515, 0.012229801))
    z = (-((1.0 - a) / 2.0).log()).sqrt()
    far = z.polynomial((-1.970840454, -1.624906493, 3.429567803, 1.641345311))
    far = far / z.polynomial((1.0, 3.543889200, 1.637067800))
    y = far.replaced(a <= 0.7, near)
    for _ in range(2):
        error = ((1.0 - a) - _erfc(y)).replaced(a <= 0.7, y.erf() - a)
        y = y - error * (math.sqrt(math.pi) / 2) * _exp_of_square(y, 1.0)
    y = y.replaced(a.equals(1.0), _INF).replaced(a > 1.0, math.nan)
    return y.copysign(x)


def _ndtr(x: Expression) -> Expression:
    return 0.5 * _erfc(x * -math.sqrt(0.5))


def _log_ndtr(x: Expression) -> Expression:
    """log(erfcx(-t) / 2) - t * t with t = x / sqrt(2) for negative x, which erfc would round to
    0."""
    t = x * math.sqrt(0.5)
    tail = (_erfcx_of_positive(t.abs()) * 0.5).log() - t * t
    return (_erfc(t) * -0.5).log1p().replaced(x < -1.0, tail)


def _ndtri(y: Expression) -> Expression:
    limit = 0.13533528323661269189
    low = y.replaced(y > 1.0 - limit, 1.0 - y)
    centered = y - 0.5
    square = centered * centered
    middle = square * square.polynomial(tables.NDTRI_P0) / square.polynomial(tables.NDTRI_Q0)
    middle = (centered + centered * middle) * math.sqrt(2 * math.pi)
    x = (low.log() * -2.0).sqrt()
    z = 1.0 / x
    near = z * z.polynomial(tables.NDTRI_P1) / z.polynomial(tables.NDTRI_Q1)
    far = z * z.polynomial(tables.NDTRI_P2) / z.polynomial(tables.NDTRI_Q2)
    tail = x - x.log() / x - far.replaced(x < 8.0, near)
    result = (-tail).replaced(y > 1.0 - limit, tail).replaced(low > limit, middle)
    result = result.replaced(y.equals(0.0), -_INF).replaced(y.equals(1.0), _INF)
    return result.replaced((y < 0.0) | (y > 1.0), math.nan)


def _entr(x: Expression) -> Expression:
    """-x * log(x), 0 at 0, minus infinity below."""
    result = (-(x * x.log())).replaced(x.equals(0.0), 0.0)
    return result.replaced(x < 0.0, -_INF)


_LANCZOS = (
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)


def _lgamma(x: Expression) -> Expression:
    """Lanczos' approximation, reflected below 1/2. The error is 1e-15 of the result or of 1."""
    reflected = x < 0.5
    z = (x - 1.0).replaced(reflected, -x)
    total = z.constant(0.99999999999980993)
    for index, coefficient in enumerate(_LANCZOS, 1):
        total = total + coefficient / (z + float(index))
    t = z + 7.5
    result = (z + 0.5) * t.log() - t + (total.log() + 0.5 * math.log(2 * math.pi))
    sine, _ = sin_and_cos_of_pi(x)
    result = result.replaced(reflected, math.log(math.pi) - sine.abs().log() - result)
    result = result.replaced(x.equals(1.0) | x.equals(2.0), 0.0)
    return result.replaced(x.is_infinite() | (reflected & x.equals(x.floor())), _INF)


_PSI = (
    8.33333333333333333333e-2,
    -8.33333333333333333333e-3,
    3.96825396825396825397e-3,
    -4.16666666666666666667e-3,
    7.57575757575757575758e-3,
    -2.10927960927960927961e-2,
    8.33333333333333333333e-2,
)


def _digamma(x: Expression) -> Expression:
    """The asymptotic series at x + 10, minus 1 / (x + k) for k below 10; reflected below 0."""
    negative = x < 0.0
    positive = x.replaced(negative, 1.0 - x)
    shifted = positive + 10.0
    z = 1.0 / (shifted * shifted)
    result = shifted.log() - 0.5 / shifted - z * z.polynomial(_PSI)
    for k in range(10):
        result = result - 1.0 / (positive + float(k))
    sine, cosine = sin_and_cos_of_pi(x)
    result = result.replaced(negative, result - math.pi * cosine / sine)
    result = result.replaced(negative & x.equals(x.floor()), math.nan)
    pole = x.constant(_INF).copysign(-x)
    return result.replaced(x.equals(0.0), pole).replaced(x.equals(_INF), _INF)


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)


def _power(x: Expression, exponent: int) -> Expression:
    """A positive integer power by squaring."""
    if exponent == 1:
        return x
    half = _power(x, exponent // 2)
    return half * half * x if exponent % 2 else half * half


def _polygamma(n: int, x: Expression) -> Expression:
    """(-1)^(n+1) n! zeta(n + 1, x) for n >= 1: the sum of (x + k)^-(n+1) for k below a number, and
    the formula of Euler and Maclaurin for the rest. Below 1/2 reflected, with the derivatives of
    pi cot(pi x) as polynomials in the cotangent."""
    reflected = x < 0.5
    q = x.replaced(reflected, 1.0 - x)
    s, sign = n + 1, -1.0 if n % 2 else 1.0
    steps = 10 + n
    total = q.constant(0.0)
    for k in range(steps):
        total = total + 1.0 / _power(q + float(k), s)
    a = q + float(steps)
    power = 1.0 / _power(a, n)
    rest = power / float(n) + 0.5 * power / a
    inverse = 1.0 / (a * a)
    term = power * inverse
    factor = float(s)
    for index, bernoulli in enumerate(_BERNOULLI):
        rest = rest + term * (bernoulli * factor / math.factorial(2 * index + 2))
        term = term * inverse
        factor *= (s + 2 * index + 1) * (s + 2 * index + 2)
    rest = rest.replaced(a.equals(_INF), 0.0)
    positive = (total + rest) * (-sign * float(math.factorial(n)))
    # d/dx p(c) = -pi (1 + c^2) p'(c) for c = cot(pi x).
    coefficients = [0.0, 1.0]
    for _ in range(n):
        slope = [index * value for index, value in enumerate(coefficients)][1:]
        padded = [0.0, 0.0, *slope]
        coefficients = [-(p + (slope[i] if i < len(slope) else 0.0)) for i, p in enumerate(padded)]
    sine, cosine = sin_and_cos_of_pi(x)
    derivative = (cosine / sine).polynomial(coefficients) * math.pi ** (n + 1)
    # psi_n(1 - x) + (-1)^(n+1) psi_n(x) = (-1)^n d^n/dx^n pi cot(pi x).
    other = (positive - derivative * sign) * sign
    result = positive.replaced(reflected, other)
    pole = _INF if n % 2 else -_INF
    return result.replaced(reflected & x.equals(x.floor()), pole)


def _spherical_j0(x: Expression) -> Expression:
    return (x.sin() / x).replaced(x.equals(0.0), 1.0).replaced(x.is_infinite(), 0.0)


_UNARY: dict[str, Callable[[Expression], Expression]] = {
    "aten.digamma": _digamma,
    "aten.erfc": _erfc,
    "aten.erfinv": _erfinv,
    "aten.lgamma": _lgamma,
    "aten.special_entr": _entr,
    "aten.special_erfcx": _erfcx,
    "aten.special_log_ndtr": _log_ndtr,
    "aten.special_ndtr": _ndtr,
    "aten.special_ndtri": _ndtri,
    "aten.special_spherical_bessel_j0": _spherical_j0,
}


@converts(*_UNARY)
def special(b: Builder, call: Call) -> ir.Value:
    (x,) = operands(b, call, 1)
    return _UNARY[call.name](x).cast(call.result.dtype)


@converts("aten.polygamma")
def polygamma(b: Builder, call: Call) -> ir.Value:
    """The derivative of order n of digamma. The sums get long and lose digits for large n."""
    order, x = call.args
    if not 0 <= order <= 20:
        msg = f"expected an order n from 0 to 20, got {order}"
        raise Unsupported(msg)
    argument = wide(b, b.cast(x, call.result.dtype))
    result = _polygamma(order, argument) if order else _digamma(argument)
    return result.cast(call.result.dtype)
