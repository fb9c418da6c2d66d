# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Pointwise ops on floats that test, compare or round: isinf, fmax, nextafter and others."""

from __future__ import annotations

import math

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of
from convoy.frontend._expression import Expression, wide
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import dtype_name
from convoy.frontend.elementary import operands

__all__ = ["exact_fmod", "rest_of_division"]


@converts("aten.isinf")
def isinf(b: Builder, call: Call) -> ir.Value:
    """|x| == inf; false for integers."""
    x = Expression(b, call.args[0])
    if not x.dtype.is_floating_point:
        return b.full(False, call.result)
    return x.is_infinite().value


@converts("aten.fmax", "aten.fmin")
def fmax_fmin(b: Builder, call: Call) -> ir.Value:
    """The larger or smaller of two; the other one where one is NaN."""
    dtype = call.result.dtype
    x, y = (Expression(b, b.cast(value, dtype)) for value in call.args)
    op = tcp.MaximumOp if call.name == "aten.fmax" else tcp.MinimumOp
    chosen = x.apply(op, y)
    if not dtype.is_floating_point:
        return chosen.value
    return chosen.replaced(y.is_nan(), x).replaced(x.is_nan(), y).value


@converts("aten.round.decimals")
def round_decimals(b: Builder, call: Call) -> ir.Value:
    """round(x * 10^decimals) / 10^decimals, or the quotient first if decimals is negative."""
    value, decimals = call.args
    if not type_of(value).dtype.is_floating_point:
        if decimals < 0:
            msg = f"expected a floating-point tensor for negative decimals, got {decimals}"
            raise Unsupported(msg)
        return value
    x = Expression(b, b.wide(value))
    scale = 10.0 ** abs(decimals)
    rounded = (x * scale).round() / scale if decimals >= 0 else (x / scale).round() * scale
    return rounded.cast(call.result.dtype)


#: 1 + 2^-24, a little more than half of the distance of float32 numbers, and the smallest one.
_HALF_STEP, _SMALLEST, _NORMAL = 2.0**-24 * (1 + 2.0**-10), 2.0**-149, 2.0**-126


@converts("aten.nextafter")
def nextafter(b: Builder, call: Call) -> ir.Value:
    """The next float32 after x towards y: in float64, a step of a bit more than half of a unit in
    the last place, which the cast rounds to one unit."""
    if call.result.dtype != torch.float32:
        msg = f"expected float32 tensors, got {dtype_name(call.result.dtype)}"
        raise Unsupported(msg)
    x, y = operands(b, call)
    step = (x.abs() * _HALF_STEP).replaced(x.abs() <= _NORMAL, _SMALLEST)
    moved = (x + step).replaced(y < x, x - step)
    # A step from infinity is to the largest finite number, and a step to zero keeps the sign.
    limit = x.constant(torch.finfo(torch.float32).max).copysign(x)
    moved = moved.replaced(x.is_infinite(), limit)
    moved = moved.replaced(moved.equals(0.0), x.constant(0.0).copysign(x))
    moved = moved.replaced(x.equals(y), y)
    return moved.replaced(x.is_nan() | y.is_nan(), math.nan).cast(torch.float32)


#: Steps of a long division with 29 bits each, which are enough for any two float32.
_BITS, _STEPS = 29, 10


def exact_fmod(x: Expression, y: Expression) -> Expression:
    """The exact remainder of float32 numbers in float64, with the sign of x.

    Subtracts multiples of |y| * 2^(29 k) for falling k. A quotient of a step has at most 29 bits,
    so its product with the 24 bits of y is exact."""
    rest, divisor = x.abs(), y.abs()
    for step in reversed(range(_STEPS)):
        part = divisor * 2.0 ** (_BITS * step) if step else divisor
        rest = rest - (rest / part).floor() * part
    rest = rest.replaced(divisor.equals(math.inf) & (x.abs() < math.inf), x)
    return rest.copysign(x)


def rest_of_division(x: Expression, y: Expression, quotient: Expression) -> Expression:
    """x - quotient * y of float64 numbers, where the quotient is a rounded integer: without an
    error if it is below 2^22, because products of parts with 24 bits are exact. NaN beyond the
    range of float32."""
    rest = x
    left, right = _parts(quotient), _parts(y)
    for total in range(len(left) + len(right) - 1):
        for place, part in enumerate(left):
            if 0 <= total - place < len(right):
                rest = rest - part * right[total - place]
    return rest


def _parts(x: Expression) -> list[Expression]:
    """Numbers of at most 24 bits whose sum is x."""
    high = _rounded(x)
    middle = _rounded(x - high)
    return [high, middle, x - high - middle]


def _rounded(x: Expression) -> Expression:
    return wide(x.builder, x.cast(torch.float32))
