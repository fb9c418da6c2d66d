# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""torch.compile(dynamic=True), which the artifacts are compared with."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["Peer", "peers_of"]

#: The calls of a size before it is measured: torch.compile compiles in the first one, and
#: mode="reduce-overhead" captures a CUDA graph of the size in the next ones.
_FIRST_CALLS = 3


@dataclass(frozen=True)
class Peer:
    """A compiled module.

    Attributes:
        name: Its name in the table.
        call: The compiled module.
        dtype: The dtype of its weights, which inputs of floating point are converted to.
    """

    name: str
    call: Callable[..., Any]
    dtype: torch.dtype

    def prepared(self, inputs: tuple[torch.Tensor, ...]) -> Callable[[], Any]:
        """Calls the module until nothing is compiled or captured any more.

        Args:
            inputs: Its inputs, on the device.

        Returns:
            The call with these inputs, in the module's dtype and channels-last.
        """
        given = tuple(each.to(self.dtype) if each.is_floating_point() else each for each in inputs)
        given = tuple(
            each.to(memory_format=torch.channels_last) if each.dim() == 4 else each
            for each in given
        )
        for _ in range(_FIRST_CALLS):
            self.call(*given)
        return lambda: self.call(*given)


def peers_of(module: torch.nn.Module, target: str, dtype: str) -> list[Peer]:
    """The peers of a module: torch.compile(dynamic=True) as it is, and on a GPU also with its CUDA
    graphs, of which it captures one for each size.

    Args:
        module: The module, which is copied.
        target: The device, "cpu" or "cuda".
        dtype: The name of the dtype that the artifact computes in.

    Returns:
        The peers, which compile when they are first called.
    """
    to = getattr(torch, dtype)
    module = copy.deepcopy(module).to(target, to).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    found = [Peer("torch.compile", torch.compile(module, dynamic=True), to)]
    if target == "cuda":
        graphs = torch.compile(module, dynamic=True, mode="reduce-overhead")
        found.append(Peer("torch.compile, CUDA graphs", graphs, to))
    return found
