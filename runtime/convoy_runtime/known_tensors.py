# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Recognizes PyTorch tensors that are like those of an earlier call."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

__all__ = ["KnownTensors"]

#: Tensors differ in what does not matter to a run, e.g. whether they were made in inference mode,
#: or the strides of dims of size 1. More kinds than this many are not remembered.
_MOST: Final = 4


class KnownTensors:
    """The kinds of tensors with which an interface was called.

    One function of PyTorch compares all tensors of a call with those of an earlier one: their
    types, dtypes, devices, sizes, strides, `requires_grad` and dispatch keys, i.e. layout, negative
    and conjugate bits, and modes such as autocast. `torch.compile` does the same before each call.
    It takes 0.13 us for one tensor, and the attributes of a tensor in Python 0.5. After a wait,
    when the host's caches have other data, the pointers of a call take 2.7 us instead of 5.2.

    Threads that add tensors at the same time may remember some kinds twice.

    Attributes:
        checks: For each kind a function of as many arrays as `add` got, which returns whether they
            are of this kind.
    """

    __slots__ = ("checks",)

    def __init__(self) -> None:
        self.checks: list[Callable[..., bool]] = []

    def add(self, arrays: Sequence[Any]) -> None:
        """Remembers tensors, without a reference to them."""
        if not arrays or len(self.checks) >= _MOST:
            return
        guards: Any = sys.modules.get("torch")
        for name in ("_C", "_dynamo", "guards", "TensorGuards"):
            guards = getattr(guards, name, None)
        if guards is None:
            return
        # The class has no documentation. If it takes other arguments in a version of PyTorch, all
        # tensors are checked in Python.
        with contextlib.suppress(TypeError, RuntimeError):
            made = guards(*arrays, dynamic_dims_sizes=None, dynamic_dims_strides=None)
            self.checks.append(made.check)
