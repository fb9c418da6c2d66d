# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes at the positions of an index tensor or of a mask.

PyTorch raises an IndexError for an index out of range. The compiled model does not: such an update
has no effect, as `tcp.scatter` says. Several updates of one element apply in order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType
from convoy.frontend.indexing import flat_position, from_end, select_along
from convoy.frontend.scans import scan_sum

__all__ = ["combine"]

#: PyTorch's names of reductions -> kinds of `tcp.scatter`. A mean is a sum that is divided later.
_KINDS = {
    "add": "add",
    "sum": "add",
    "mean": "add",
    "multiply": "mul",
    "prod": "mul",
    "amax": "max",
    "amin": "min",
}


def write(
    b: Builder, x: ir.Value, indices: ir.Value, updates: ir.Value, dim: int, kind: str = "set"
) -> ir.Value:
    """`tcp.scatter`, or `x` if there are no updates. Indices that were expanded to the shape of the
    updates, as in message passing, have one dim again, so that they are sorted once."""
    if 0 in type_of(updates).shape:
        return x
    source = indices.owner
    if not isinstance(source, ir.Block) and source.name == tcp.BroadcastOp.OPERATION_NAME:
        (given,) = source.operands
        if type_of(given).shape[dim] == type_of(indices).shape[dim]:
            indices = given
    return b.emit(tcp.ScatterOp, type_of(x), x, indices, updates, dim=dim, kind=kind)


def combine(
    b: Builder,
    x: ir.Value,
    indices: ir.Value,
    updates: ir.Value,
    dim: int,
    reduction: str,
    *,
    include_self: bool = True,
) -> ir.Value:
    """Reduces the updates of each element, and the element itself if `include_self`. float16 and
    bfloat16 are reduced in float32. The mean of integers rounds down."""
    dtype = type_of(x).dtype
    if 0 in type_of(updates).shape:
        return x
    kind = _KINDS[reduction]
    x, updates = b.wide(x), b.wide(updates)
    wide, original = type_of(x), x
    counted = None
    if not include_self or reduction == "mean":
        ones = b.full(1, TensorType(type_of(updates).shape, torch.int64))
        start = b.full(int(include_self), TensorType(wide.shape, torch.int64))
        counted = write(b, start, indices, ones, dim, "add")
    if not include_self:
        neutral = b.scalar(_neutral(kind, wide.dtype), wide.dtype, wide.rank)
        x = b.broadcast(neutral, wide.shape)
    y = write(b, x, indices, updates, dim, kind)
    if counted is not None and reduction == "mean":
        y = _divided(b, y, b.binary_scalar(tcp.MaximumOp, counted, 1))
    if counted is not None and not include_self:
        written = b.compare("gt", counted, b.scalar(0, torch.int64, wide.rank))
        y = b.select(written, y, original)
    return b.cast(y, dtype)


def _divided(b: Builder, total: ir.Value, count: ir.Value) -> ir.Value:
    """total / count, rounded down for integers. The count is positive."""
    dtype = type_of(total).dtype
    count = b.cast(count, dtype)
    quotient = b.binary(tcp.DivOp, total, count)
    if dtype.is_floating_point:
        return quotient
    rank = type_of(total).rank
    rest = b.binary(tcp.SubOp, total, b.binary(tcp.MulOp, quotient, count))
    below = b.binary_scalar(tcp.SubOp, quotient, 1)
    return b.select(b.compare("lt", rest, b.scalar(0, dtype, rank)), below, quotient)


def _neutral(kind: str, dtype: torch.dtype) -> float | int | bool:
    """The number that `kind` combines with any other without a change."""
    if kind in ("add", "mul"):
        return 0 if kind == "add" else 1
    if dtype.is_floating_point:
        return -math.inf if kind == "max" else math.inf
    if dtype == torch.bool:
        return kind == "min"
    return torch.iinfo(dtype).min if kind == "max" else torch.iinfo(dtype).max


# One index for each update


@converts("aten.scatter.src", "aten.scatter.reduce", "aten.scatter_add", "aten.scatter_reduce.two")
def scatter(b: Builder, call: Call) -> ir.Value:
    """The source may be larger than the index, and the index smaller than the tensor."""
    x, dim, indices, source, *rest = call.args
    kind = type_of(indices)
    for each, size in enumerate(kind.shape):
        source = b.slice(source, each, 0, size)
    if 0 in kind.shape:
        return x
    if call.name == "aten.scatter.src":
        return _scattered(b, x, dim, indices, source, None)
    reduction = "sum" if call.name == "aten.scatter_add" else rest[0]
    include_self = rest[1] if len(rest) > 1 else True
    return _scattered(b, x, dim, indices, source, reduction, include_self=include_self)


@converts("aten.scatter.value", "aten.scatter.value_reduce")
def scatter_value(b: Builder, call: Call) -> ir.Value:
    x, dim, indices, value, *rest = call.args
    if 0 in type_of(indices).shape:
        return x
    updates = b.full(value, TensorType(type_of(indices).shape, type_of(x).dtype))
    return _scattered(b, x, dim, indices, updates, rest[0] if rest else None)


def _scattered(
    b: Builder,
    x: ir.Value,
    dim: int,
    indices: ir.Value,
    updates: ir.Value,
    reduction: str | None,
    *,
    include_self: bool = True,
) -> ir.Value:
    """A tensor of rank 0 is one of a single element. Elements of `x` beside the index get an index
    that is out of range."""
    shape = type_of(x).shape
    x, indices, updates = (b.reshape(y, type_of(y).shape or (1,)) for y in (x, indices, updates))
    kind = type_of(x)
    dim %= kind.rank
    missing = [
        0 if each == dim else size - count
        for each, (size, count) in enumerate(zip(kind.shape, type_of(indices).shape, strict=True))
    ]
    if any(missing):
        indices, updates = _padded(b, indices, missing, -1), _padded(b, updates, missing, 0)
    if reduction is None:
        y = write(b, x, indices, updates, dim)
    else:
        y = combine(b, x, indices, updates, dim, reduction, include_self=include_self)
    return b.reshape(y, shape)


def _padded(b: Builder, x: ir.Value, high: Sequence[int], value: int) -> ir.Value:
    kind = type_of(x)
    shape = tuple(size + more for size, more in zip(kind.shape, high, strict=True))
    zeros = [0] * kind.rank
    kind = TensorType(shape, kind.dtype)
    return b.emit(
        tcp.PadOp, kind, x, low=zeros, high=list(high), interior=zeros, value=float(value)
    )


# Indices of slices along a dim


@converts("aten.index_add", "aten.index_copy", "aten.index_reduce")
def index_add(b: Builder, call: Call) -> ir.Value:
    """x + alpha * source, the source, or a reduction of both."""
    x, dim, indices, source, *rest = call.args
    x, indices, source, dim = _slices(b, x, dim, indices, source)
    if call.name == "aten.index_copy":
        y = write(b, x, indices, source, dim)
    elif call.name == "aten.index_add":
        kind = type_of(x)
        if rest[0] != 1:
            factor = b.scalar(rest[0], type_of(b.wide(source)).dtype, kind.rank)
            source = b.binary(tcp.MulOp, b.wide(source), factor)
            y = b.cast(combine(b, b.wide(x), indices, source, dim, "sum"), kind.dtype)
        else:
            y = combine(b, x, indices, source, dim, "sum")
    else:
        y = combine(b, x, indices, source, dim, rest[0], include_self=rest[1])
    return b.reshape(y, call.result.shape)


@converts("aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor")
def index_fill(b: Builder, call: Call) -> ir.Value:
    """Negative indices count from the end."""
    x, dim, indices, value = call.args
    kind = type_of(x)
    shape = kind.shape or (1,)
    dim %= len(shape)
    count = math.prod(type_of(indices).shape)
    shape = (*shape[:dim], count, *shape[dim + 1 :])
    if 0 in shape:
        return x
    if isinstance(value, ir.Value):
        updates = b.broadcast(b.cast(value, kind.dtype), shape)
    else:
        updates = b.full(value, TensorType(shape, kind.dtype))
    indices = from_end(b, indices, (kind.shape or (1,))[dim])
    x, indices, updates, dim = _slices(b, x, dim, indices, updates)
    return b.reshape(write(b, x, indices, updates, dim), call.result.shape)


def _slices(
    b: Builder, x: ir.Value, dim: int, indices: ir.Value, source: ir.Value
) -> tuple[ir.Value, ir.Value, ir.Value, int]:
    """The operands of `tcp.scatter` for an index of rank 0 or 1, which broadcasts."""
    x = b.reshape(x, type_of(x).shape or (1,))
    kind = type_of(x)
    dim %= kind.rank
    count = math.prod(type_of(indices).shape)
    around = [1] * kind.rank
    around[dim] = count
    shape = [*kind.shape]
    shape[dim] = count
    return x, b.reshape(indices, around), b.reshape(source, shape), dim


# Indices of several dims


@converts("aten.index_put")
def index_put(b: Builder, call: Call) -> ir.Value:
    """The counterpart of `index`: the values broadcast to the shape of the indexed elements."""
    x, indices, values, *rest = call.args
    accumulate = bool(rest and rest[0])
    given = [each for each in indices if each is not None]
    values = b.cast(values, type_of(x).dtype)
    if any(type_of(each).dtype == torch.bool for each in given):
        return _mask_put(b, x, indices, values, accumulate=accumulate)
    dims = [dim for dim, value in enumerate(indices) if value is not None]
    perm = list(range(type_of(x).rank))
    if dims != list(range(dims[0], dims[0] + len(dims))):
        perm = [*dims, *(dim for dim in perm if dim not in dims)]
        dims = list(range(len(dims)))
    x = b.transpose(x, perm)
    shape = type_of(x).shape
    before, sizes, after = shape[: dims[0]], shape[dims[0] : dims[-1] + 1], shape[dims[-1] + 1 :]
    position = flat_position(b, given, sizes)
    where = type_of(position).shape
    count = math.prod(where)
    if count == 0 or 0 in shape:
        return call.args[0]
    updates = b.broadcast(values, (*before, *where, *after))
    updates = b.reshape(updates, (*before, count, *after))
    y = b.reshape(x, (*before, math.prod(sizes), *after))
    position = b.reshape(position, (*(1,) * len(before), count, *(1,) * len(after)))
    y = _put(b, y, position, updates, len(before), accumulate=accumulate)
    back = sorted(range(len(perm)), key=perm.__getitem__)
    return b.transpose(b.reshape(y, shape), back)


def _put(
    b: Builder, x: ir.Value, indices: ir.Value, updates: ir.Value, dim: int, *, accumulate: bool
) -> ir.Value:
    """Writes the updates, or adds them."""
    if accumulate:
        return combine(b, x, indices, updates, dim, "sum")
    return write(b, x, indices, updates, dim)


def _mask_put(
    b: Builder,
    x: ir.Value,
    indices: Sequence[ir.Value | None],
    values: ir.Value,
    *,
    accumulate: bool,
) -> ir.Value:
    """One mask of the dims from `dim` on. A value for each selected element is the one at the
    number of selected elements before it."""
    dim = next(dim for dim, each in enumerate(indices) if each is not None)
    mask = indices[dim]
    if mask is None or any(each is not None for each in indices[dim + 1 :]):
        msg = (
            "expected a single mask or integer indices, got both or several masks, whose "
            "number of elements depends on data"
        )
        raise Unsupported(msg)
    kind, rank = type_of(x), type_of(mask).rank
    before, after = kind.shape[:dim], kind.shape[dim + rank :]
    count = math.prod(type_of(mask).shape)
    flat = b.reshape(x, (*before, count, *after))
    mask = b.reshape(mask, (*(1,) * len(before), count, *(1,) * len(after)))
    values = b.with_rank(values, len(before) + 1 + len(after))
    if type_of(values).shape[len(before)] != 1:
        values = _at_selected(b, values, mask, len(before))
    values = b.broadcast(values, (*before, count, *after))
    y = b.binary(tcp.AddOp, flat, values) if accumulate else values
    return b.reshape(b.select(mask, y, flat), kind.shape)


def _at_selected(b: Builder, values: ir.Value, mask: ir.Value, dim: int) -> ir.Value:
    """Moves the values, which are for the selected elements in order, to these elements."""
    count = math.prod(type_of(mask).shape)
    numbers = scan_sum(b, b.cast(b.reshape(mask, (count,)), torch.int64), 0)
    return select_along(b, values, b.binary_scalar(tcp.SubOp, numbers, 1), dim)


@converts("aten.masked_scatter")
def masked_scatter(b: Builder, call: Call) -> ir.Value:
    """The selected elements are replaced by the first ones of the source, in order."""
    x, mask, source = call.args
    shape = call.result.shape
    count = math.prod(shape)
    if 0 in type_of(source).shape or count == 0:
        return b.broadcast(x, shape)
    mask = b.reshape(b.broadcast(mask, shape), (count,))
    flat = b.reshape(b.broadcast(x, shape), (count,))
    source = b.reshape(source, (math.prod(type_of(source).shape),))
    y = b.select(mask, _at_selected(b, source, mask, 0), flat)
    return b.reshape(y, shape)


@converts("aten.put")
def put(b: Builder, call: Call) -> ir.Value:
    """Writes to the flattened tensor. Negative indices count from the end."""
    x, indices, source, accumulate = call.args
    total, count = (math.prod(type_of(each).shape) for each in (x, indices))
    if 0 in (total, count):
        return x
    flat = b.reshape(x, (total,))
    indices = b.reshape(from_end(b, indices, total), (count,))
    source = b.reshape(source, (count,))
    y = _put(b, flat, indices, source, 0, accumulate=bool(accumulate))
    return b.reshape(y, call.result.shape)
