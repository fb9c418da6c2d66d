# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Places of values among sorted boundaries, and histograms."""

from __future__ import annotations

import math

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType
from convoy.frontend.scatter import write

__all__: list[str] = []


@converts("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def searchsorted(b: Builder, call: Call) -> ir.Value:
    """`sorter` has the order of a sequence that is not sorted itself."""
    sequence, values, _, right, side, sorter = call.args
    if sorter is not None:
        kind = TensorType(type_of(sorter).shape, type_of(sequence).dtype)
        sequence = b.emit(tcp.GatherOp, kind, sequence, sorter, dim=kind.rank - 1)
    return _places(b, call, sequence, values, right=right or side == "right")


@converts("aten.bucketize.Tensor", "aten.bucketize.Scalar")
def bucketize(b: Builder, call: Call) -> ir.Value:
    values, boundaries, _, right = call.args
    return _places(b, call, boundaries, values, right=right)


def _places(
    b: Builder, call: Call, sequence: ir.Value, values: ir.Value | float | int, *, right: bool
) -> ir.Value:
    """The number of elements of the sequence that are less than each value, or not larger with
    `right`. NaN is after all elements. If a sequence ends with NaN, PyTorch's result depends on the
    elements that its bisection compares."""
    result = call.result
    if isinstance(values, ir.Value):
        dtype = torch.promote_types(type_of(sequence).dtype, type_of(values).dtype)
        values = b.cast(values, dtype)
    else:
        dtype = torch.result_type(torch.empty(1, dtype=type_of(sequence).dtype), values)
        values = b.scalar(values, dtype, 0)
    if 0 in type_of(sequence).shape or 0 in result.shape:
        return b.full(0, result)
    sequence = b.cast(sequence, dtype)
    # Values are in the dims before the last one, the elements of the sequence in the last one.
    *rows, size = type_of(sequence).shape
    values = b.reshape(values, (*type_of(values).shape, 1))
    rank = type_of(values).rank
    shape = (*rows, 1, size) if rows else (*(1,) * (rank - 1), size)
    after = b.compare("gt" if right else "ge", b.reshape(sequence, shape), values)
    zero, one = (b.scalar(each, torch.int64, rank) for each in (0, 1))
    counted = b.select(after, zero, one)
    count = b.reduce(tcp.ReduceSumOp, counted, [rank - 1])
    if dtype.is_floating_point:
        count = _bisected(b, b.reshape(sequence, shape), b.cast(count, torch.int32))
    return b.reshape(b.cast(count, result.dtype), result.shape)


def _bisected(b: Builder, sequence: ir.Value, count: ir.Value) -> ir.Value:
    """The places that PyTorch's bisection finds. `count` is the number of elements that are not
    after a value, among which NaN is, and NaN is at the end of a sequence. So the comparison with
    an element follows from its position."""
    *_, size = type_of(sequence).shape
    rank, dtype = type_of(count).rank, type_of(count).dtype
    is_nan = b.cast(b.compare("ne", sequence, sequence), dtype)
    nans = b.reduce(tcp.ReduceSumOp, is_nan, [rank - 1])
    before = b.binary(tcp.SubOp, count, nans)
    numbers = b.binary(tcp.SubOp, b.scalar(size, dtype, rank), nans)
    start, end = b.scalar(0, dtype, rank), b.scalar(size, dtype, rank)
    for _ in range(size.bit_length()):
        is_open = b.compare("lt", start, end)
        length = b.binary(tcp.SubOp, end, start)
        half = b.binary(tcp.ShiftRightOp, length, b.scalar(1, dtype, rank))
        middle = b.binary(tcp.AddOp, start, half)
        is_before = b.compare("lt", middle, before)
        is_before = b.select(is_before, is_before, b.compare("ge", middle, numbers))
        end = b.select(is_before, end, middle)
        is_next = b.select(is_open, is_before, is_open)
        start = b.select(is_next, b.binary_scalar(tcp.AddOp, middle, 1), start)
    return start


@converts("aten.histc")
def histc(b: Builder, call: Call) -> ir.Value:
    """Bins of equal width from `min` to `max`; from the smallest to the largest element if both are
    equal. The last bin includes its upper bound; elements outside have no bin."""
    x, bins, low, high = call.args
    dtype = call.result.dtype
    x = b.wide(b.reshape(x, (math.prod(type_of(x).shape),)))
    kind = type_of(x)
    if low == high:
        first = b.unary(tcp.NegOp, b.reduce(tcp.ReduceMaxOp, b.unary(tcp.NegOp, x), [0]))
        last = b.reduce(tcp.ReduceMaxOp, x, [0])
    else:
        first, last = b.scalar(low, kind.dtype, 1), b.scalar(high, kind.dtype, 1)
    # Equal bounds move apart by 1.
    apart = b.cast(b.compare("eq", first, last), kind.dtype)
    first, last = b.binary(tcp.SubOp, first, apart), b.binary(tcp.AddOp, last, apart)
    scaled = b.binary_scalar(tcp.MulOp, b.binary(tcp.SubOp, x, first), bins)
    place = b.unary(tcp.FloorOp, b.binary(tcp.DivOp, scaled, b.binary(tcp.SubOp, last, first)))
    place = b.binary_scalar(tcp.MinimumOp, place, bins - 1)
    below, above = b.compare("lt", x, first), b.compare("gt", x, last)
    outside = b.select(below, below, b.select(above, above, b.compare("ne", x, x)))
    place = b.select(outside, b.scalar(-1, kind.dtype, 1), place)
    zeros, ones = b.full(0, TensorType((bins,), kind.dtype)), b.full(1, kind)
    counts = write(b, zeros, b.cast(place, torch.int64), ones, 0, "add")
    return b.cast(counts, dtype)
