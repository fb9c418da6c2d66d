# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Calls into GPU array libraries, torch and cupy. They are looked up in `sys.modules` and never
imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from convoy_runtime.arrays import library_of
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.strides import inverse_order

from .known_tensors import KnownTensors

__all__ = ["DLPACK_LEGACY_STREAM", "Libraries", "hand_over", "has_strides"]

#: DLPack's number of the legacy default stream, whose handle is 0.
DLPACK_LEGACY_STREAM = 1


class Libraries:
    """The array libraries, for the GPU `index`."""

    def __init__(self, index: int) -> None:
        self._index = index
        #: The torch.device, once torch is used.
        self._device: Any = None

    def stream_of(self, library: str) -> int:
        """Returns the handle of the library's current stream; 0 for other libraries."""
        module = sys.modules.get(library)
        if library == "torch" and module is not None:
            # What code of torch.compile calls. torch.cuda.current_stream makes an object, which
            # takes 4.3 us instead of 0.5 in each call. A torch without CUDA does not have it.
            found = getattr(module._C, "_cuda_getCurrentRawStream", None)
            return 0 if found is None else int(found(self._index))
        if library == "cupy" and module is not None:
            return int(module.cuda.get_current_stream().ptr)
        return 0

    def producer_stream(self, stream: int) -> Callable[[Any], int]:
        """Returns a function from an array to the `stream` argument of its `__dlpack__`, so that
        `stream` waits for the producer; -1 if the producer uses `stream` itself."""

        def of(array: Any) -> int:
            library = library_of(array)
            if library in ("torch", "cupy") and self.stream_of(library) == stream:
                return -1
            return stream or DLPACK_LEGACY_STREAM

        return of

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
        index, tensor = self._index, getattr(torch, "Tensor", None)
        found = []
        # A `zip` with `strict` takes 0.4 us, as long as a third of the checks of a tensor.
        for place, array in enumerate(arrays):
            spec = specs[place]
            if (
                type(array) is not tensor
                or array.layout is not torch.strided
                or array.shape != spec.shape
                or array.dtype is not getattr(torch, spec.dtype)
                or not array.is_cuda
                or array.get_device() != index
                or (array.stride() != spec.strides if spec.strides else not array.is_contiguous())
                or array.requires_grad
                or array.is_neg()
            ):
                return None
            pointer = array.data_ptr()
            if not pointer and spec.bytes:
                # A tensor of a tracer, which DLPack's path refuses.
                return None
            found.append(pointer)
        known.add(arrays)
        return found

    def stored(self, library: str, array: Any, spec: TensorSpec) -> Any:
        """Returns the array by its library as the packed array in memory that `spec` describes;
        None if the library is unknown."""
        order = spec.order
        if library == "torch":
            return (array if order is None else array.permute(order)).contiguous()
        if library not in ("cupy", "jax"):
            return None
        array = array if order is None else array.transpose(order)
        # Arrays of jax are packed.
        return sys.modules["cupy"].ascontiguousarray(array) if library == "cupy" else array

    def empty(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str) -> Any:
        """Returns a new tensor from torch's allocator."""
        torch = sys.modules["torch"]
        if self._device is None:
            self._device = torch.device("cuda", self._index)
        # Takes two thirds of the time of torch.empty with the name of a device, with tensors on
        # the CPU.
        return torch.empty_strided(shape, strides, dtype=getattr(torch, dtype), device=self._device)

    def record_stream(self, library: str, array: Any, stream: int) -> None:
        """Calls torch's `record_stream`, unless `stream` is torch's current stream."""
        if library == "torch" and stream != self.stream_of("torch"):
            array.record_stream(
                sys.modules["torch"].cuda.ExternalStream(stream, device=self._index)
            )


def has_strides(library: str) -> bool:
    """Whether arrays of the library have strides. Those of jax are packed."""
    return library != "jax" or "jax.numpy" not in sys.modules


def hand_over(library: str, arrays: Sequence[Any], specs: Sequence[TensorSpec]) -> tuple[Any, ...]:
    """Returns results as arrays of the first input's library. Must be called after the run is
    enqueued, because the library makes its stream wait for it."""
    if library not in ("jax", "cupy"):
        return tuple(arrays)
    module = sys.modules.get("jax.numpy" if library == "jax" else library)
    if module is None:
        return tuple(arrays)
    made = [module.from_dlpack(array) for array in arrays]
    if has_strides(library):
        return tuple(made)
    return tuple(
        array if spec.order is None else array.transpose(inverse_order(spec.order))
        for array, spec in zip(made, specs, strict=True)
    )
