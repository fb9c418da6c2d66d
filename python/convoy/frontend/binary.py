"""Pointwise ops of two tensors, or of a tensor and a number: promotion as Torch does it (the result's dtype decides for arithmetic,
`torch.result_type` for comparisons), `alpha`, broadcasting."""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch_mlir import ir

from convoy.frontend._builder import Builder, Unsupported, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import dtype_name

__all__: list[str] = []

Operand: TypeAlias = "ir.Value | float | int | bool"


def _operand(b: Builder, value: Operand, dtype: torch.dtype) -> ir.Value:
    """A tensor in `dtype`; a number becomes a scalar constant of rank 0, which broadcasting then raises."""
    if isinstance(value, ir.Value):
        return b.cast(value, dtype)
    return b.scalar(value, dtype, 0)


def _apply(b: Builder, name: str, x: Operand, y: Operand, dtype: torch.dtype) -> ir.Value:
    """`x name y` in `dtype`. A number is made at the other's rank, so that no reshape of a constant is needed."""
    rank = max(type_of(value).rank for value in (x, y) if isinstance(value, ir.Value))
    left, right = (b.cast(value, dtype) if isinstance(value, ir.Value) else b.scalar(value, dtype, rank) for value in (x, y))
    return b.binary(name, left, right)


def _arithmetic_dtype(call: Call) -> torch.dtype:
    if call.result.dtype == torch.bool:
        msg = "expected numbers, got bool tensors"
        raise Unsupported(msg)
    return call.result.dtype


@converts("aten.add.Tensor", "aten.add.Scalar", "aten.sub.Tensor", "aten.sub.Scalar")
def add_sub(b: Builder, call: Call) -> ir.Value:
    """x + alpha * y, x - alpha * y."""
    dtype = _arithmetic_dtype(call)
    x, y, alpha = call.args
    return _apply(b, "add" if ".add." in call.name else "sub", x, _scaled(b, y, alpha, dtype), dtype)


@converts("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(b: Builder, call: Call) -> ir.Value:
    """y - alpha * x."""
    dtype = _arithmetic_dtype(call)
    x, y, alpha = call.args
    return _apply(b, "sub", y, _scaled(b, x, alpha, dtype), dtype)


def _scaled(b: Builder, value: Operand, alpha: float | int, dtype: torch.dtype) -> Operand:
    if alpha == 1:
        return value
    return b.binary_scalar("mul", b.cast(value, dtype), alpha) if isinstance(value, ir.Value) else value * alpha


@converts("aten.mul.Tensor", "aten.mul.Scalar")
def mul(b: Builder, call: Call) -> ir.Value:
    x, y = call.args
    if call.result.dtype == torch.bool:
        return _logical(b, "and", x, y)
    return _apply(b, "mul", x, y, call.result.dtype)


@converts("aten.maximum", "aten.minimum")
def maximum_minimum(b: Builder, call: Call) -> ir.Value:
    x, y = call.args
    return _apply(b, "maximum" if ".max" in call.name else "minimum", x, y, _arithmetic_dtype(call))


@converts("aten.div.Tensor", "aten.div.Scalar")
def div(b: Builder, call: Call) -> ir.Value:
    """True division: integers give a floating-point result, so they are cast first."""
    x, y = call.args
    return _apply(b, "div", x, y, call.result.dtype)


@converts("aten.div.Tensor_mode", "aten.div.Scalar_mode", "aten.floor_divide", "aten.floor_divide.Scalar")
def div_rounded(b: Builder, call: Call) -> ir.Value:
    x, y, mode = call.args if len(call.args) == 3 else (*call.args, "floor")
    dtype = call.result.dtype
    if not dtype.is_floating_point:
        msg = f"expected a floating-point result of a rounded division, got {dtype_name(dtype)}"
        raise Unsupported(msg)
    quotient = _apply(b, "div", x, y, dtype)
    if mode is None:
        return quotient
    if mode == "floor":
        return b.unary("floor", quotient)
    below = b.compare("lt", quotient, b.scalar(0, dtype, type_of(quotient).rank))
    return b.select(below, b.unary("ceil", quotient), b.unary("floor", quotient))


@converts("aten.remainder.Tensor", "aten.remainder.Scalar")
def remainder(b: Builder, call: Call) -> ir.Value:
    """x - floor(x / y) * y."""
    x, y = call.args
    dtype = call.result.dtype
    if not dtype.is_floating_point:
        msg = f"expected a floating-point result, got {dtype_name(dtype)}"
        raise Unsupported(msg)
    floor = b.unary("floor", _apply(b, "div", x, y, dtype))
    return _apply(b, "sub", x, _apply(b, "mul", floor, y, dtype), dtype)


@converts("aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(b: Builder, call: Call) -> ir.Value:
    x, y = call.args
    return _apply(b, "pow", x, y, call.result.dtype)


@converts("aten.pow.Tensor_Scalar")
def power_scalar(b: Builder, call: Call) -> ir.Value:
    """Torch computes these exponents without pow, and so do we: it is exact for negative bases, and fast."""
    x, exponent = call.args
    x = b.cast(x, call.result.dtype)
    if exponent == 1:
        return x
    if exponent in (2, 3):
        square = b.binary("mul", x, x)
        return square if exponent == 2 else b.binary("mul", square, x)
    if call.result.dtype.is_floating_point:
        simple = {0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}
        if exponent in simple:
            return b.unary(simple[exponent], x)
        if exponent == -2:
            return b.unary("reciprocal", b.binary("mul", x, x))
    return b.binary_scalar("pow", x, exponent)


_PREDICATES = ("eq", "ne", "lt", "le", "gt", "ge")


@converts(*(f"aten.{predicate}.{form}" for predicate in _PREDICATES for form in ("Tensor", "Scalar")))
def compare(b: Builder, call: Call) -> ir.Value:
    x, y = call.args
    dtype = torch.result_type(_dummy(x), _dummy(y))
    return b.compare(call.name.split(".")[1], _operand(b, x, dtype), _operand(b, y, dtype))


def _dummy(value: Operand) -> torch.Tensor | float | int | bool:
    """Something of the same dtype and rank for torch.result_type, which ranks tensors with dims over those without."""
    if not isinstance(value, ir.Value):
        return value
    kind = type_of(value)
    return torch.empty((0,) * kind.rank, dtype=kind.dtype)


@converts(
    *(f"aten.logical_{name}" for name in ("and", "or", "xor")),
    *(f"aten.bitwise_{name}.{form}" for name in ("and", "or", "xor") for form in ("Tensor", "Scalar")),
)
def logical(b: Builder, call: Call) -> ir.Value:
    x, y = call.args
    if call.result.dtype != torch.bool:
        msg = f"expected bool tensors, got {dtype_name(call.result.dtype)}"
        raise Unsupported(msg)
    return _logical(b, call.name.split(".")[1].split("_")[1], x, y)


def _logical(b: Builder, name: str, x: Operand, y: Operand) -> ir.Value:
    """By select: a and y = a ? y : a; a or y = a ? a : y; xor is `ne`."""
    left, right = _truth(b, x), _truth(b, y)
    if name == "xor":
        return b.compare("ne", left, right)
    return b.select(left, right, left) if name == "and" else b.select(left, left, right)


def _truth(b: Builder, value: Operand) -> ir.Value:
    if not isinstance(value, ir.Value):
        return b.scalar(bool(value), torch.bool, 0)
    kind = type_of(value)
    return value if kind.dtype == torch.bool else b.compare("ne", value, b.scalar(0, kind.dtype, kind.rank))


@converts("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def where(b: Builder, call: Call) -> ir.Value:
    condition, x, y = call.args
    dtype = call.result.dtype
    return b.select(_truth(b, condition), _operand(b, x, dtype), _operand(b, y, dtype))


@converts("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(b: Builder, call: Call) -> ir.Value:
    x, mask, value = call.args
    return b.select(mask, _operand(b, value, call.result.dtype), x)


@converts("aten.lerp.Scalar", "aten.lerp.Tensor")
def lerp(b: Builder, call: Call) -> ir.Value:
    """start + weight * (end - start)."""
    start, end, weight = call.args
    dtype = call.result.dtype
    step = _apply(b, "mul", _apply(b, "sub", end, start, dtype), weight, dtype)
    return b.binary("add", start, step)


@converts("aten.addcmul", "aten.addcdiv")
def addc(b: Builder, call: Call) -> ir.Value:
    """x + value * (y op z)."""
    x, y, z, value = call.args
    dtype = _arithmetic_dtype(call)
    inner = _apply(b, "mul" if call.name == "aten.addcmul" else "div", y, z, dtype)
    return _apply(b, "add", x, _scaled(b, inner, value, dtype), dtype)
