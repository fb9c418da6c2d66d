# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Running totals and extrema along a dim. The number of steps is the logarithm of its size; sums of
up to 32 elements are one step."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType
from convoy.frontend.ordering import numbers_along, ordered

__all__ = ["scan_sum"]

#: Elements whose running sums are one step, in which each sum reads all of them.
_MOST_SUMMED = 32


@converts("aten.cumsum", "aten.cumprod")
def running_total(b: Builder, call: Call) -> ir.Value:
    """The sums are those of a tree, so their error grows with the logarithm of the length."""
    x, dim, _ = call.args
    x = b.wide(b.cast(x, call.result.dtype))
    if type_of(x).rank:
        dim %= type_of(x).rank
        if call.name == "aten.cumprod":
            floating = call.result.dtype.is_floating_point
            x = (_scan_blocks if floating else _scan)(b, x, dim, tcp.MulOp, 1.0)
        elif call.result.dtype.is_floating_point:
            x = _float_sums(b, x, dim)
        else:
            x = scan_sum(b, x, dim)
    return b.cast(x, call.result.dtype)


def scan_sum(b: Builder, x: ir.Value, dim: int) -> ir.Value:
    """The sum of each integer of `dim` and those before it, in the dtype of `x`: the sums of blocks
    of elements, to which the sum of the blocks before is added."""
    x, shape = _blocks(b, x, dim)
    x = _sums_up_to(b, x, dim + 1)
    count, width = type_of(x).shape[dim : dim + 2]
    if count > 1:
        totals = b.slice(x, dim + 1, width - 1, 1)
        before = _shifted(b, scan_sum(b, totals, dim), dim, 1, 0.0)
        x = b.binary(tcp.AddOp, x, before)
    return _without_blocks(b, x, dim, shape)


def _float_sums(b: Builder, x: ir.Value, dim: int) -> ir.Value:
    """Like `scan_sum`, of floats. All sums of a block are the same tree, with zeros for the
    elements after the last one, so that they have the properties of `_scan_blocks`."""
    x, shape = _blocks(b, x, dim)
    x = _without_blocks(b, _sums_up_to(b, x, dim + 1), dim, shape)
    return _scan_blocks(b, x, dim, tcp.AddOp, 0.0, first=_MOST_SUMMED)


def _blocks(b: Builder, x: ir.Value, dim: int) -> tuple[ir.Value, tuple[int, ...]]:
    """Splits `dim` into blocks, the last one of which ends with zeros. Returns the old shape,
    too."""
    shape = type_of(x).shape
    width = max(1, min(_MOST_SUMMED, shape[dim]))
    count = -(-shape[dim] // width)
    x = _padded(b, x, dim, 0, count * width - shape[dim], 0.0)
    return b.reshape(x, (*shape[:dim], count, width, *shape[dim + 1 :])), shape


def _without_blocks(b: Builder, x: ir.Value, dim: int, shape: tuple[int, ...]) -> ir.Value:
    """The inverse of `_blocks`."""
    count, width = type_of(x).shape[dim : dim + 2]
    x = b.reshape(x, (*shape[:dim], count * width, *shape[dim + 1 :]))
    return b.slice(x, dim, 0, shape[dim])


def _sums_up_to(b: Builder, x: ir.Value, dim: int) -> ir.Value:
    """The sum of each element of `dim` and those before it, in one step."""
    kind = type_of(x)
    size, rank = kind.shape[dim], kind.rank + 1
    # Sums are in `dim`, the elements that they add in the dim after it.
    elements = b.reshape(x, (*kind.shape[:dim], 1, *kind.shape[dim:]))
    added = b.compare(
        "le", numbers_along(b, size, rank, dim + 1), numbers_along(b, size, rank, dim)
    )
    zero = b.scalar(0, kind.dtype, rank)
    total = b.reduce(tcp.ReduceSumOp, b.select(added, elements, zero), [dim + 1])
    return b.reshape(total, kind.shape)


def _scan_blocks(
    b: Builder, x: ir.Value, dim: int, op: type[ir.OpView], neutral: float, *, first: int = 1
) -> ir.Value:
    """Joins blocks of 1, 2, 4, ... elements: the last total of the first one is added to all of the
    second one. So equal totals are equal after rounding too, as where zeros follow, and sums of
    positive numbers never fall: models compare them, or take exponentials of their differences.
    Blocks of `first` elements have their totals already."""
    shape = type_of(x).shape
    count = shape[dim]
    size = 1 << (count - 1).bit_length() if count else 0
    x = _padded(b, x, dim, 0, size - count, neutral)
    step = first
    while step < count:
        x = b.reshape(x, (*shape[:dim], size // step // 2, 2 * step, *shape[dim + 1 :]))
        last = b.slice(x, dim + 1, step - 1, 1)
        kind = type_of(last)
        last = b.broadcast(last, (*kind.shape[: dim + 1], step, *kind.shape[dim + 2 :]))
        x = b.binary(op, x, _padded(b, last, dim + 1, step, 0, neutral))
        step *= 2
    x = b.reshape(x, (*shape[:dim], size, *shape[dim + 1 :]))
    return b.slice(x, dim, 0, count)


def _padded(b: Builder, x: ir.Value, dim: int, low: int, high: int, value: float) -> ir.Value:
    kind = type_of(x)
    sides = [[side if each == dim else 0 for each in range(kind.rank)] for side in (low, high)]
    if not low and not high:
        return x
    shape = (*kind.shape[:dim], low + kind.shape[dim] + high, *kind.shape[dim + 1 :])
    return b.emit(
        tcp.PadOp,
        TensorType(shape, kind.dtype),
        x,
        low=sides[0],
        high=sides[1],
        interior=[0] * kind.rank,
        value=value,
    )


def _scan(b: Builder, x: ir.Value, dim: int, op: type[ir.OpView], neutral: float) -> ir.Value:
    """Adds elements 1, 2, 4, ... places before."""
    step = 1
    while step < type_of(x).shape[dim]:
        x = b.binary(op, x, _shifted(b, x, dim, step, neutral))
        step *= 2
    return x


def _shifted(b: Builder, x: ir.Value, dim: int, step: int, start: float) -> ir.Value:
    """The element `step` places before each element; `start` for the first ones."""
    return _padded(b, x, dim, step, -step, start)


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
