# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads at the positions of an index tensor.

PyTorch raises an IndexError for an index out of range. The compiled model does not: the result is
NaN, or the smallest number of an integer type, as `tcp.index_select` says.
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

__all__ = ["flat_position", "from_end", "select_along"]


def select_along(
    b: Builder, x: ir.Value, indices: ir.Value, dim: int, *, in_bounds: bool = False
) -> ir.Value:
    """`tcp.index_select`: `dim` of `x` is replaced by the dims of `indices`. Indices that the
    frontend computes are `in_bounds`."""
    kind = type_of(x)
    shape = (*kind.shape[:dim], *type_of(indices).shape, *kind.shape[dim + 1 :])
    return b.emit(
        tcp.IndexSelectOp, TensorType(shape, kind.dtype), x, indices, dim=dim, in_bounds=in_bounds
    )


def from_end(b: Builder, indices: ir.Value, size: int) -> ir.Value:
    """Adds `size` to negative indices."""
    kind = type_of(indices)
    negative = b.compare("lt", indices, b.scalar(0, kind.dtype, kind.rank))
    return b.select(negative, b.binary_scalar(tcp.AddOp, indices, size), indices)


@converts("aten.index_select")
def index_select(b: Builder, call: Call) -> ir.Value:
    """A tensor or an index of rank 0 is one of a single element."""
    x, dim, indices = call.args
    x = b.reshape(x, type_of(x).shape or (1,))
    indices = b.reshape(indices, (math.prod(type_of(indices).shape),))
    return b.reshape(select_along(b, x, indices, dim % type_of(x).rank), call.result.shape)


@converts("aten.take")
def take(b: Builder, call: Call) -> ir.Value:
    x, indices = call.args
    count = math.prod(type_of(x).shape)
    return select_along(b, b.reshape(x, (count,)), from_end(b, indices, count), 0)


@converts("aten.gather")
def gather(b: Builder, call: Call) -> ir.Value:
    """A tensor or an index of rank 0 is one of a single element."""
    x, dim, indices, _ = call.args
    x = b.reshape(x, type_of(x).shape or (1,))
    indices = b.reshape(indices, type_of(indices).shape or (1,))
    kind = TensorType(type_of(indices).shape, type_of(x).dtype)
    y = b.emit(tcp.GatherOp, kind, x, indices, dim=dim % type_of(x).rank)
    return b.reshape(y, call.result.shape)


@converts("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(b: Builder, call: Call) -> ir.Value:
    """The indices broadcast. Their dims replace the indexed dims if those are adjacent, and come
    first otherwise, as in NumPy. Several dims are indexed as one, by row-major positions."""
    x, indices = call.args
    dims = [dim for dim, value in enumerate(indices) if value is not None]
    if not dims:
        return x
    given = [indices[dim] for dim in dims]
    if dims != list(range(dims[0], dims[0] + len(dims))):
        rest = [dim for dim in range(type_of(x).rank) if dim not in dims]
        x = b.transpose(x, [*dims, *rest])
        dims = list(range(len(dims)))
    sizes = type_of(x).shape[dims[0] : dims[-1] + 1]
    shape = type_of(x).shape
    x = b.reshape(x, (*shape[: dims[0]], math.prod(sizes), *shape[dims[-1] + 1 :]))
    return select_along(b, x, flat_position(b, given, sizes), dims[0])


def flat_position(b: Builder, indices: Sequence[ir.Value], sizes: tuple[int, ...]) -> ir.Value:
    """The row-major position of an element in dims of `sizes`; -1 if an index is out of range.

    Args:
        b: The builder.
        indices: The index of each dim, which broadcast; negative ones count from the end.
        sizes: The sizes of the dims.

    Returns:
        The positions.

    Raises:
        Unsupported: An index is a mask, or a result has no elements.
    """
    if any(type_of(value).dtype == torch.bool for value in indices):
        msg = "expected integer indices, got a mask, whose number of elements depends on data"
        raise Unsupported(msg)
    # Indices may be int32 and int64.
    indices = [
        from_end(b, value if len(indices) == 1 else b.cast(value, torch.int64), size)
        for value, size in zip(indices, sizes, strict=True)
    ]
    if len(indices) == 1:
        return indices[0]
    position, valid = None, None
    for number, (value, size) in enumerate(zip(indices, sizes, strict=True)):
        kind = type_of(value)
        inside = b.binary(
            tcp.MulOp,
            b.compare("ge", value, b.scalar(0, kind.dtype, kind.rank)),
            b.compare("lt", value, b.scalar(size, kind.dtype, kind.rank)),
        )
        valid = inside if valid is None else b.binary(tcp.MulOp, valid, inside)
        term = b.binary_scalar(tcp.MulOp, value, math.prod(sizes[number + 1 :]))
        position = term if position is None else b.binary(tcp.AddOp, position, term)
    assert position is not None
    assert valid is not None
    kind = type_of(position)
    return b.select(valid, position, b.scalar(-1, kind.dtype, kind.rank))
