# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Views of a part of a tensor, as copies, and tensors with such a part replaced."""

from __future__ import annotations

import math

import torch
from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType
from convoy.frontend.indexing import select_along

__all__: list[str] = []


@converts("aten.diagonal")
def diagonal(b: Builder, call: Call) -> ir.Value:
    """The diagonal of an m x n matrix is every (n + 1)-th of its elements in row-major order."""
    x, offset, first, second = call.args
    x = b.transpose(x, _matrix_last(type_of(x).rank, first, second))
    *rest, rows, columns = type_of(x).shape
    count = call.result.shape[-1]
    if 0 in call.result.shape:
        return b.full(0, call.result)
    x = b.reshape(x, (*rest, rows * columns))
    start = offset if offset >= 0 else -offset * columns
    step = columns + 1 if count > 1 else 1
    return b.slice(x, len(rest), start, count, step)


@converts("aten.diagonal_scatter")
def diagonal_scatter(b: Builder, call: Call) -> ir.Value:
    x, source, offset, first, second = call.args
    if 0 in type_of(source).shape:
        return x
    source = b.cast(source, type_of(x).dtype)
    perm = _matrix_last(type_of(x).rank, first, second)
    x = b.transpose(x, perm)
    *rest, rows, columns = type_of(x).shape
    start = offset if offset >= 0 else -offset * columns
    wide = _spread(b, source, len(rest), start, columns + 1, rows * columns)
    flags = torch.zeros(rows, columns, dtype=torch.bool)
    flags.diagonal(offset).fill_(True)
    mask = b.with_rank(b.weight(f"diagonal_{rows}_{columns}_{offset}", flags), len(rest) + 2)
    y = b.select(mask, b.reshape(wide, (*rest, rows, columns)), x)
    return b.transpose(y, sorted(range(len(perm)), key=perm.__getitem__))


def _matrix_last(rank: int, first: int, second: int) -> list[int]:
    """A permutation that moves two dims to the end."""
    pair = [first % rank, second % rank]
    return [*(dim for dim in range(rank) if dim not in pair), *pair]


def _spread(b: Builder, x: ir.Value, dim: int, start: int, step: int, size: int) -> ir.Value:
    """Moves element i of `dim` to start + i * step of a dim of `size`; other elements are 0."""
    kind = type_of(x)
    count = kind.shape[dim]
    low, high, interior = [0] * kind.rank, [0] * kind.rank, [0] * kind.rank
    low[dim], interior[dim] = start, step - 1 if count > 1 else 0
    high[dim] = size - start - (count - 1) * step - 1
    shape = (*kind.shape[:dim], size, *kind.shape[dim + 1 :])
    result = TensorType(shape, kind.dtype)
    return b.emit(tcp.PadOp, result, x, low=low, high=high, interior=interior, value=0.0)


@converts("aten.slice_scatter")
def slice_scatter(b: Builder, call: Call) -> ir.Value:
    """As in Python, negative bounds count from the end, and bounds are clamped to the size."""
    x, source, dim, start, end, step = call.args
    kind = type_of(x)
    dim %= kind.rank
    size = kind.shape[dim]
    first, stop, _ = slice(start, end, step).indices(size)
    count = len(range(first, stop, step))
    if count == 0 or 0 in kind.shape:
        return x
    source = b.broadcast(
        b.cast(source, kind.dtype), (*kind.shape[:dim], count, *kind.shape[dim + 1 :])
    )
    if step == 1 or count == 1:
        after = first + count
        parts = [
            *([b.slice(x, dim, 0, first)] if first else []),
            source,
            *([b.slice(x, dim, after, size - after)] if after < size else []),
        ]
        return b.concat(parts, dim)
    flags = torch.zeros(size, dtype=torch.bool)
    flags[first:stop:step] = True
    shape = [1] * kind.rank
    shape[dim] = size
    mask = b.reshape(b.weight(f"slice_{size}_{first}_{stop}_{step}", flags), shape)
    return b.select(mask, _spread(b, source, dim, first, step, size), x)


@converts("aten.select_scatter")
def select_scatter(b: Builder, call: Call) -> ir.Value:
    x, source, dim, index = call.args
    kind = type_of(x)
    dim %= kind.rank
    index %= kind.shape[dim]
    before, after = kind.shape[:dim], kind.shape[dim + 1 :]
    if 0 in kind.shape:
        return x
    parts = [
        *([b.slice(x, dim, 0, index)] if index else []),
        b.reshape(b.cast(source, kind.dtype), (*before, 1, *after)),
        *(
            [b.slice(x, dim, index + 1, kind.shape[dim] - index - 1)]
            if index + 1 < kind.shape[dim]
            else []
        ),
    ]
    return b.concat(parts, dim)


@converts("aten.unfold")
def unfold(b: Builder, call: Call) -> ir.Value:
    """Windows of a dim, which become the last dim."""
    x, dim, size, step = call.args
    if 0 in call.result.shape:
        return b.full(0, call.result)
    if type_of(x).rank == 0:
        return b.reshape(x, call.result.shape)
    kind = type_of(x)
    dim %= kind.rank
    windows = call.result.shape[dim]
    positions = torch.arange(windows)[:, None] * step + torch.arange(size)
    indices = b.weight(f"windows_{windows}_{size}_{step}", positions)
    y = select_along(b, x, indices, dim, in_bounds=True)
    perm = [each for each in range(kind.rank + 1) if each != dim + 1]
    return b.transpose(y, [*perm, dim + 1])


@converts("aten.as_strided_scatter")
def as_strided_scatter(b: Builder, call: Call) -> ir.Value:
    """Reads the source at the place of each element, if it has one; the last one in row-major
    order if it has several. The tensor is contiguous: `check_operations` refuses others."""
    x, source, size, stride, offset = call.args
    kind, count = type_of(x), math.prod(type_of(source).shape)
    if count == 0:
        return x
    numbers = torch.arange(math.prod(kind.shape))
    positions = numbers.as_strided(size, stride, offset or 0).flatten()
    places = torch.full_like(numbers, -1)
    places = places.scatter_reduce(0, positions, torch.arange(count), "amax")
    indices = b.weight("places", places.reshape(kind.shape))
    y = select_along(b, b.reshape(b.cast(source, kind.dtype), (count,)), indices, 0)
    return b.select(b.compare("lt", indices, b.scalar(0, torch.int64, kind.rank)), x, y)


@converts("aten.col2im")
def col2im(b: Builder, call: Call) -> ir.Value:
    """Adds up the elements of overlapping blocks: for each place in the kernel, a padded tensor
    with one element of each block."""
    x, size, kernel, dilation, padding, stride = call.args
    result = call.result
    blocks = [
        (extent + 2 * pad - dilate * (k - 1) - 1) // step + 1
        for extent, k, dilate, pad, step in zip(
            size, kernel, dilation, padding, stride, strict=True
        )
    ]
    *batch, channels = result.shape[:-2]
    rank = len(batch) + 1
    x = b.reshape(b.wide(x), (*batch, channels, *kernel, *blocks))
    total: ir.Value | None = None
    for row in range(kernel[0]):
        for column in range(kernel[1]):
            part = b.slice(b.slice(x, rank, row, 1), rank + 1, column, 1)
            part = b.reshape(part, (*batch, channels, *blocks))
            for dim, place in enumerate((row, column)):
                start = place * dilation[dim] - padding[dim]
                part = _spread(b, part, rank + dim, start, stride[dim], size[dim])
            total = part if total is None else b.binary(tcp.AddOp, total, part)
    assert total is not None
    return b.reshape(b.cast(total, result.dtype), result.shape)
