# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""torch.repeat_interleave with numbers of repeats that are known while ops are recorded is a read
at known positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

__all__ = ["REPEATS", "repeated"]

#: The functions.
REPEATS = {torch.repeat_interleave, torch.Tensor.repeat_interleave}


def repeated(
    known: Callable[[Sequence[Any]], Sequence[Any] | None],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> torch.Tensor | None:
    """The result of a call.

    Args:
        known: Arguments to their known values; None if one is unknown.
        args: The arguments.
        kwargs: The keyword arguments.

    Returns:
        The result; None if the numbers of repeats are not known.
    """
    given = {**dict(zip(("input", "repeats", "dim"), args, strict=False)), **kwargs}
    x, repeats, dim = given.get("input", given.get("self")), given.get("repeats"), given.get("dim")
    if not isinstance(x, torch.Tensor) or not isinstance(repeats, torch.Tensor):
        return None
    values = known([repeats])
    if values is None:
        return None
    x = x.flatten() if dim is None else x
    dim = 0 if dim is None else dim
    with _disable_current_modes():
        counts = values[0].reshape(-1)
        counts = counts.expand(x.shape[dim]) if counts.numel() == 1 else counts
        places = torch.repeat_interleave(counts)
    return x.index_select(dim, places.clone())
