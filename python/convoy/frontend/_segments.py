# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reductions of segments of a tensor, as in graph networks, are writes to the row of each element's
segment."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

__all__ = ["segment_decompositions"]

#: The kind of write, and the result of a segment without elements.
_KINDS = {
    "sum": ("sum", 0.0),
    "mean": ("sum", 0.0),
    "max": ("amax", -math.inf),
    "min": ("amin", math.inf),
    "prod": ("prod", 1.0),
}


def segment_decompositions() -> dict[Any, Callable[..., Any]]:
    """The decomposition of torch.segment_reduce."""
    return {torch.ops.aten.segment_reduce.default: _segment_reduce}


def _segment_reduce(
    data: torch.Tensor,
    reduce: str,
    *,
    lengths: torch.Tensor | None = None,
    indices: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> torch.Tensor:
    """Elements after the last segment belong to none."""
    if offsets is None:
        if lengths is None or indices is not None:
            return NotImplemented  # type: ignore[no-any-return]
        offsets = F.pad(torch.cumsum(lengths, -1), (1, 0))
    axis %= data.ndim
    batch, count, size = data.shape[:axis], offsets.shape[-1] - 1, data.shape[axis]
    kind, empty = _KINDS[reduce]
    begin = empty if initial is None else initial
    position = torch.arange(size, device=data.device).expand(*batch, size)
    ends = offsets[..., 1:].expand(*batch, count).contiguous()
    segment = torch.searchsorted(ends, position.contiguous(), right=True)
    segment = torch.where(position >= offsets[..., :1], segment, count)
    rows = data.new_full((*batch, count + 1, *data.shape[axis + 1 :]), begin)
    after = (1,) * (data.ndim - axis - 1)
    places = segment.reshape(*segment.shape, *after).expand(data.shape)
    found = torch.scatter_reduce(rows, axis, places, data, kind).narrow(axis, 0, count)
    if reduce != "mean":
        return found
    number = torch.diff(offsets, dim=-1).reshape(*batch, count, *after)
    nothing = math.nan if initial is None else initial
    return torch.where(number > 0, found / number, nothing)
