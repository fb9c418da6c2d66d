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

from .cuda_interface import CudaInterface
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

    def stored_inputs(
        self,
        arrays: Sequence[Any],
        specs: Sequence[TensorSpec],
        views: Sequence[View],
        stream: int,
    ) -> list[View]:
        """Returns views of inputs that have the strides of their specs. Those that have others are
        copied by their library.

        Args:
            arrays: The inputs.
            specs: Their specs.
            views: The borrowed inputs.
            stream: The handle of the stream of the run.

        Raises:
            ArgumentError: An input has other strides, and its library is unknown.
        """
        return [
            got if is_placed(got, spec) else self._stored(array, spec, got, stream)
            for array, spec, got in zip(arrays, specs, views, strict=True)
        ]

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

    def results(
        self, library: str, call: CudaInterface, stream: int, own: int, ready: Ready
    ) -> tuple[list[Any], list[int]]:
        """Allocates arrays for the results.

        Args:
            library: The library of the first input.
            call: The interface of the call.
            stream: The handle of the stream of the run.
            own: The library's current stream.
            ready: Called before a consumer reads an array.

        Returns:
            A torch tensor or a `DeviceArray` for each output, and their pointers.

        Raises:
            CudaError: The device has too little memory.
        """
        if library == "torch" and library in sys.modules:
            tensors = self.libraries.tensors.empty(call.results)
            if tensors is not None:
                if stream != own:
                    for tensor in tensors:
                        self.libraries.record_stream(library, tensor, stream)
                return tensors, [tensor.data_ptr() for tensor in tensors]
        arrays: list[Any] = []
        pointers: list[int] = []
        for spec in call.outputs:
            memory = self._pool.take(spec.bytes, stream)
            owner = Lease(self._pool, memory, stream)
            # `hand_over` transposes an array of a library without strides.
            given = spec if has_strides(library) else spec.stored
            arrays.append(DeviceArray(given, memory.pointer, self._device[1], owner, ready))
            pointers.append(memory.pointer)
        return arrays, pointers

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
