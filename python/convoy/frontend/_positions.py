# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Ops that find positions in a tensor, where the number of them is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["nonzero_static", "position_decompositions"]

aten = torch.ops.aten


def position_decompositions() -> dict[Any, Callable[..., Any]]:
    """The decompositions of torch.nonzero_static and of torch.repeat_interleave with an
    output_size."""
    return {
        aten.nonzero_static.default: nonzero_static,
        aten.repeat_interleave.Tensor: _repeat_interleave,
    }


def nonzero_static(x: torch.Tensor, *, size: int, fill_value: int = -1) -> torch.Tensor:
    """torch.nonzero_static.

    Args:
        x: The tensor.
        size: The number of positions.
        fill_value: The indices of missing positions.

    Returns:
        [size, rank of `x`], the indices of the first elements that are not zero.
    """
    count, flat = x.numel(), x.reshape(-1) != 0
    if not count or not x.ndim:
        return torch.full((size, x.ndim), fill_value, dtype=torch.int64)
    rank = torch.cumsum(flat.to(torch.int64), 0)
    # All others are written to one more place.
    slots = torch.where(flat & (rank <= size), rank - 1, size)
    places = torch.zeros(size + 1, dtype=torch.int64)
    places = torch.scatter(places, 0, slots, torch.arange(count))[:size]
    indices, stride = [], count
    for extent in x.shape:
        stride //= extent
        indices.append(places // stride % extent)
    found = torch.arange(size) < rank[count - 1]
    return torch.where(found.unsqueeze(1), torch.stack(indices, 1), fill_value)


def _repeat_interleave(repeats: torch.Tensor, *, output_size: int | None = None) -> Any:
    """The index of the element that is repeated at each position."""
    if not isinstance(output_size, int):
        return NotImplemented
    ends = torch.cumsum(repeats, 0)
    return torch.searchsorted(ends, torch.arange(output_size), right=True).to(repeats.dtype)
