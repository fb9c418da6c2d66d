# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Elements at a place in the order of a dim, and the most frequent element."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType
from convoy.frontend.ordering import first_in_order, numbers_along, ordered, reversed_order

__all__: list[str] = []


@converts("aten.kthvalue")
def kthvalue(b: Builder, call: Call) -> Sequence[ir.Value]:
    """The k-th smallest element, counted from 1, and its position."""
    x, k, dim, _ = call.args
    x = b.reshape(x, type_of(x).shape or (1,))
    dim %= type_of(x).rank
    order = first_in_order(b, x, dim, k, descending=False)
    return _at(b, call, x, dim, b.slice(order, dim, k - 1, 1))


@converts("aten.median", "aten.nanmedian")
def median(b: Builder, call: Call) -> ir.Value:
    """The median of all elements."""
    x = call.args[0]
    x = b.reshape(x, (math.prod(type_of(x).shape),))
    position = _median(b, x, 0, skips_nan="nan" in call.name)
    y = b.emit(tcp.GatherOp, TensorType((1,), type_of(x).dtype), x, position, dim=0)
    return b.reshape(y, call.result.shape)


@converts("aten.median.dim", "aten.nanmedian.dim")
def median_dim(b: Builder, call: Call) -> Sequence[ir.Value]:
    """The medians of a dim and their positions."""
    x, dim, _ = call.args
    x = b.reshape(x, type_of(x).shape or (1,))
    dim %= type_of(x).rank
    return _at(b, call, x, dim, _median(b, x, dim, skips_nan="nan" in call.name))


def _median(b: Builder, x: ir.Value, dim: int, *, skips_nan: bool) -> ir.Value:
    """The position of the lower median; of the first NaN if there is one, unless NaN is skipped."""
    kind = type_of(x)
    size = kind.shape[dim]
    order = first_in_order(b, x, dim, size, descending=False)
    if not kind.dtype.is_floating_point:
        return b.slice(order, dim, (size - 1) // 2, 1)
    # NaN is the largest: the numbers are the first `count` elements in order.
    numbers = b.cast(b.compare("eq", x, x), torch.int64)
    count = b.reduce(tcp.ReduceSumOp, numbers, [dim])
    rank, one = kind.rank, b.scalar(1, torch.int64, kind.rank)
    if skips_nan:
        last = b.binary(
            tcp.MaximumOp, b.binary(tcp.SubOp, count, one), b.scalar(0, torch.int64, rank)
        )
        place = b.binary_scalar(tcp.DivOp, last, 2)
    else:
        full = b.compare("eq", count, b.scalar(size, torch.int64, rank))
        place = b.select(full, b.scalar((size - 1) // 2, torch.int64, rank), count)
    return b.emit(tcp.GatherOp, type_of(place), order, place, dim=dim)


@converts("aten.mode")
def mode(b: Builder, call: Call) -> Sequence[ir.Value]:
    """The most frequent element, the smallest of several, and its last position. Counts the equal
    elements of each one, so the work is quadratic in the size of the dim."""
    x, dim, _ = call.args
    x = b.reshape(x, type_of(x).shape or (1,))
    dim %= type_of(x).rank
    keys = ordered(b, x)
    kind = type_of(keys)
    other = b.reshape(keys, (*kind.shape, 1))
    perm = [*range(kind.rank + 1)]
    perm[dim], perm[-1] = perm[-1], perm[dim]
    same = b.compare("eq", other, b.transpose(other, perm))
    counts = b.reduce(tcp.ReduceSumOp, b.cast(same, torch.int64), [dim])
    # The counts are in the last dim; those that they are counts of were in `dim`.
    counts = b.reshape(b.transpose(counts, perm), kind.shape)
    often = b.compare("eq", counts, b.reduce(tcp.ReduceMaxOp, counts, [dim]))
    lowest: float | int = -math.inf
    if not kind.dtype.is_floating_point:
        lowest = torch.iinfo(kind.dtype).min
    reverse = b.select(often, reversed_order(b, keys), b.scalar(lowest, kind.dtype, kind.rank))
    value = reversed_order(b, b.reduce(tcp.ReduceMaxOp, reverse, [dim]))
    numbers = numbers_along(b, kind.shape[dim], kind.rank, dim)
    places = b.select(b.compare("eq", keys, value), numbers, b.scalar(0, torch.int64, kind.rank))
    return _at(b, call, x, dim, b.reduce(tcp.ReduceMaxOp, places, [dim]))


def _at(b: Builder, call: Call, x: ir.Value, dim: int, position: ir.Value) -> Sequence[ir.Value]:
    """The elements at positions, and the positions."""
    kind = TensorType(type_of(position).shape, type_of(x).dtype)
    values = b.emit(tcp.GatherOp, kind, x, position, dim=dim)
    return [b.reshape(values, call.results[0].shape), b.reshape(position, call.results[1].shape)]
