# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""`torch.tensor([a, b])` of tensors: PyTorch reads their memory, and the stack of them has the same
values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["STACKED"]

_NUMBERS = (bool, int, float, torch.SymInt, torch.SymFloat, torch.SymBool)


def _as_tensor(
    function: Callable[..., torch.Tensor],
    data: Any,
    dtype: Any = None,
    device: Any = None,
    **kwargs: Any,
) -> torch.Tensor:
    """torch.tensor or torch.as_tensor, which takes the last two by position, too."""
    leaves = _leaves(data)
    if not _is_list_of_numbers(data, leaves):
        return function(data, dtype=dtype, device=device, **kwargs)
    dtype = dtype or functools.reduce(torch.promote_types, map(_dtype, leaves))
    return _stack(data, dtype, device)


def _new_tensor(x: torch.Tensor, data: Any, **kwargs: Any) -> torch.Tensor:
    """torch.Tensor.new_tensor."""
    if not _is_list_of_numbers(data, _leaves(data)):
        return x.new_tensor(data, **kwargs)
    return _stack(data, kwargs.get("dtype") or x.dtype, kwargs.get("device") or x.device)


def _leaves(data: Any) -> list[Any]:
    if isinstance(data, (list, tuple)):
        return [leaf for each in data for leaf in _leaves(each)]
    return [data]


def _is_list_of_numbers(data: Any, leaves: list[Any]) -> bool:
    """Whether a list has only numbers and tensors of one number, and has such a tensor."""
    return (
        isinstance(data, (list, tuple))
        and any(isinstance(each, torch.Tensor) for each in leaves)
        and all(
            each.numel() == 1 if isinstance(each, torch.Tensor) else isinstance(each, _NUMBERS)
            for each in leaves
        )
    )


def _dtype(leaf: Any) -> torch.dtype:
    if isinstance(leaf, torch.Tensor):
        return leaf.dtype
    if isinstance(leaf, (bool, torch.SymBool)):
        return torch.bool
    is_integer = isinstance(leaf, (int, torch.SymInt))
    return torch.int64 if is_integer else torch.get_default_dtype()


def _stack(data: Any, dtype: torch.dtype, device: Any) -> torch.Tensor:
    if isinstance(data, (list, tuple)):
        return torch.stack([_stack(each, dtype, device) for each in data])
    if isinstance(data, torch.Tensor):
        return data.detach().reshape(()).to(device=device, dtype=dtype)
    return torch.full((), data, dtype=dtype, device=device)


#: Functions that take lists of tensors of one number.
STACKED: dict[Any, Callable[..., torch.Tensor]] = {
    torch.tensor: functools.partial(_as_tensor, torch.tensor),
    torch.as_tensor: functools.partial(_as_tensor, torch.as_tensor),
    torch.Tensor.new_tensor: _new_tensor,
}
