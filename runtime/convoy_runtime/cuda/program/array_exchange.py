# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Borrows the input arrays of calls and allocates arrays for their results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from convoy_runtime.arrays import CUDA, View, check, is_placed, library_of, view
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.memory import Allocation, DeviceArray, Lease, Pool
from convoy_runtime.errors import ArgumentError
from convoy_runtime.manifest import TensorSpec

from .libraries import Libraries, has_strides

__all__ = ["ArrayExchange", "Ready"]

#: Makes a consumer's stream, in DLPack's numbering, wait for the run that fills a `DeviceArray`.
Ready = Callable[[int | None], None]


class ArrayExchange:
    """The arrays that a program on `device` reads and returns.

    It does not refer to the program, so that no reference cycle delays the program's destruction.

    Attributes:
        libraries: The array libraries.
    """

    def __init__(self, device: Device) -> None:
        self.libraries = Libraries(device.index)
        self._device, self._pool = (CUDA, device.index), Pool(device)

    def plain_inputs(
        self, arrays: Sequence[Any], specs: Sequence[TensorSpec]
    ) -> list[tuple[int, object]] | None:
        """Returns the pointers of torch tensors that need no stream order, no checks and no copy,
        and the tensors; None if one array is not such a tensor.

        Args:
            arrays: The inputs.
            specs: Their specs.
        """
        if len(arrays) != len(specs):
            return None
        found: list[tuple[int, object]] = []
        for array, spec in zip(arrays, specs, strict=True):
            if (pointer := self.libraries.pointer(array, spec)) is None:
                return None
            found.append((pointer, array))
        return found

    def stored_inputs(
        self,
        arrays: Sequence[Any],
        specs: Sequence[TensorSpec],
        views: Sequence[View],
        stream: int,
    ) -> list[tuple[int, object]]:
        """Returns the pointers of inputs, and the objects that keep their memory alive. Inputs that
        have other strides than their spec are copied by their library.

        Args:
            arrays: The inputs.
            specs: Their specs.
            views: The borrowed inputs.
            stream: The handle of the stream of the run.

        Raises:
            ArgumentError: An input has other strides, and its library is unknown.
        """
        found: list[tuple[int, object]] = []
        for array, spec, borrowed in zip(arrays, specs, views, strict=True):
            placed = is_placed(borrowed, spec)
            got = borrowed if placed else self._stored(array, spec, borrowed, stream)
            found.append((got.pointer, got))
        return found

    def _stored(self, array: Any, spec: TensorSpec, got: View, stream: int) -> View:
        """Returns a view of a copy of an input that is packed in the order of the spec."""
        name, library = f"input {spec.name!r}", library_of(array)
        if (copy := self.libraries.stored(library, array, spec)) is None:
            raise ArgumentError(
                argument=name,
                problem="wrong strides, and its library is unknown",
                expected=str(list(spec.all_strides)),
                got=str(list(got.strides)),
            )
        self.libraries.record_stream(library, copy, stream)
        found = view(copy, name, stream=self.libraries.producer_stream(stream)(copy))
        check(found, spec.stored, name, self._device)
        return found

    def result(
        self, library: str, spec: TensorSpec, stream: int, own: int, ready: Ready
    ) -> tuple[Any, int]:
        """Allocates an array for a result.

        Args:
            library: The library of the first input.
            spec: The output.
            stream: The handle of the stream of the run.
            own: The library's current stream.
            ready: Called before a consumer reads the array.

        Returns:
            A torch tensor or a `DeviceArray`, and its pointer.

        Raises:
            CudaError: The device has too little memory.
        """
        if library == "torch" and library in sys.modules:
            tensor = self.libraries.empty(spec)
            if stream != own:
                self.libraries.record_stream(library, tensor, stream)
            return tensor, tensor.data_ptr()
        memory = self._pool.take(spec.bytes, stream)
        owner = Lease(self._pool, memory, stream)
        # `hand_over` transposes an array of a library without strides.
        spec = spec if has_strides(library) else spec.stored
        return DeviceArray(spec, memory.pointer, self._device[1], owner, ready), memory.pointer

    def static_arrays(
        self,
        specs: Sequence[TensorSpec],
        pointers: Sequence[int],
        memory: Allocation,
        ready: Ready,
    ) -> tuple[DeviceArray, ...]:
        """Returns arrays on the static buffers of the program.

        Args:
            specs: The inputs or outputs.
            pointers: The pointer of each.
            memory: The allocation, which the arrays keep alive.
            ready: Called before a consumer reads an array.
        """
        return tuple(
            DeviceArray(spec, pointer, self._device[1], memory, ready)
            for spec, pointer in zip(specs, pointers, strict=True)
        )

    def close(self) -> None:
        """Frees the pooled memory, and from now on memory that is returned to the pool."""
        self._pool.close()
