# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Calls into GPU array libraries, torch and cupy. They are looked up in `sys.modules` and never
imported."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from convoy_runtime.arrays import library_of
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.strides import inverse_order

__all__ = ["DLPACK_LEGACY_STREAM", "Libraries", "hand_over", "has_strides"]

#: DLPack's number of the legacy default stream, whose handle is 0.
DLPACK_LEGACY_STREAM = 1


class Libraries:
    """The array libraries, for the GPU `index`."""

    def __init__(self, index: int) -> None:
        self._index, self._device = index, f"cuda:{index}"

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

    def pointer(self, array: Any, spec: TensorSpec) -> int | None:
        """Returns the pointer of a torch tensor that matches `spec`, or None for any other array,
        which is imported by DLPack. DLPack takes several microseconds in torch."""
        torch = sys.modules.get("torch")
        if (
            torch is None
            or type(array) is not getattr(torch, "Tensor", None)
            or array.layout is not torch.strided
        ):
            return None
        same = (
            array.shape == spec.shape
            and array.dtype is getattr(torch, spec.dtype)
            and array.is_cuda
        )
        plain = (
            same
            and array.get_device() == self._index
            and (array.stride() == spec.strides if spec.strides else array.is_contiguous())
            and not array.requires_grad
            and not array.is_neg()
        )
        return int(array.data_ptr()) if plain else None

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

    def empty(self, spec: TensorSpec) -> Any:
        """Returns a new tensor from torch's allocator."""
        torch = sys.modules["torch"]
        dtype = getattr(torch, spec.dtype)
        if spec.strides:
            return torch.empty_strided(spec.shape, spec.strides, dtype=dtype, device=self._device)
        return torch.empty(spec.shape, dtype=dtype, device=self._device)

    def record_stream(self, library: str, array: Any, stream: int) -> None:
        """Calls torch's `record_stream`, unless `stream` is torch's current stream."""
        if library == "torch" and stream != self.stream_of("torch"):
            array.record_stream(
                sys.modules["torch"].cuda.ExternalStream(stream, device=self._index)
            )


def has_strides(library: str) -> bool:
    """Whether arrays of the library have strides. Those of jax are packed."""
    return library != "jax" or "jax.numpy" not in sys.modules


def hand_over(library: str, array: Any, spec: TensorSpec) -> Any:
    """Returns a result as an array of the first input's library. Must be called after the run is
    enqueued, because the library makes its stream wait for it."""
    if library not in ("jax", "cupy"):
        return array
    module = sys.modules.get("jax.numpy" if library == "jax" else library)
    made = module.from_dlpack(array) if module is not None else array
    return (
        made
        if spec.order is None or has_strides(library)
        else made.transpose(inverse_order(spec.order))
    )
