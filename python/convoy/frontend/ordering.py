# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Positions of extreme elements, and sorting."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType

__all__ = ["first_in_order", "numbers_along", "ordered", "position_of_extremum", "reversed_order"]

#: The largest dim of which all pairs of elements are compared, by few kernels.
_MOST_COMPARED = 64


def numbers_along(b: Builder, count: int, rank: int, dim: int) -> ir.Value:
    """0, 1, ..., count - 1 along `dim` of a tensor of `rank`."""
    shape = [1] * rank
    shape[dim] = count
    return b.reshape(b.weight(f"arange_{count}", torch.arange(count)), shape)


def ordered(b: Builder, x: ir.Value) -> ir.Value:
    """Numbers in the order of `x`, for comparisons: int64 for bools and integers."""
    return x if type_of(x).dtype.is_floating_point else b.cast(x, torch.int64)


def reversed_order(b: Builder, x: ir.Value) -> ir.Value:
    """-x for floats; -1 - x for integers, which also has a result for the smallest one."""
    kind = type_of(x)
    if kind.dtype.is_floating_point:
        return b.unary(tcp.NegOp, x)
    return b.binary(tcp.SubOp, b.scalar(-1, kind.dtype, kind.rank), x)


def position_of_extremum(b: Builder, x: ir.Value, dim: int, *, largest: bool) -> ir.Value:
    """The first position of the largest or smallest element of `dim`, which becomes 1. As in
    PyTorch, NaN is both the largest and the smallest."""
    x = ordered(b, x)
    kind = type_of(x)
    key = x if largest else reversed_order(b, x)
    found = b.compare("eq", key, b.reduce(tcp.ReduceMaxOp, key, [dim]))
    if kind.dtype.is_floating_point:
        # The maximum is NaN if there is one.
        nan = b.compare("ne", x, x)
        found = b.select(found, found, nan)
    count = kind.shape[dim]
    # Kernels read and compare twice as many positions of 32 bits at a time.
    dtype = torch.int32 if count <= torch.iinfo(torch.int32).max else torch.int64
    # The first position is the largest of the negated ones.
    numbers = b.unary(tcp.NegOp, b.cast(numbers_along(b, count, kind.rank, dim), dtype))
    first = b.select(found, numbers, b.scalar(-count, dtype, kind.rank))
    return b.cast(b.unary(tcp.NegOp, b.reduce(tcp.ReduceMaxOp, first, [dim])), torch.int64)


@converts("aten.argmax", "aten.argmin")
def argmax_argmin(b: Builder, call: Call) -> ir.Value:
    """Without a dim, the position among all elements."""
    x, dim, _ = call.args
    if dim is None or not type_of(x).rank:
        x, dim = b.reshape(x, (math.prod(type_of(x).shape),)), 0
    y = position_of_extremum(b, x, dim % type_of(x).rank, largest=call.name == "aten.argmax")
    return b.reshape(y, call.result.shape)


@converts("aten.topk")
def topk(b: Builder, call: Call) -> Sequence[ir.Value]:
    x, count, dim, largest, _ = call.args
    return _sorted(b, call, x, dim, count, descending=largest)


@converts("aten.sort", "aten.sort.stable")
def sort(b: Builder, call: Call) -> Sequence[ir.Value]:
    x, dim, descending = _sort_arguments(call)
    count = type_of(x).shape[dim] if type_of(x).rank else 1
    return _sorted(b, call, x, dim, count, descending=descending)


@converts("aten.argsort", "aten.argsort.stable")
def argsort(b: Builder, call: Call) -> ir.Value:
    x, dim, descending = _sort_arguments(call)
    x = b.reshape(x, type_of(x).shape or (1,))
    order = first_in_order(b, x, dim, type_of(x).shape[dim], descending=descending)
    return b.reshape(order, call.result.shape)


def _sort_arguments(call: Call) -> tuple[ir.Value, int, bool]:
    """The tensor, the dim, and whether the order is descending. The overload `stable` has one more
    argument; the order is always stable."""
    x, *_, dim, descending = call.args
    return x, dim, descending


def _sorted(
    b: Builder, call: Call, x: ir.Value, dim: int, count: int, *, descending: bool
) -> Sequence[ir.Value]:
    x = b.reshape(x, type_of(x).shape or (1,))
    order = first_in_order(b, x, dim, count, descending=descending)
    kind = TensorType(type_of(order).shape, type_of(x).dtype)
    values = b.emit(tcp.GatherOp, kind, x, order, dim=dim % type_of(x).rank)
    return [b.reshape(values, call.results[0].shape), b.reshape(order, call.results[1].shape)]


def first_in_order(b: Builder, x: ir.Value, dim: int, count: int, *, descending: bool) -> ir.Value:
    """The positions of the first `count` elements in order; equal elements keep their order. NaN is
    the largest."""
    dim %= type_of(x).rank
    if type_of(x).shape[dim] <= _MOST_COMPARED:
        return _first_of_compared(b, ordered(b, x), dim, count, descending=descending)
    perm = [*range(type_of(x).rank)]
    perm[dim], perm[-1] = perm[-1], perm[dim]
    x = b.transpose(x, perm)
    kind = TensorType(type_of(x).shape, torch.int64)
    order = b.emit(tcp.ArgsortOp, kind, x, descending=descending)
    return b.transpose(b.slice(order, kind.rank - 1, 0, count), perm)


def _first_of_compared(
    b: Builder, x: ir.Value, dim: int, count: int, *, descending: bool
) -> ir.Value:
    """`first_in_order` by all pairs. The rank of an element is the number of elements before it in
    the order, so the work is quadratic in the size of the dim, and all of it is parallel."""
    kind = type_of(x)
    size = kind.shape[dim]
    # Elements are in dim `rank`, those that they are compared with in `dim`.
    other = b.reshape(x, (*kind.shape, 1))
    perm = [*range(kind.rank + 1)]
    perm[dim], perm[-1] = perm[-1], perm[dim]
    mine = b.transpose(other, perm)
    first, second = (mine, other) if descending else (other, mine)
    before, after = _is_less(b, first, second), _is_less(b, second, first)
    rank = kind.rank + 1
    earlier = b.compare(
        "lt", numbers_along(b, size, rank, dim), numbers_along(b, size, rank, rank - 1)
    )
    # Before it, or neither before nor after it and earlier.
    false = b.scalar(False, torch.bool, rank)
    counted = b.select(before, before, b.select(after, false, earlier))
    places = b.reduce(tcp.ReduceSumOp, b.cast(counted, torch.int64), [dim])
    # Places are in dim `rank`; the element at place k is the sum of the positions with that place.
    here = b.compare("eq", places, numbers_along(b, count, rank, dim))
    numbers = b.select(here, numbers_along(b, size, rank, rank - 1), b.scalar(0, torch.int64, rank))
    order = b.reduce(tcp.ReduceSumOp, numbers, [rank - 1])
    return b.reshape(order, type_of(order).shape[:-1])


def _is_less(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    """x < y, where NaN is larger than any number."""
    less = b.compare("lt", x, y)
    if not type_of(x).dtype.is_floating_point:
        return less
    nan = b.compare("ne", y, y)
    return b.select(nan, b.compare("eq", x, x), less)
