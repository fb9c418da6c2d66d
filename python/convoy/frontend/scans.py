# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Running totals and extrema along a dim. The number of steps of extrema is the logarithm of its
size."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend.ordering import numbers_along, ordered

__all__ = ["scan_sum"]


@converts("aten.cumsum", "aten.cumprod")
def running_total(b: Builder, call: Call) -> ir.Value:
    x, dim, _ = call.args
    x = b.cast(x, call.result.dtype)
    if not type_of(x).rank:
        return x
    op = tcp.CumsumOp if call.name == "aten.cumsum" else tcp.CumprodOp
    return b.unary(op, x, dim=dim % type_of(x).rank)


def scan_sum(b: Builder, x: ir.Value, dim: int) -> ir.Value:
    """The sum of each element of `dim` and those before it, in the dtype of `x`."""
    return b.unary(tcp.CumsumOp, x, dim=dim)


def _shifted(b: Builder, x: ir.Value, dim: int, step: int, start: float) -> ir.Value:
    """The element `step` places before each element; `start` for the first ones."""
    kind = type_of(x)
    low = [step if each == dim else 0 for each in range(kind.rank)]
    return b.emit(
        tcp.PadOp,
        kind,
        x,
        low=low,
        high=[-each for each in low],
        interior=[0] * kind.rank,
        value=start,
    )


@converts("aten.cummax", "aten.cummin")
def running_extremum(b: Builder, call: Call) -> Sequence[ir.Value]:
    """The extremum of the elements up to each one and its position, which is the last of equal
    ones. NaN remains once it occurs. Each step compares two neighboring ranges of elements."""
    x, dim = call.args
    x = b.reshape(x, type_of(x).shape or (1,))
    values = ordered(b, x)
    kind = type_of(values)
    dim %= kind.rank
    largest = call.name == "aten.cummax"
    numbers = numbers_along(b, kind.shape[dim], kind.rank, dim)
    positions = b.broadcast(numbers, kind.shape)
    step = 1
    while step < kind.shape[dim]:
        # The first elements have none before them: the position is -1.
        earlier = _shifted(b, values, dim, step, 0.0)
        before = b.binary_scalar(
            tcp.SubOp, _shifted(b, b.binary_scalar(tcp.AddOp, positions, 1), dim, step, 0.0), 1
        )
        keeps = b.compare("ge" if largest else "le", values, earlier)
        missing = b.compare("lt", before, b.scalar(0, torch.int64, kind.rank))
        keeps = b.select(missing, missing, keeps)
        if kind.dtype.is_floating_point:
            keeps = b.select(
                b.compare("ne", values, values), b.compare("ne", values, values), keeps
            )
        values = b.select(keeps, values, earlier)
        positions = b.select(keeps, positions, before)
        step *= 2
    values = b.cast(values, call.results[0].dtype)
    return [b.reshape(values, call.results[0].shape), b.reshape(positions, call.results[1].shape)]


@converts("aten.logcumsumexp")
def running_logsumexp(b: Builder, call: Call) -> ir.Value:
    """Adds ranges as m + log(exp(x - m) + exp(y - m)), where m is the maximum of both. An infinite
    m is the result, because the differences would be NaN."""
    x, dim = call.args
    shape = type_of(x).shape
    x = b.reshape(b.wide(b.cast(x, call.result.dtype)), shape or (1,))
    kind = type_of(x)
    dim %= kind.rank
    infinity = b.scalar(math.inf, kind.dtype, kind.rank)
    step = 1
    while step < kind.shape[dim]:
        before = _shifted(b, x, dim, step, -math.inf)
        top = b.binary(tcp.MaximumOp, x, before)
        parts = [b.unary(tcp.ExpOp, b.binary(tcp.SubOp, y, top)) for y in (x, before)]
        total = b.unary(tcp.LogOp, b.binary(tcp.AddOp, *parts))
        infinite = b.compare("eq", b.unary(tcp.AbsOp, top), infinity)
        x = b.select(infinite, top, b.binary(tcp.AddOp, total, top))
        step *= 2
    return b.reshape(b.cast(x, call.result.dtype), shape)
