# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Pointwise ops of two tensors, or of a tensor and a number, with Torch's type promotion (to the
result's dtype for arithmetic, by `torch.result_type` for comparisons), `alpha` and broadcasting.
`division` has those with a quotient."""

from __future__ import annotations

import math
from typing import TypeAlias

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of, wrapped_number
from convoy.frontend._registry import Call, converts

__all__ = ["Operand", "logical_of", "operand_in", "promoted"]

Operand: TypeAlias = "ir.Value | float | int | bool"


def operand_in(b: Builder, value: Operand, dtype: torch.dtype, rank: int = 0) -> ir.Value:
    """A tensor in `dtype`. A number becomes a scalar constant of `rank`, which broadcasting
    expands."""
    if isinstance(value, ir.Value):
        return b.cast(value, dtype)
    return b.scalar(wrapped_number(value, dtype), dtype, rank)


def promoted(
    b: Builder, op: type[ir.OpView], x: Operand, y: Operand, dtype: torch.dtype
) -> ir.Value:
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
    return promoted(
        b, tcp.AddOp if ".add." in call.name else tcp.SubOp, x, _scaled(b, y, alpha, dtype), dtype
    )


@converts("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(b: Builder, call: Call) -> ir.Value:
    """y - alpha * x."""
    dtype = _arithmetic_dtype(call)
    x, y, alpha = call.args
    return promoted(b, tcp.SubOp, y, _scaled(b, x, alpha, dtype), dtype)


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
    return promoted(b, tcp.MulOp, x, y, call.result.dtype)


@converts("aten.maximum", "aten.minimum")
def maximum_minimum(b: Builder, call: Call) -> ir.Value:
    """The larger of two bools is `or`, the smaller one `and`."""
    x, y = call.args
    op = tcp.MaximumOp if ".max" in call.name else tcp.MinimumOp
    return promoted(b, op, x, y, call.result.dtype)


@converts("aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(b: Builder, call: Call) -> ir.Value:
    x, y = call.args
    return promoted(b, tcp.PowOp, x, y, call.result.dtype)


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
    return b.compare(call.name.split(".")[1], operand_in(b, x, dtype), operand_in(b, y, dtype))


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
        return operand_in(b, value, dtype)

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
    step = promoted(b, tcp.MulOp, apart, weight, dtype)
    return b.cast(b.binary(tcp.AddOp, base, step), call.result.dtype)


@converts("aten.addcmul", "aten.addcdiv")
def addc(b: Builder, call: Call) -> ir.Value:
    """x + value * (y op z)."""
    x, y, z, value = call.args
    result = _arithmetic_dtype(call)
    x, y, z = (b.wide(b.cast(operand, result)) for operand in (x, y, z))
    dtype = type_of(x).dtype
    inner = b.binary(tcp.MulOp if call.name == "aten.addcmul" else tcp.DivOp, y, z)
    return b.cast(promoted(b, tcp.AddOp, x, _scaled(b, inner, value, dtype), dtype), result)
