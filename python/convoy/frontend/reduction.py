# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reductions over dims. In `tcp` a reduced dim has size 1; the reshape to Torch's result shape
drops it if keepdim is false."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend.ordering import position_of_extremum, reversed_order

__all__ = ["norm_over", "variance_over"]


def _dims(x: ir.Value, dims: Any) -> list[int]:
    """Normalizes Torch's dims. None or an empty list is all dims."""
    rank = type_of(x).rank
    if isinstance(dims, int):
        dims = [dims]
    return sorted({dim % rank for dim in dims}) if dims and rank else list(range(rank))


@converts("aten.mean", "aten.mean.dim", "aten.sum", "aten.sum.dim_IntList")
def mean_sum(b: Builder, call: Call) -> ir.Value:
    """Sums of integers and bools are int64 in Torch; the operand is cast first."""
    dims = call.args[1] if ".dim" in call.name else None
    x = b.cast(call.args[0], call.result.dtype)
    op = tcp.ReduceMeanOp if ".mean" in call.name else tcp.ReduceSumOp
    return b.reshape(b.reduce(op, x, _dims(x, dims)), call.result.shape)


@converts("aten.amax", "aten.max", "aten.amin", "aten.min")
def extremum(b: Builder, call: Call) -> ir.Value:
    x = call.args[0]
    dims = call.args[1] if len(call.args) > 1 else None
    largest = call.name in ("aten.amax", "aten.max")
    return b.reshape(_extremum(b, x, _dims(x, dims), largest=largest), call.result.shape)


@converts("aten.max.dim", "aten.min.dim")
def extremum_dim(b: Builder, call: Call) -> Sequence[ir.Value]:
    """The values and their positions."""
    x, dim, _ = call.args
    x = b.reshape(x, type_of(x).shape or (1,))
    largest = call.name == "aten.max.dim"
    values = _extremum(b, x, _dims(x, dim), largest=largest)
    position = position_of_extremum(b, x, dim % type_of(x).rank, largest=largest)
    return [b.reshape(y, call.result.shape) for y in (values, position)]


def _extremum(b: Builder, x: ir.Value, dims: list[int], *, largest: bool) -> ir.Value:
    """The minimum is the maximum in the reversed order. Bools are compared as integers."""
    dtype = type_of(x).dtype
    if dtype == torch.bool:
        return b.cast(_extremum(b, b.cast(x, torch.int32), dims, largest=largest), dtype)
    if largest:
        return b.reduce(tcp.ReduceMaxOp, x, dims)
    return reversed_order(b, b.reduce(tcp.ReduceMaxOp, reversed_order(b, x), dims))


@converts("aten.any", "aten.any.dim", "aten.any.dims", "aten.all", "aten.all.dim", "aten.all.dims")
def any_all(b: Builder, call: Call) -> ir.Value:
    """Whether an element is not zero, or none is."""
    x = call.args[0]
    dims = _dims(x, call.args[1] if ".dim" in call.name else None)
    kind = type_of(x)
    x = b.cast(b.compare("ne", x, b.scalar(0, kind.dtype, kind.rank)), torch.int32)
    y = _extremum(b, x, dims, largest=".any" in call.name)
    # The result for uint8 is uint8.
    return b.reshape(b.cast(y, call.result.dtype), call.result.shape)


@converts("aten.prod", "aten.prod.dim_int")
def product(b: Builder, call: Call) -> ir.Value:
    """Multiplies the halves of a dim until one element is left."""
    x = b.wide(b.cast(call.args[0], call.result.dtype))
    for dim in _dims(x, call.args[1] if ".dim" in call.name else None):
        while (size := type_of(x).shape[dim]) > 1:
            half = size // 2
            y = b.binary(tcp.MulOp, b.slice(x, dim, 0, half), b.slice(x, dim, half, half))
            x = b.concat([y, b.slice(x, dim, size - 1, 1)], dim) if size % 2 else y
    return b.reshape(b.cast(x, call.result.dtype), call.result.shape)


@converts(
    "aten.var",
    "aten.var.dim",
    "aten.var.correction",
    "aten.std",
    "aten.std.dim",
    "aten.std.correction",
)
def variance(b: Builder, call: Call) -> ir.Value:
    x, *rest = call.args
    if ".correction" in call.name or ".dim" in call.name:
        dims, correction, _ = rest
    else:
        dims, correction = None, rest[0]
    y, _ = variance_over(b, b.wide(x), _dims(x, dims), _correction(correction))
    return b.reshape(
        b.cast(b.unary(tcp.SqrtOp, y) if ".std" in call.name else y, call.result.dtype),
        call.result.shape,
    )


@converts("aten.var_mean", "aten.var_mean.dim", "aten.var_mean.correction")
def variance_mean(b: Builder, call: Call) -> Sequence[ir.Value]:
    x, *rest = call.args
    dims, correction = (
        (rest[0], rest[1]) if "." in call.name.removeprefix("aten.") else (None, rest[0])
    )
    both = variance_over(b, b.wide(x), _dims(x, dims), _correction(correction))
    return [
        b.reshape(b.cast(value, kind.dtype), kind.shape)
        for value, kind in zip(both, call.results, strict=True)
    ]


def _correction(given: float | bool | None) -> float:
    """A correction, whose default is 1, as a number; `unbiased=True` is 1. It need not be whole."""
    return 1 if given is None else given if isinstance(given, float) else int(given)


def variance_over(
    b: Builder, x: ir.Value, dims: list[int], correction: float
) -> tuple[ir.Value, ir.Value]:
    """The variance, sum of (x - mean)^2 / (n - correction), and the mean; reduced dims have size 1.

    As in Torch, the divisor is 0 if the correction is n or more: the variance of one element is
    NaN."""
    mean = b.reduce(tcp.ReduceMeanOp, x, dims)
    centered = b.binary(tcp.SubOp, x, mean)
    total = b.reduce(tcp.ReduceSumOp, b.binary(tcp.MulOp, centered, centered), dims)
    count = math.prod(type_of(x).shape[dim] for dim in dims)
    return b.binary_scalar(tcp.DivOp, total, max(0, count - correction)), mean


@converts("aten.linalg_vector_norm", "aten.norm.ScalarOpt_dim")
def vector_norm(b: Builder, call: Call) -> ir.Value:
    x, order, *rest = call.args
    x = b.wide(b.cast(x, call.result.dtype))
    y = norm_over(b, x, _dims(x, rest[0] if rest else None), 2 if order is None else order)
    return b.reshape(b.cast(y, call.result.dtype), call.result.shape)


def norm_over(b: Builder, x: ir.Value, dims: list[int], order: float) -> ir.Value:
    """The vector norm of an order over dims, which have size 1 in the result."""
    if order == 2:
        return b.unary(tcp.SqrtOp, b.reduce(tcp.ReduceSumOp, b.binary(tcp.MulOp, x, x), dims))
    if order == 1:
        return b.reduce(tcp.ReduceSumOp, b.unary(tcp.AbsOp, x), dims)
    if math.isinf(order):
        return _extremum(b, b.unary(tcp.AbsOp, x), dims, largest=order > 0)
    if order == 0:
        kind = type_of(x)
        ones = b.compare("ne", x, b.scalar(0, kind.dtype, kind.rank))
        return b.reduce(tcp.ReduceSumOp, b.cast(ones, kind.dtype), dims)
    powers = b.binary_scalar(tcp.PowOp, b.unary(tcp.AbsOp, x), order)
    return b.binary_scalar(tcp.PowOp, b.reduce(tcp.ReduceSumOp, powers, dims), 1 / order)


@converts("aten.logsumexp")
def logsumexp(b: Builder, call: Call) -> ir.Value:
    """max + log(sum(exp(x - max))), with 0 for an infinite max, because the difference would be
    NaN."""
    x = b.wide(b.cast(call.args[0], call.result.dtype))
    dims = _dims(x, call.args[1])
    top = b.reduce(tcp.ReduceMaxOp, x, dims)
    kind = type_of(top)
    infinite = b.compare("eq", b.unary(tcp.AbsOp, top), b.scalar(math.inf, kind.dtype, kind.rank))
    top = b.select(infinite, b.scalar(0, kind.dtype, kind.rank), top)
    total = b.reduce(tcp.ReduceSumOp, b.unary(tcp.ExpOp, b.binary(tcp.SubOp, x, top)), dims)
    return b.reshape(
        b.cast(b.binary(tcp.AddOp, b.unary(tcp.LogOp, total), top), call.result.dtype),
        call.result.shape,
    )
