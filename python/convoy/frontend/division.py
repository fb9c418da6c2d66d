# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Quotients and remainders of two tensors, or of a tensor and a number, with the rounding, the
signs and the infinities of PyTorch."""

from __future__ import annotations

import math

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of, wrapped_number
from convoy.frontend._expression import Expression
from convoy.frontend._registry import Call, converts
from convoy.frontend.binary import Operand, logical_of, operand_in, promoted
from convoy.frontend.elementary import operands
from convoy.frontend.pointwise import exact_fmod, rest_of_division


@converts("aten.div.Tensor", "aten.div.Scalar")
def div(b: Builder, call: Call) -> ir.Value:
    """True division: integers give a floating-point result, so they are cast first."""
    x, y = call.args
    return promoted(b, tcp.DivOp, x, y, call.result.dtype)


@converts(
    "aten.div.Tensor_mode", "aten.div.Scalar_mode", "aten.floor_divide", "aten.floor_divide.Scalar"
)
def div_rounded(b: Builder, call: Call) -> ir.Value:
    x, y, mode = call.args if len(call.args) == 3 else (*call.args, "floor")
    dtype = call.result.dtype
    if not dtype.is_floating_point:
        quotient, rest, y = _divided(b, x, y, dtype)
        if mode != "floor":
            return quotient
        one = b.scalar(1, dtype, type_of(quotient).rank)
        below = b.binary(tcp.SubOp, quotient, one)
        return b.select(_has_other_sign(b, rest, y), below, quotient)
    # PyTorch divides by the number in float32, not rounded to float16 or bfloat16.
    divisor = dtype if isinstance(y, ir.Value) else torch.promote_types(dtype, torch.float32)
    if mode == "floor":
        x, y = _in(b, x, dtype), _in(b, y, divisor)
        wide = _QUOTIENT[dtype if isinstance(y, ir.Value) or y == _in(b, y, dtype) else divisor]
        if dtype == torch.float64:
            quotient = _floor_quotient(*operands(b, call))[0].value
        else:
            quotient = b.unary(tcp.FloorOp, promoted(b, tcp.DivOp, x, y, wide))
        quotient = _where_infinite(b, x, y, quotient, (0.0, -1.0), wide)
        return b.cast(_where_dividend_infinite(b, x, y, quotient), dtype)
    if mode is None:
        return promoted(b, tcp.DivOp, x, y, dtype)
    quotient = promoted(b, tcp.DivOp, _in(b, x, dtype), y, divisor)
    below = b.compare("lt", quotient, b.scalar(0, divisor, type_of(quotient).rank))
    truncated = b.select(below, b.unary(tcp.CeilOp, quotient), b.unary(tcp.FloorOp, quotient))
    return b.cast(truncated, dtype)


def _floor_quotient(x: Expression, y: Expression) -> tuple[Expression, Expression]:
    """floor(x / y) of float64 numbers, and the remainder. No type is wide enough for the quotient,
    which may round up to an integer: then the rest does not have the sign of y."""
    quotient = (x / y).floor()
    rest = rest_of_division(x, y, quotient)
    is_above = ((rest < 0.0) & (y > 0.0)) | ((rest > 0.0) & (y < 0.0))
    remainder = rest.replaced(is_above, rest + y).replaced(rest.is_nan(), x - quotient * y)
    return quotient.replaced(is_above, quotient - 1.0), remainder


# Wide enough that a quotient never rounds up to an integer, as 1 // 0.1 is 9, nor to zero, as the
# floor of a small negative quotient is -1. float32 has no more exponents than bfloat16.
_QUOTIENT = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.float64: torch.float64,
}


def _in(b: Builder, value: Operand, dtype: torch.dtype) -> Operand:
    """An operand rounded to `dtype`."""
    return b.cast(value, dtype) if isinstance(value, ir.Value) else wrapped_number(value, dtype)


@converts("aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor")
def remainder(b: Builder, call: Call) -> ir.Value:
    """x - floor(x / y) * y. Floats have the exact remainder; in float64 for quotients below
    2^22."""
    dtype = call.result.dtype
    if not dtype.is_floating_point:
        _, rest, divisor = _divided(b, call.args[0], call.args[1], dtype)
        shifted = b.binary(tcp.AddOp, rest, divisor)
        return b.select(_has_other_sign(b, rest, divisor), shifted, rest)
    if dtype != torch.float64:
        dividend, by = operands(b, call)
        exact = exact_fmod(dividend, by)
        other = (exact < 0.0).differs(by < 0.0)
        return exact.replaced(exact.differs(0.0) & other, exact + by).cast(dtype)
    rest = _floor_quotient(*operands(b, call))[1].value
    x, y = (_in(b, value, dtype) for value in call.args)
    return _where_infinite(b, x, y, rest, (x, y), dtype)


@converts("aten.fmod.Tensor", "aten.fmod.Scalar")
def fmod(b: Builder, call: Call) -> ir.Value:
    """x - trunc(x / y) * y, exactly; the sign is that of x."""
    dtype = call.result.dtype
    if dtype == torch.float64:
        msg = "expected integers or a float type of at most 32 bits, got float64"
        raise Unsupported(msg)
    if dtype.is_floating_point:
        return exact_fmod(*operands(b, call)).cast(dtype)
    return _divided(b, call.args[0], call.args[1], dtype)[1]


def _divided(
    b: Builder, x: Operand, y: Operand, dtype: torch.dtype
) -> tuple[ir.Value, ir.Value, ir.Value]:
    """The quotient of integers rounded toward zero, the remainder, and the divisor."""
    if dtype == torch.bool:
        msg = "expected integers to divide, got bools"
        raise Unsupported(msg)
    rank = max(type_of(each).rank for each in (x, y) if isinstance(each, ir.Value))
    x, y = (operand_in(b, each, dtype, rank) for each in (x, y))
    quotient = b.binary(tcp.DivOp, x, y)
    return quotient, b.binary(tcp.SubOp, x, b.binary(tcp.MulOp, quotient, y)), y


def _has_other_sign(b: Builder, rest: ir.Value, y: ir.Value) -> ir.Value:
    """Whether a remainder is not zero, and one of it and the divisor is negative: then the quotient
    was rounded up."""
    kind = type_of(rest)
    zero = b.scalar(0, kind.dtype, kind.rank)
    other = b.compare("ne", b.compare("lt", rest, zero), b.compare("lt", y, zero))
    return logical_of(b, "and", b.compare("ne", rest, zero), other)


def _where_infinite(
    b: Builder,
    x: Operand,
    y: Operand,
    finite: ir.Value,
    infinite: tuple[Operand, Operand],
    dtype: torch.dtype,
) -> ir.Value:
    """`finite`, except where x is finite and y is infinite: there the first of `infinite`, or the
    second where the signs of x and y differ. A zero x counts as having the sign of y.
    """
    if not isinstance(y, ir.Value) and not math.isinf(y):
        return finite
    rank = type_of(finite).rank
    x, y, same, other = (
        b.cast(each, dtype) if isinstance(each, ir.Value) else b.scalar(each, dtype, rank)
        for each in (x, y, *infinite)
    )
    chosen = b.select(
        b.compare("lt", b.binary(tcp.MulOp, x, y), b.scalar(0, dtype, rank)), other, same
    )
    chosen = b.select(_is_finite(b, x), chosen, finite)
    return b.select(_is_finite(b, y), finite, b.select(b.compare("eq", y, y), chosen, finite))


def _where_dividend_infinite(b: Builder, x: Operand, y: Operand, quotient: ir.Value) -> ir.Value:
    """`quotient`, except that an infinite x divided by a nonzero number is NaN: Torch subtracts the
    remainder, which is NaN."""
    kind = type_of(quotient)
    nan, zero = (b.scalar(value, kind.dtype, kind.rank) for value in (math.nan, 0))
    if isinstance(x, ir.Value):
        undefined = b.select(_is_finite(b, b.cast(x, kind.dtype)), quotient, nan)
    elif math.isfinite(x):
        return quotient
    else:
        undefined = nan
    if isinstance(y, ir.Value):
        return b.select(b.compare("eq", b.cast(y, kind.dtype), zero), quotient, undefined)
    return undefined if y else quotient


def _is_finite(b: Builder, x: ir.Value) -> ir.Value:
    kind = type_of(x)
    return b.compare("lt", b.unary(tcp.AbsOp, x), b.scalar(math.inf, kind.dtype, kind.rank))
