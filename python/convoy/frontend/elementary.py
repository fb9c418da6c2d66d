# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Elementary functions without a `tcp` op: formulas of `tcp` ops, evaluated in float64, which
round to the nearest float32 in almost all cases. In float64 their relative error is a few 1e-16,
except near a zero of logaddexp and logaddexp2, whose terms cancel."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch_mlir import ir

from convoy.frontend._builder import Builder, type_of, wrapped_number
from convoy.frontend._expression import Expression, wide
from convoy.frontend._registry import Call, converts

__all__ = ["arctan", "operands", "sin_and_cos_of_pi"]

_LN2 = 0.6931471805599453
#: Above it, x * x + 1 is x * x in float64.
_LARGE = 1e9


def operands(b: Builder, call: Call, count: int = 2) -> Sequence[Expression]:
    """The first arguments in float64, rounded to the result's dtype before. A number is a scalar
    constant."""
    dtype = call.result.dtype
    ranks = [type_of(x).rank for x in call.args[:count] if isinstance(x, ir.Value)]
    return [
        wide(b, b.cast(x, dtype))
        if isinstance(x, ir.Value)
        else Expression(b, b.scalar(wrapped_number(x, dtype), torch.float64, max(ranks)))
        for x in call.args[:count]
    ]


def _sinh(x: Expression) -> Expression:
    """(e + e / (e + 1)) / 2 with e = expm1(|x|); near the limit of the range exp(|x| / 2) squared,
    which does not overflow."""
    a = x.abs()
    e, half = a.expm1(), (a * 0.5).exp()
    return ((e + e / (e + 1.0)) * 0.5).replaced(a > 40.0, half * 0.5 * half).copysign(x)


def _cosh(x: Expression) -> Expression:
    """(t * t + 1 / (t * t)) / 2 with t = exp(|x| / 2), which does not overflow."""
    t = (x.abs() * 0.5).exp()
    return t * 0.5 * t + 0.5 / t / t


def _tan(x: Expression) -> Expression:
    return x.sin() / x.cos()


# The rational approximation of arctan in the Cephes Math Library, for |x| <= 0.66.
_ARCTAN_P = (
    -6.485021904942025371773e1,
    -1.228866684490136173410e2,
    -7.500855792314704667340e1,
    -1.615753718733365076637e1,
    -8.750608600031904122785e-1,
)
_ARCTAN_Q = (
    1.945506571482613964425e2,
    4.853903996359136964868e2,
    4.328810604912902668951e2,
    1.650270098316988542046e2,
    2.485846490142306297962e1,
    1.0,
)


def arctan(x: Expression) -> Expression:
    """The arguments of the approximation are x, (x - 1) / (x + 1) after a quarter, and -1 / x after
    half of a right angle."""
    a = x.abs()
    small, large = a <= 0.66, a > 2.414213562373095
    reduced = ((a - 1.0) / (a + 1.0)).replaced(small, a).replaced(large, -1.0 / a)
    offset = a.constant(math.pi / 4).replaced(small, 0.0).replaced(large, math.pi / 2)
    square = reduced * reduced
    series = square * square.polynomial(_ARCTAN_P) / square.polynomial(_ARCTAN_Q)
    # The part of pi / 4 or pi / 2 below the last bit of float64.
    rest = (
        a.constant(3.061616997868383e-17)
        .replaced(small, 0.0)
        .replaced(large, 6.123233995736766e-17)
    )
    return (offset + (reduced + (reduced * series + rest))).copysign(x)


def _arcsin(x: Expression) -> Expression:
    return arctan(x / ((1.0 - x) * (1.0 + x)).sqrt())


def _arccos(x: Expression) -> Expression:
    return 2.0 * arctan(((1.0 - x) / (1.0 + x)).sqrt())


def _arcsinh(x: Expression) -> Expression:
    a = x.abs()
    square = a * a
    small = (a + square / (1.0 + (square + 1.0).sqrt())).log1p()
    return small.replaced(a > _LARGE, a.log() + _LN2).copysign(x)


def _arccosh(x: Expression) -> Expression:
    t = x - 1.0
    small = (t + (2.0 * t + t * t).sqrt()).log1p()
    return small.replaced(x > _LARGE, x.log() + _LN2).replaced(t < 0.0, math.nan)


def _arctanh(x: Expression) -> Expression:
    a = x.abs()
    return (0.5 * (2.0 * a / (1.0 - a)).log1p()).copysign(x)


def _exp2(x: Expression) -> Expression:
    """exp(n log(2)) exp(f log(2)) with x = n + f. The first factor is t * t, where the argument of
    the exponential t is exact; what it lacks of n log(2) is in the other factor."""
    x = x.minimum(1100.0).maximum(-1100.0)
    n = x.round()
    t = (n * (0.5 * 0.693359375)).exp()
    rest = ((x - n) * _LN2 + n * -2.1219444005469058e-4).exp()
    return t * rest * t


def sin_and_cos_of_pi(x: Expression) -> tuple[Expression, Expression]:
    """sin(pi r) and cos(pi r) with r = x - round(x): up to the sign those of pi x."""
    r = (x - x.round()) * math.pi
    return r.sin(), r.cos()


def _sinc(x: Expression) -> Expression:
    """sin(pi x) / (pi x), and 1 at 0."""
    scaled = x * math.pi
    return (scaled.sin() / scaled).replaced(x.equals(0.0), 1.0)


def _digits(scale: float) -> Callable[[Expression], Expression]:
    return lambda x: x.log() * scale


_UNARY: dict[str, Callable[[Expression], Expression]] = {
    "aten.acos": _arccos,
    "aten.acosh": _arccosh,
    "aten.asin": _arcsin,
    "aten.asinh": _arcsinh,
    "aten.atan": arctan,
    "aten.atanh": _arctanh,
    "aten.cosh": _cosh,
    "aten.exp2": _exp2,
    "aten.log10": _digits(0.4342944819032518),
    "aten.log2": _digits(1.4426950408889634),
    "aten.sinc": _sinc,
    "aten.sinh": _sinh,
}
#: Accurate in the dtype of the operand, and frequent.
_NARROW: dict[str, Callable[[Expression], Expression]] = {
    "aten.expm1": lambda x: x.expm1(),
    "aten.log1p": lambda x: x.log1p(),
    "aten.tan": _tan,
}


@converts(*_UNARY)
def elementary(b: Builder, call: Call) -> ir.Value:
    (x,) = operands(b, call, 1)
    return _UNARY[call.name](x).cast(call.result.dtype)


@converts(*_NARROW)
def elementary_narrow(b: Builder, call: Call) -> ir.Value:
    x = Expression(b, b.wide(b.cast(call.args[0], call.result.dtype)))
    return _NARROW[call.name](x).cast(call.result.dtype)


@converts("aten.atan2")
def atan2(b: Builder, call: Call) -> ir.Value:
    """arctan of the smaller by the larger magnitude, reflected into the quadrant of (x, y)."""
    y, x = operands(b, call)
    high, low = x.abs().maximum(y.abs()), x.abs().minimum(y.abs())
    ratio = (low / high).replaced(high.equals(0.0), 0.0)
    # Two infinities have the angle of the diagonal.
    ratio = ratio.replaced(low.equals(math.inf), 1.0)
    angle = arctan(ratio)
    angle = angle.replaced(y.abs() > x.abs(), math.pi / 2 - angle)
    angle = angle.replaced(x.is_negative(), math.pi - angle)
    return angle.copysign(y).cast(call.result.dtype)


@converts("aten.hypot")
def hypot(b: Builder, call: Call) -> ir.Value:
    """high * sqrt(1 + (low / high)^2), which does not overflow. Infinite if one is infinite, even
    if the other is NaN."""
    x, y = (value.abs() for value in operands(b, call))
    high, low = x.maximum(y), x.minimum(y)
    ratio = low / high
    length = (high * (ratio * ratio + 1.0).sqrt()).replaced(high.equals(0.0), 0.0)
    return length.replaced(x.is_infinite() | y.is_infinite(), math.inf).cast(call.result.dtype)


@converts("aten.logaddexp", "aten.logaddexp2")
def logaddexp(b: Builder, call: Call) -> ir.Value:
    """max + log1p(exp(-|x - y|)); for base 2 with the arguments scaled by log(2). Equal infinities
    are the result themselves."""
    x, y = operands(b, call)
    scale = _LN2 if call.name == "aten.logaddexp2" else 1.0
    difference = (x - y).abs() * -scale
    total = x.maximum(y) + difference.exp().log1p() / scale
    return total.replaced(x.is_infinite() & x.equals(y), x).cast(call.result.dtype)


@converts(
    "aten.xlogy.Tensor",
    "aten.xlogy.Scalar_Self",
    "aten.xlogy.Scalar_Other",
    "aten.special_xlog1py",
    "aten.special_xlog1py.self_scalar",
    "aten.special_xlog1py.other_scalar",
)
def xlogy(b: Builder, call: Call) -> ir.Value:
    """x * log(y) or x * log1p(y); 0 where x is 0, unless y is NaN."""
    x, y = operands(b, call)
    product = x * (y.log() if ".xlogy" in call.name else y.log1p())
    zero = product.constant(0.0)
    return product.replaced(x.equals(0.0) & y.equals(y), zero).cast(call.result.dtype)


@converts("aten.logit")
def logit(b: Builder, call: Call) -> ir.Value:
    """log(x / (1 - x)), with x limited to [eps, 1 - eps] if there is an eps."""
    (x,) = operands(b, call, 1)
    if call.args[1] is not None:
        low = call.args[1]
        x = x.maximum(low).minimum(1 - low)
    return (x / (1.0 - x)).log().cast(call.result.dtype)


@converts("aten.copysign.Tensor", "aten.copysign.Scalar")
def copysign(b: Builder, call: Call) -> ir.Value:
    x, sign = operands(b, call)
    return x.copysign(sign).cast(call.result.dtype)


@converts("aten.signbit")
def signbit(b: Builder, call: Call) -> ir.Value:
    """Whether the sign bit is set, also for zeros and NaN."""
    x = Expression(b, call.args[0])
    return (x.is_negative() if x.dtype.is_floating_point else x < 0).value
