# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Bessel functions of orders 0 and 1, in float64, by the approximations of the Cephes Math
Library."""

from __future__ import annotations

import math
from collections.abc import Callable

from torch_mlir import ir

from convoy.frontend import _special_tables as tables
from convoy.frontend._builder import Builder
from convoy.frontend._expression import Expression
from convoy.frontend._registry import Call, converts
from convoy.frontend.elementary import operands

__all__: list[str] = []

_INF = math.inf
#: The squares of the first two zeros of J0 and J1.
_ZEROS = (
    (5.78318596294678452118, 30.4712623436620863991),
    (14.6819706421238932572, 49.2184563216946036703),
)
_J_SMALL = ((tables.J0_P, tables.J0_Q), (tables.J1_P, tables.J1_Q))
_Y_SMALL = ((tables.Y0_P, tables.Y0_Q), (tables.Y1_P, tables.Y1_Q))
_LARGE = (
    (tables.J0_PP, tables.J0_PQ, tables.J0_QP, tables.J0_QQ),
    (tables.J1_PP, tables.J1_PQ, tables.J1_QP, tables.J1_QQ),
)
_I = ((tables.I0_SMALL, tables.I0_LARGE), (tables.I1_SMALL, tables.I1_LARGE))
_K = ((tables.K0_SMALL, tables.K0_LARGE), (tables.K1_SMALL, tables.K1_LARGE))


def _large(order: int, a: Expression) -> tuple[Expression, Expression]:
    """J and Y of a > 5, from the phase a - (2 order + 1) pi / 4."""
    pp, pq, qp, qq = _LARGE[order]
    ratio = 5.0 / a
    w = ratio * ratio
    p = w.polynomial(pp) / w.polynomial(pq)
    q = ratio * w.polynomial(qp) / w.polynomial(qq)
    # sin and cos of a, so that subtracting the phase does not round.
    sine, cosine = a.sin(), a.cos()
    root = math.sqrt(0.5)
    s, c = (
        ((sine - cosine) * root, (sine + cosine) * root)
        if order == 0
        else ((-(sine + cosine)) * root, (sine - cosine) * root)
    )
    scale = (2.0 / (a * math.pi)).sqrt()
    return (p * c - q * s) * scale, (p * s + q * c) * scale


def _small_j(order: int, a: Expression) -> Expression:
    p, q = _J_SMALL[order]
    z = a * a
    first, second = _ZEROS[order]
    result = (z - first) * (z - second) * z.polynomial(p) / z.polynomial(q)
    return result if order == 0 else result * a


def _j(order: int, x: Expression) -> Expression:
    a = x.abs()
    result = _large(order, a)[0].replaced(a <= 5.0, _small_j(order, a))
    result = result.replaced(a.equals(_INF), 0.0)
    return result if order == 0 else result * x.constant(1.0).copysign(x)


def _y(order: int, x: Expression) -> Expression:
    p, q = _Y_SMALL[order]
    z = x * x
    small = z.polynomial(p) / z.polynomial(q)
    log = _small_j(order, x) * x.log()
    small = (
        small + log * (2 / math.pi) if order == 0 else x * small + (log - 1.0 / x) * (2 / math.pi)
    )
    result = _large(order, x)[1].replaced(x <= 5.0, small)
    result = result.replaced(x.equals(_INF), 0.0)
    return result.replaced(x.equals(0.0), -_INF).replaced(x < 0.0, math.nan)


def _i_scaled(order: int, x: Expression) -> Expression:
    """exp(-|x|) I(x)."""
    a = x.abs()
    small, large = _I[order]
    below = (a / 4.0 - 1.0).polynomial(small)
    below = below if order == 0 else below * a
    above = (16.0 / a - 1.0).polynomial(large) / a.sqrt()
    result = above.replaced(a <= 8.0, below)
    return result if order == 0 else result.copysign(x)


def _i(order: int, x: Expression) -> Expression:
    """In two factors, because exp(|x|) overflows before the result does."""
    half = (x.abs() * 0.5).exp()
    infinite = x.constant(_INF) if order == 0 else x
    return (_i_scaled(order, x) * half * half).replaced(x.is_infinite(), infinite)


def _k_scaled(order: int, x: Expression) -> Expression:
    """exp(x) K(x)."""
    small, large = _K[order]
    series = (x * x / 2.0 - 1.0).polynomial(small)
    log = (0.5 * x).log() * _i(order, x)
    below = (series - log if order == 0 else log + series / x) * x.exp()
    above = (4.0 / x - 1.0).polynomial(large) / x.sqrt()
    result = above.replaced(x <= 2.0, below)
    return result.replaced(x.equals(0.0), _INF).replaced(x < 0.0, math.nan)


def _k(order: int, x: Expression) -> Expression:
    half = (x * -0.5).exp()
    result = _k_scaled(order, x) * half * half
    return result.replaced(x.equals(0.0), _INF)


_FUNCTIONS: dict[str, tuple[Callable[[int, Expression], Expression], int]] = {
    "aten.i0": (_i, 0),
    "aten.special_bessel_j0": (_j, 0),
    "aten.special_bessel_j1": (_j, 1),
    "aten.special_bessel_y0": (_y, 0),
    "aten.special_bessel_y1": (_y, 1),
    "aten.special_i0": (_i, 0),
    "aten.special_i0e": (_i_scaled, 0),
    "aten.special_i1": (_i, 1),
    "aten.special_i1e": (_i_scaled, 1),
    "aten.special_modified_bessel_i0": (_i, 0),
    "aten.special_modified_bessel_i1": (_i, 1),
    "aten.special_modified_bessel_k0": (_k, 0),
    "aten.special_modified_bessel_k1": (_k, 1),
    "aten.special_scaled_modified_bessel_k0": (_k_scaled, 0),
    "aten.special_scaled_modified_bessel_k1": (_k_scaled, 1),
}


@converts(*_FUNCTIONS)
def bessel(b: Builder, call: Call) -> ir.Value:
    """A Bessel function of the first, second or third kind, or exponentially scaled."""
    (x,) = operands(b, call, 1)
    function, order = _FUNCTIONS[call.name]
    return function(order, x).cast(call.result.dtype)
