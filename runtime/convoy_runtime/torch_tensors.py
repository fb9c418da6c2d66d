# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads and makes PyTorch tensors without DLPack. PyTorch is looked up in `sys.modules` and never
imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from .known_tensors import KnownTensors
from .manifest import TensorSpec
from .strides import packed_strides

__all__ = ["Result", "TorchTensors", "results_of"]

#: Shape, strides and dtype of a result, as PyTorch allocates it.
Result = tuple[tuple[int, ...], tuple[int, ...], str]


class TorchTensors:
    """Tensors in the memory of one device.

    Args:
        index: The index of the GPU; None for the host.
    """

    def __init__(self, index: int | None) -> None:
        self._index = index
        #: The torch.device, and what tells whether PyTorch's calls are intercepted, once torch is
        #: used.
        self._device: Any = None
        self._interceptors: list[Callable[[], object]] = []

    def pointers(
        self, arrays: Sequence[Any], specs: Sequence[TensorSpec], known: KnownTensors
    ) -> list[int] | None:
        """The pointers of torch tensors that match their specs.

        Args:
            arrays: The inputs of a call.
            specs: Their specs.
            known: Tensors that matched these specs in earlier calls.

        Returns:
            The pointers, or None if one array is not such a tensor. Others are imported by DLPack,
            which takes several microseconds in torch.
        """
        if len(arrays) != len(specs):
            return None
        # Not a method of `known`: this runs before each launch.
        for check in known.checks:
            if check(*arrays):
                found = [array.data_ptr() for array in arrays]
                if 0 not in found:
                    return found
        torch = sys.modules.get("torch")
        if torch is None:
            return None
        device, tensor = self._device or self._find_device(), getattr(torch, "Tensor", None)
        found = []
        # A `zip` with `strict` takes 0.4 us, as long as a third of the checks of a tensor.
        for place, array in enumerate(arrays):
            spec = specs[place]
            if (
                type(array) is not tensor
                or array.layout is not torch.strided
                or array.shape != spec.shape
                or array.dtype is not getattr(torch, spec.dtype)
                or array.device != device
                or (array.stride() != spec.strides if spec.strides else not array.is_contiguous())
                or array.requires_grad
                or array.is_neg()
            ):
                return None
            try:
                pointer = array.data_ptr()
            except RuntimeError:
                return None
            if not pointer and spec.bytes:
                # A tensor of a tracer, which DLPack's path refuses.
                return None
            found.append(pointer)
        known.add(arrays)
        return found

    def empty(self, results: Sequence[Result]) -> list[Any] | None:
        """Returns new tensors from torch's allocator.

        Returns:
            One tensor per result; None while a mode of this thread, e.g. that of a tracer, or a
            transform of `torch.func` gets PyTorch's calls. A tensor that PyTorch makes then may
            have no memory, or be one that a traced graph allocates again.
        """
        torch, device = sys.modules["torch"], self._device or self._find_device()
        for is_active in self._interceptors:
            if is_active():
                return None
        made = []
        for shape, strides, dtype in results:
            # Takes two thirds of the time of torch.empty with the name of a device, with tensors on
            # the CPU.
            made.append(
                torch.empty_strided(shape, strides, dtype=getattr(torch, dtype), device=device)
            )
        return made

    def _find_device(self) -> Any:
        torch = sys.modules["torch"]
        # PyTorch's own Python code calls these functions. Both together take 0.1 us.
        inside = torch._C
        found = (
            getattr(inside, "_len_torch_dispatch_stack", None),
            getattr(getattr(inside, "_functorch", None), "peek_interpreter_stack", None),
        )
        self._interceptors = [each for each in found if each is not None]
        find = torch.device
        self._device = find("cpu") if self._index is None else find("cuda", self._index)
        return self._device


def results_of(specs: Sequence[TensorSpec]) -> tuple[Result, ...]:
    """The results that `specs` describe. In their strides a dim of size 0 counts as 1."""
    return tuple(
        (
            spec.shape,
            spec.strides or packed_strides(tuple(max(1, size) for size in spec.shape)),
            spec.dtype,
        )
        for spec in specs
    )
