# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Strides of dense tensors, whose dims are in any order in memory, e.g. channels-last. All strides
are in elements."""

from __future__ import annotations

from functools import lru_cache
from math import prod

__all__ = [
    "dense_order",
    "extent",
    "inverse_order",
    "memory_format",
    "packed_strides",
    "same_places",
    "strides_of",
]


@lru_cache(maxsize=1024)
def packed_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a tensor that is packed row-major."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def strides_of(shape: tuple[int, ...], order: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a dense tensor.

    Args:
        shape: The sizes of the dims.
        order: The dims from the outermost to the innermost, like `torch.Tensor.dim_order`.

    Returns:
        One stride per dim.
    """
    packed = packed_strides(tuple(shape[dim] for dim in order))
    return tuple(packed[place] for place in inverse_order(order))


def inverse_order(order: tuple[int, ...]) -> tuple[int, ...]:
    """The place of each dim in `order`: the transposition from the order in memory to the model's
    dims."""
    return tuple(order.index(dim) for dim in range(len(order)))


def same_places(shape: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether tensors with these strides have their elements at the same places. Dims of size 1 may
    have any stride."""
    return (
        a == b
        or 0 in shape
        or all(size == 1 or x == y for size, x, y in zip(shape, a, b, strict=True))
    )


def extent(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """The elements of memory that a tensor lies in.

    Args:
        shape: The sizes of the dims.
        strides: One stride per dim, which may be negative.

    Returns:
        The offsets of the lowest element and of the one after the highest, from the first element.
    """
    if 0 in shape:
        return 0, 0
    reach = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return sum(min(each, 0) for each in reach), 1 + sum(max(each, 0) for each in reach)


@lru_cache(maxsize=1024)
def dense_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...] | None:
    """The order of the dims of a dense tensor in memory.

    Args:
        shape: The sizes of the dims.
        strides: One stride per dim.

    Returns:
        The dims from the outermost to the innermost. None if the tensor is not dense: elements have
        gaps, share memory or run backwards. If dims of size 1 leave several orders, that of a
        memory format of PyTorch.
    """
    rank = len(shape)
    if len(strides) != rank:
        return None
    rows = tuple(range(rank))
    channels_last = (0, *rows[2:], 1) if rank in (4, 5) else rows
    for order in (rows, channels_last, tuple(sorted(rows, key=lambda dim: -strides[dim]))):
        if same_places(shape, strides, strides_of(shape, order)):
            return order
    return None


def memory_format(shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    """The memory format of a dense tensor that is not packed row-major: PyTorch's name, or the
    strides."""
    rank = len(shape)
    if rank in (4, 5) and dense_order(shape, strides) == (0, *range(2, rank), 1):
        return "channels_last" if rank == 4 else "channels_last_3d"
    return f"strides {list(strides)}"
