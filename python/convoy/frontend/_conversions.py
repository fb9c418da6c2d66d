# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Modules that `forward` converts, as in `self.router = self.router.to(torch.float32)`.

`torch.nn.Module.to` swaps the memory of parameters, which torch.export has replaced by tensors
without memory. A conversion to the type that parameters have changes nothing; any other is an op
on the parameter."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode

__all__ = ["recorded_conversions"]

_Module = torch.nn.Module


@contextlib.contextmanager
def recorded_conversions(module: torch.nn.Module) -> Iterator[None]:
    """Records conversions of modules as ops on their tensors.

    Args:
        module: The model, which has its own tensors afterwards.
    """
    original: Callable[..., Any] = _Module._apply
    held: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (tensors, dict(tensors))
        for each in module.modules()
        for tensors in (each._parameters, each._buffers)
    ]

    def apply(owner: Any, convert: Callable[[Any], Any], recurse: bool = True) -> Any:
        if get_proxy_mode() is None:
            return original(owner, convert, recurse)
        for child in owner.children() if recurse else ():
            child._apply(convert)
        for tensors in (owner._parameters, owner._buffers):
            for name, tensor in tensors.items():
                if tensor is not None and (converted := convert(tensor)) is not tensor:
                    tensors[name] = converted
        return owner

    _Module._apply = apply  # type: ignore[method-assign]
    try:
        yield
    finally:
        _Module._apply = original  # type: ignore[method-assign]
        for tensors, before in held:
            tensors.update(before)
