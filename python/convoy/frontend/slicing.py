# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Slices, splits, concatenation, padding and flips."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from convoy.dialects import tcp
from convoy.frontend._builder import Builder, Unsupported, element_number, type_of
from convoy.frontend._registry import Call, converts
from convoy.frontend._types import TensorType

__all__: list[str] = []


@converts("aten.slice.Tensor")
def slice_(b: Builder, call: Call) -> ir.Value:
    """As in Python, negative bounds count from the end, and bounds are clamped to the size."""
    x, dim, start, end, step = call.args
    dim %= type_of(x).rank
    first, _, _ = slice(start, end, step).indices(type_of(x).shape[dim])
    return b.slice(x, dim, first, call.result.shape[dim], step)


@converts("aten.select.int")
def select(b: Builder, call: Call) -> ir.Value:
    x, dim, index = call.args
    kind = type_of(x)
    dim %= kind.rank
    return b.reshape(b.slice(x, dim, index % kind.shape[dim], 1), call.result.shape)


@converts("aten.narrow", "aten.narrow_copy")
def narrow(b: Builder, call: Call) -> ir.Value:
    x, dim, start, length = call.args
    dim %= type_of(x).rank
    return b.slice(x, dim, start % type_of(x).shape[dim] if start < 0 else start, length)


@converts("aten.split.Tensor", "aten.split_with_sizes", "aten.chunk")
def split(b: Builder, call: Call) -> Sequence[ir.Value]:
    """Pieces of one size (the last may be smaller), of given sizes, or a number of pieces."""
    x, sizes, dim = call.args
    dim %= type_of(x).rank
    total = type_of(x).shape[dim]
    if call.name == "aten.chunk":
        sizes = -(-total // sizes)
    if isinstance(sizes, int):
        sizes = [min(sizes, total - start) for start in range(0, total, max(sizes, 1))] or [0]
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    return [b.slice(x, dim, start, size) for start, size in zip(starts, sizes, strict=True)]


@converts("aten.unbind.int", "aten.unbind_copy.int")
def unbind(b: Builder, call: Call) -> Sequence[ir.Value]:
    x, dim = call.args
    kind = type_of(x)
    dim %= kind.rank
    shape = (*kind.shape[:dim], *kind.shape[dim + 1 :])
    return [b.reshape(b.slice(x, dim, index, 1), shape) for index in range(kind.shape[dim])]


@converts("aten.cat")
def cat(b: Builder, call: Call) -> ir.Value:
    """Torch promotes the parts to one dtype, and skips those without elements."""
    parts, dim = call.args
    parts = [b.cast(part, call.result.dtype) for part in parts if 0 not in type_of(part).shape]
    return b.concat(parts, dim % call.result.rank) if parts else b.full(0, call.result)


@converts("aten.stack")
def stack(b: Builder, call: Call) -> ir.Value:
    parts, dim = call.args
    dim %= call.result.rank
    shape = [*call.result.shape]
    shape[dim] = 1
    return b.concat([b.reshape(b.cast(part, call.result.dtype), shape) for part in parts], dim)


@converts("aten.flip")
def flip(b: Builder, call: Call) -> ir.Value:
    """A tensor of rank 0 has a dim 0 without an effect."""
    x, dims = call.args
    rank = type_of(x).rank
    return b.reverse(x, sorted(dim % rank for dim in dims)) if dims and rank else x


@converts("aten.roll")
def roll(b: Builder, call: Call) -> ir.Value:
    x, shifts, dims = call.args
    kind = type_of(x)
    flat = not dims
    if flat:
        total = 1
        for size in kind.shape:
            total *= size
        x, dims = b.reshape(x, (total,)), [0]
    for shift, dim in zip(shifts, dims, strict=True):
        dim %= type_of(x).rank
        size = type_of(x).shape[dim]
        cut = size - shift % size
        if cut != size:
            x = b.concat([b.slice(x, dim, cut, size - cut), b.slice(x, dim, 0, cut)], dim)
    return b.reshape(x, kind.shape)


@converts("aten.constant_pad_nd")
def constant_pad(b: Builder, call: Call) -> ir.Value:
    x, pads, value = call.args
    return _pad(b, x, pads, value)


@converts("aten.pad")
def pad(b: Builder, call: Call) -> ir.Value:
    x, pads, mode, value = call.args
    if mode == "constant":
        return _pad(b, x, pads, value or 0)
    return _pad_from_edge(b, x, pads, mode)


@converts(*(f"aten.{mode}_pad{n}d" for mode in ("reflection", "replication") for n in (1, 2, 3)))
def edge_pad(b: Builder, call: Call) -> ir.Value:
    x, pads = call.args
    return _pad_from_edge(b, x, pads, "reflect" if "reflection" in call.name else "replicate")


def _per_dim(pads: Sequence[int], rank: int) -> tuple[list[int], list[int]]:
    """Low and high padding per dim. Torch lists pairs from the last dim backwards."""
    low, high = [0] * rank, [0] * rank
    for index in range(len(pads) // 2):
        low[rank - 1 - index], high[rank - 1 - index] = pads[2 * index], pads[2 * index + 1]
    return low, high


def _pad(b: Builder, x: ir.Value, pads: Sequence[int], value: float) -> ir.Value:
    kind = type_of(x)
    low, high = _per_dim(pads, kind.rank)
    if not any(low) and not any(high):
        return x
    number = float(element_number(value, kind.dtype))
    shape = tuple(
        size + before + after for size, before, after in zip(kind.shape, low, high, strict=True)
    )
    return b.emit(
        tcp.PadOp,
        TensorType(shape, kind.dtype),
        x,
        low=low,
        high=high,
        interior=[0] * kind.rank,
        value=number,
    )


def _pad_from_edge(b: Builder, x: ir.Value, pads: Sequence[int], mode: str) -> ir.Value:
    """Pads dim by dim with slices of the tensor. A negative amount crops: before the padding in
    mode circular, after it in other modes, whose padding uses the cropped elements."""
    low, high = _per_dim(pads, type_of(x).rank)
    for dim, (before, after) in enumerate(zip(low, high, strict=True)):
        crop = (max(0, -before), max(0, -after))
        x = _cropped(b, x, dim, crop) if mode == "circular" else x
        size = type_of(x).shape[dim]
        if mode == "circular" and max(before, after) > size:
            # PyTorch compares with the size before the crop, and then reads what it is writing.
            msg = (
                f"expected a circular padding of at most the {size} elements that are left of dim "
                f"{dim}, got {max(before, after)}"
            )
            raise Unsupported(msg)
        parts = [x]
        if before > 0:
            parts.insert(0, _edge(b, x, dim, mode, before, size, low_side=True))
        if after > 0:
            parts.append(_edge(b, x, dim, mode, after, size, low_side=False))
        x = b.concat(parts, dim)
        x = x if mode == "circular" else _cropped(b, x, dim, crop)
    return x


def _cropped(b: Builder, x: ir.Value, dim: int, crop: tuple[int, int]) -> ir.Value:
    return b.slice(x, dim, crop[0], type_of(x).shape[dim] - sum(crop))


def _edge(
    b: Builder, x: ir.Value, dim: int, mode: str, count: int, size: int, *, low_side: bool
) -> ir.Value:
    if mode == "reflect":
        return b.reverse(b.slice(x, dim, 1 if low_side else size - 1 - count, count), [dim])
    if mode == "circular":
        return b.slice(x, dim, size - count if low_side else 0, count)
    if mode == "replicate":
        shape = [*type_of(x).shape]
        shape[dim] = count
        return b.broadcast(b.slice(x, dim, 0 if low_side else size - 1, 1), shape)
    msg = f"expected a padding mode of constant, reflect, replicate or circular, got {mode}"
    raise Unsupported(msg)
