# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Functions that read values of tensors: they return Python's numbers, or tensors whose sizes
depend on values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["depends_on_values"]

_READS = {
    torch.Tensor.item,
    torch.Tensor.tolist,
    torch.Tensor.__bool__,
    torch.Tensor.__int__,
    torch.Tensor.__float__,
    torch.Tensor.__index__,
    torch.Tensor.is_nonzero,
    torch.Tensor.equal,
    torch.Tensor.numpy,
    torch.Tensor.__array__,
    torch.equal,
    torch.is_nonzero,
}
#: Ops whose results have sizes that depend on values: the results are constants.
_FINDS = {
    torch.Tensor.nonzero,
    torch.Tensor.argwhere,
    torch.Tensor.masked_select,
    torch.Tensor.unique,
    torch.Tensor.unique_consecutive,
    torch.Tensor.bincount,
    torch.nonzero,
    torch.argwhere,
    torch.masked_select,
    torch.unique,
    torch.unique_consecutive,
    torch.bincount,
}


def depends_on_values(func: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether a call returns a number, an array or sizes that depend on values of tensors.

    Args:
        func: The function, as in `__torch_function__`.
        args: Its positional arguments.

    Returns:
        Whether it does, also for `x[mask]` and `torch.where(mask)`.
    """
    if func is torch.Tensor.__getitem__ and isinstance(args[1], torch.Tensor):
        return args[1].dtype in (torch.bool, torch.uint8)
    return func in _READS or func in _FINDS or (func is torch.where and len(args) == 1)
