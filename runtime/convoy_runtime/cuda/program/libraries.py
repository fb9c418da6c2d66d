"""What the arrays' own libraries are asked on a GPU: torch and cupy, which are looked up among the
loaded modules and never imported."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from convoy_runtime.arrays import library_of
from convoy_runtime.manifest import TensorSpec

__all__ = ["DLPACK_LEGACY_STREAM", "Libraries", "hand_over"]

#: DLPack's number of the legacy default stream, whose handle is 0.
DLPACK_LEGACY_STREAM = 1


class Libraries:
    """The libraries, on the GPU with this index."""

    def __init__(self, index: int) -> None:
        self._index, self._device = index, f"cuda:{index}"

    def stream_of(self, library: str) -> int:
        """The stream that the library works on now."""
        module = sys.modules.get(library)
        if library == "torch" and module is not None:
            return int(module.cuda.current_stream(self._index).cuda_stream)
        if library == "cupy" and module is not None:
            return int(module.cuda.get_current_stream().ptr)
        return 0

    def producer_stream(self, stream: int) -> Callable[[Any], int]:
        """What DLPack is told of a run on `stream`: the producer must make it wait, unless it works
        there itself (-1)."""

        def of(array: Any) -> int:
            library = library_of(array)
            if library in ("torch", "cupy") and self.stream_of(library) == stream:
                return -1
            return stream or DLPACK_LEGACY_STREAM

        return of

    def pointer(self, array: Any, spec: TensorSpec) -> int | None:
        """Where a torch tensor lies that is exactly what `spec` wants; None for everything else,
        which DLPack has the word on. DLPack takes torch several microseconds."""
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
            and array.is_contiguous()
            and not array.requires_grad
            and not array.is_neg()
        )
        return int(array.data_ptr()) if plain else None

    def packed(self, library: str, array: Any) -> Any:
        """A packed copy by the array's library; None when that is not known."""
        if library == "torch":
            return array.contiguous()
        return sys.modules["cupy"].ascontiguousarray(array) if library == "cupy" else None

    def empty(self, spec: TensorSpec) -> Any:
        """A new tensor of torch's own allocator, so that it obeys torch's rules."""
        torch = sys.modules["torch"]
        return torch.empty(spec.shape, dtype=getattr(torch, spec.dtype), device=self._device)

    def record_stream(self, library: str, array: Any, stream: int) -> None:
        """Tells torch's allocator that memory of its current stream is used on `stream`, when that
        is another one."""
        if library == "torch" and stream != self.stream_of("torch"):
            array.record_stream(
                sys.modules["torch"].cuda.ExternalStream(stream, device=self._index)
            )


def hand_over(library: str, array: Any) -> Any:
    """A result to the library of the first input; not before the run is enqueued, which is what
    that library has to wait for."""
    if library not in ("jax", "cupy"):
        return array
    module = sys.modules.get("jax.numpy" if library == "jax" else library)
    return module.from_dlpack(array) if module is not None else array
