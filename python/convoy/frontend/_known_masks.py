# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A selection by masks whose values are known while ops are recorded is a read at known positions,
so its size is a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

__all__ = ["SELECTIONS", "selected"]

_SELECTS = {torch.masked_select, torch.Tensor.masked_select}
#: The functions.
SELECTIONS = {torch.Tensor.__getitem__, *_SELECTS}


def selected(
    known: Callable[[Sequence[Any]], Sequence[Any] | None],
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> torch.Tensor | None:
    """The result of a call.

    Args:
        known: Arguments to their known values; None if one is unknown.
        func: One of SELECTIONS.
        args: The arguments.
        kwargs: The keyword arguments.

    Returns:
        The result; None if there is no mask, or if the values of one are not known.
    """
    if func in _SELECTS:
        given = {**dict(zip(("input", "mask"), args, strict=False)), **kwargs}
        x, mask = given.get("input", given.get("self")), given.get("mask")
        if not isinstance(x, torch.Tensor) or not isinstance(mask, torch.Tensor):
            return None
        shape = torch.broadcast_shapes(x.shape, mask.shape)  # type: ignore[no-untyped-call]
        x, index = x.expand(shape), (mask.expand(shape),)
    else:
        x, index = args
        index = index if isinstance(index, tuple) else (index,)
    if not any(map(_is_mask, index)):
        return None
    places: list[Any] = []
    for each in index:
        if not _is_mask(each):
            places.append(each)
            continue
        values = known([each])
        if values is None:
            return None
        with _disable_current_modes():
            found = values[0].nonzero().unbind(1)
        places += [place.clone() for place in found]
    return x[tuple(places)]


def _is_mask(index: Any) -> bool:
    is_tensor = isinstance(index, torch.Tensor) and index.dim() > 0
    return is_tensor and index.dtype in (torch.bool, torch.uint8)
