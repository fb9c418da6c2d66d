# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Notices that weights were replaced or written to, so that they are prepared again."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.multiprocessing.reductions import StorageWeakRef

__all__ = ["WeightStates", "is_counted", "weights_changed"]

_declared = 0
#: Of the identity of a storage that is referenced weakly. The reference's own method costs twice as
#: much, and each call asks for each weight.
_is_freed = torch.UntypedStorage._expired


def weights_changed() -> None:
    """Makes each compiled graph prepare its weights again at its next call.

    To be called after writes that PyTorch does not count as writes to the weight: those through
    `weight.data`, `weight.detach().numpy()`, or the memory of another library. Other writes and
    new tensors are noticed without it.
    """
    global _declared
    _declared += 1


def is_counted(tensor: torch.Tensor) -> bool:
    """Whether PyTorch counts the writes to a tensor. Tensors of inference mode have no count."""
    return not tensor.is_inference()


class WeightStates:
    """The states of weights at their last preparation: which memory they are, and the number of
    writes to them."""

    def __init__(self) -> None:
        self._declared = -1
        self._states: list[tuple[int, int]] = []
        #: Addresses are used again after a storage was freed; a weak reference tells.
        self._storages: list[StorageWeakRef] = []
        self._identities: list[int] = []
        self._counted = True

    def differ(self, weights: Sequence[torch.Tensor]) -> bool:
        """Whether a weight was replaced or written to, or its writes are not counted."""
        return (
            self._declared != _declared
            or not self._counted
            or any(map(_is_freed, self._identities))
            or self._states != [_state_of(weight) for weight in weights]
        )

    def keep(self, weights: Sequence[torch.Tensor]) -> None:
        """Takes the states of weights that were prepared."""
        self._declared, self._states = _declared, [_state_of(weight) for weight in weights]
        self._counted = all(map(is_counted, weights))
        self._storages = [
            StorageWeakRef(weight.untyped_storage())  # type: ignore[no-untyped-call]
            for weight in weights
        ]
        self._identities = [storage.cdata for storage in self._storages]


def _state_of(weight: torch.Tensor) -> tuple[int, int]:
    return weight.data_ptr(), weight._version if is_counted(weight) else 0
