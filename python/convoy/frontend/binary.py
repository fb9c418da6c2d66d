# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Pointwise ops of two tensors, or of a tensor and a number, with Torch's type promotion (to the
result's dtype for arithmetic, by `torch.result_type` for comparisons), `alpha` and broadcasting."""

from __future__ import annotations

import math
from typing import TypeAlias

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of, wrapped_number
from convoy.frontend._expression import Expression
from convoy.frontend._registry import Call, converts
from convoy.frontend.elementary import operands
from convoy.frontend.pointwise import exact_fmod, rest_of_division

__all__ = ["logical_of"]

Operand: TypeAlias = "ir.Value | float | int | bool"


def _operand(b: Builder, value: Operand, dtype: torch.dtype, rank: int = 0) -> ir.Value:
    """A tensor in `dtype`. A number becomes a scalar constant of `rank`, which broadcasting
    expands."""
    if isinstance(value, ir.Value):
        return b.cast(value, dtype)
    return b.scalar(wrapped_number(value, dtype), dtype, rank)


def _apply(b: Builder, op: type[ir.OpView], x: Operand, y: Operand, dtype: torch.dtype) -> ir.Value:
    """`x op y` in `dtype`. A number becomes a constant of the other operand's rank, which avoids a
    reshape.

    PyTorch keeps the number of an operation on float16 or bfloat16 in float32, which makes a
    difference if the smaller type cannot represent it."""
    numbers = [value for value in (x, y) if not isinstance(value, ir.Value)]
    compute = torch.float32 if any(_is_lost(number, dtype) for number in numbers) else dtype
    rank = max(type_of(value).rank for value in (x, y) if isinstance(value, ir.Value))
    left, right = (
        b.cast(b.cast(value, dtype), compute)
        if isinstance(value, ir.Value)
        else b.scalar(wrapped_number(value, compute), compute, rank)
        for value in (x, y)
    )
    return b.cast(b.binary(op, left, right), dtype)


def _is_lost(number: float | int | bool, dtype: torch.dtype) -> bool:
    """Whether a finite number overflows a small float type, or loses precision by underflow."""
    if dtype not in (torch.float16, torch.bfloat16) or not math.isfinite(number):
        return False
    return abs(wrapped_number(number, dtype) - number) > torch.finfo(dtype).eps * abs(number)


def _arithmetic_dtype(call: Call) -> torch.dtype:
    if call.result.dtype == torch.bool:
        msg = "expected numbers, got bool tensors"
        raise Unsupported(msg)
    return call.result.dtype


@converts("aten.add.Tensor", "aten.add.Scalar", "aten.sub.Tensor", "aten.sub.Scalar")
def add_sub(b: Builder, call: Call) -> ir.Value:
    """x + alpha * y, x - alpha * y. The sum of bools is `or`, of which the second operand has no
    effect if alpha is 0."""
    x, y, alpha = call.args
    if ".add." in call.name and call.result.dtype == torch.bool:
        return logical_of(b, "or", x, logical_of(b, "and", y, alpha) if alpha != 1 else y)
    dtype = _arithmetic_dtype(call)
    return _apply(
        b, tcp.AddOp if ".add." in call.name else tcp.SubOp, x, _scaled(b, y, alpha, dtype), dtype
    )


@converts("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(b: Builder, call: Call) -> ir.Value:
    """y - alpha * x."""
    dtype = _arithmetic_dtype(call)
    x, y, alpha = call.args
    return _apply(b, tcp.SubOp, y, _scaled(b, x, alpha, dtype), dtype)


def _scaled(b: Builder, value: Operand, alpha: float | int, dtype: torch.dtype) -> Operand:
    if alpha == 1:
        return value
    return (
        b.binary_scalar(tcp.MulOp, b.cast(value, dtype), alpha)
        if isinstance(value, ir.Value)
        else value * alpha
    )


@converts("aten.mul.Tensor", "aten.mul.Scalar")
def mul(b: Builder, call: Call) -> ir.Value:
    x, y = call.args
    if call.result.dtype == torch.bool:
        return logical_of(b, "and", x, y)
    return _apply(b, tcp.MulOp, x, y, call.result.dtype)


@converts("aten.maximum", "aten.minimum")
def maximum_minimum(b: Builder, call: Call) -> ir.Value:
    """The larger of two bools is `or`, the smaller one `and`."""
    x, y = call.args
    op = tcp.MaximumOp if ".max" in call.name else tcp.MinimumOp
    return _apply(b, op, x, y, call.result.dtype)


@converts("aten.div.Tensor", "aten.div.Scalar")
def div(b: Builder, call: Call) -> ir.Value:
    """True division: integers give a floating-point result, so they are cast first."""
    x, y = call.args
    return _apply(b, tcp.DivOp, x, y, call.result.dtype)


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
            quotient = b.unary(tcp.FloorOp, _apply(b, tcp.DivOp, x, y, wide))
        quotient = _where_infinite(b, x, y, quotient, (0.0, -1.0), wide)
        return b.cast(_where_dividend_infinite(b, x, y, quotient), dtype)
    if mode is None:
        return _apply(b, tcp.DivOp, x, y, dtype)
    quotient = _apply(b, tcp.DivOp, _in(b, x, dtype), y, divisor)
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


# Wide enough that a quotient never rounds up to an integer: 1 // 0.1 is 9.
_QUOTIENT = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
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
    x, y = (_operand(b, each, dtype, rank) for each in (x, y))
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


@converts("aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(b: Builder, call: Call) -> ir.Value:
    x, y = call.args
    return _apply(b, tcp.PowOp, x, y, call.result.dtype)


@converts("aten.pow.Tensor_Scalar")
def power_scalar(b: Builder, call: Call) -> ir.Value:
    """Special exponents without pow, as in Torch, which is exact for negative bases and fast."""
    x, exponent = call.args
    x = b.cast(x, call.result.dtype)
    if exponent == 1:
        return x
    if exponent in (2, 3):
        square = b.binary(tcp.MulOp, x, x)
        return square if exponent == 2 else b.binary(tcp.MulOp, square, x)
    if call.result.dtype.is_floating_point:
        simple = {0.5: tcp.SqrtOp, -0.5: tcp.RsqrtOp, -1: tcp.ReciprocalOp}
        if exponent in simple:
            return b.unary(simple[exponent], x)
        if exponent == -2:
            return b.unary(tcp.ReciprocalOp, b.binary(tcp.MulOp, x, x))
    return b.binary_scalar(tcp.PowOp, x, exponent)


_PREDICATES = ("eq", "ne", "lt", "le", "gt", "ge")


@converts(
    *(f"aten.{predicate}.{form}" for predicate in _PREDICATES for form in ("Tensor", "Scalar"))
)
def compare(b: Builder, call: Call) -> ir.Value:
    x, y = call.args
    dtype = torch.result_type(_dummy(x), _dummy(y))
    return b.compare(call.name.split(".")[1], _operand(b, x, dtype), _operand(b, y, dtype))


def _dummy(value: Operand) -> torch.Tensor | float | int | bool:
    """A value of the same dtype and rank for torch.result_type, in which tensors with dims take
    precedence over those without."""
    if not isinstance(value, ir.Value):
        return value
    kind = type_of(value)
    return torch.empty((0,) * kind.rank, dtype=kind.dtype)


@converts(*(f"aten.logical_{name}" for name in ("and", "or", "xor")))
def logical(b: Builder, call: Call) -> ir.Value:
    x, y = call.args
    return logical_of(b, call.name.split(".")[1].split("_")[1], x, y)


def logical_of(b: Builder, name: str, x: Operand, y: Operand) -> ir.Value:
    """An op of the truth values: x and y is `x ? y : x`, x or y is `x ? x : y`, xor is `ne`.

    Args:
        b: The builder.
        name: "and", "or" or "xor".
        x: A tensor or a number, which is true if it is not 0.
        y: Likewise; at least one of both is a tensor.

    Returns:
        A bool tensor.
    """
    left, right = _truth(b, x), _truth(b, y)
    if name == "xor":
        return b.compare("ne", left, right)
    return b.select(left, right, left) if name == "and" else b.select(left, left, right)


def _truth(b: Builder, value: Operand) -> ir.Value:
    if not isinstance(value, ir.Value):
        return b.scalar(bool(value), torch.bool, 0)
    kind = type_of(value)
    return (
        value
        if kind.dtype == torch.bool
        else b.compare("ne", value, b.scalar(0, kind.dtype, kind.rank))
    )


@converts("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def where(b: Builder, call: Call) -> ir.Value:
    condition, x, y = call.args
    dtype = call.result.dtype

    def operand(value: Operand) -> ir.Value:
        """Unlike arithmetic, `where` rejects an integer that is out of range."""
        if not isinstance(value, ir.Value) and not dtype.is_floating_point:
            return b.scalar(value, dtype, 0)
        return _operand(b, value, dtype)

    return b.select(_truth(b, condition), operand(x), operand(y))


@converts("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(b: Builder, call: Call) -> ir.Value:
    x, mask, value = call.args
    dtype = call.result.dtype
    return b.select(
        mask, b.cast(value, dtype) if isinstance(value, ir.Value) else b.scalar(value, dtype, 0), x
    )


@converts("aten.lerp.Scalar", "aten.lerp.Tensor")
def lerp(b: Builder, call: Call) -> ir.Value:
    """start + weight * (end - start), or end + (weight - 1) * (end - start) for a weight of at
    least 0.5. They differ if a bound is infinite."""
    start, end, weight = call.args
    start, end = b.wide(start), b.wide(end)
    dtype = type_of(start).dtype
    apart = b.binary(tcp.SubOp, end, start)
    if isinstance(weight, ir.Value):
        weight = b.cast(weight, dtype)
        half = b.scalar(0.5, dtype, type_of(weight).rank)
        is_small = b.compare("lt", b.unary(tcp.AbsOp, weight), half)
        base = b.select(is_small, start, end)
        weight = b.select(is_small, weight, b.binary_scalar(tcp.AddOp, weight, -1))
    else:
        base, weight = (start, weight) if abs(weight) < 0.5 else (end, weight - 1)
    step = _apply(b, tcp.MulOp, apart, weight, dtype)
    return b.cast(b.binary(tcp.AddOp, base, step), call.result.dtype)


@converts("aten.addcmul", "aten.addcdiv")
def addc(b: Builder, call: Call) -> ir.Value:
    """x + value * (y op z)."""
    x, y, z, value = call.args
    result = _arithmetic_dtype(call)
    x, y, z = (b.wide(b.cast(operand, result)) for operand in (x, y, z))
    dtype = type_of(x).dtype
    inner = b.binary(tcp.MulOp if call.name == "aten.addcmul" else tcp.DivOp, y, z)
    return b.cast(_apply(b, tcp.AddOp, x, _scaled(b, inner, value, dtype), dtype), result)
