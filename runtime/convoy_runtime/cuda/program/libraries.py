# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Calls into GPU array libraries, torch and cupy. They are looked up in `sys.modules` and never
imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from convoy_runtime.arrays import library_of
from convoy_runtime.cuda.driver.memory import DeviceArray
from convoy_runtime.manifest import TensorSpec
from convoy_runtime.strides import inverse_order
from convoy_runtime.torch_tensors import TorchTensors

__all__ = ["DLPACK_LEGACY_STREAM", "Libraries", "hand_over", "has_strides"]

#: DLPack's number of the legacy default stream, whose handle is 0.
DLPACK_LEGACY_STREAM = 1


class Libraries:
    """The array libraries, for the GPU `index`.

    Attributes:
        tensors: PyTorch's tensors on the GPU.
    """

    def __init__(self, index: int) -> None:
        self._index = index
        self.tensors = TorchTensors(index)

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
    # Those for PyTorch are its tensors, unless a mode of it gets its calls.
    is_made = library == "torch" and not (arrays and type(arrays[0]) is DeviceArray)
    if is_made or library not in ("jax", "cupy", "torch"):
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
