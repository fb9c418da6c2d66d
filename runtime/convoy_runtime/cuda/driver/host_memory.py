# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Page-locked host memory for copies to and from a device."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from convoy_runtime.dtypes import DTYPES
from convoy_runtime.manifest import TensorSpec

from .device import Device, forked
from .memory import allocate, carved_bytes

__all__ = ["HostMemory", "HostResults"]

#: The most results of a program in page-locked memory, and the most bytes of one.
_MOST_RESULTS: Final = 4
_MOST_RESULT_BYTES: Final = 64 << 20


class HostMemory:
    """Host memory that the device reads and writes directly. From other memory the driver copies in
    pieces through its own, and blocks the thread for that time.

    It has the size of the largest `arrays`, and is freed by `close` or with the last reference.

    Args:
        device: The GPU.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._pointer = self._size = 0

    def arrays(self, specs: Sequence[TensorSpec], owner: object = None) -> list[np.ndarray]:
        """Returns packed arrays in this memory. They are valid until the next call.

        Args:
            specs: The tensors. An array has the order of their dims in memory and the storage type
                of their dtype.
            owner: An object that the arrays keep alive.

        Raises:
            CudaError: The host has too little memory that can be page-locked. The message has the
                size.
        """
        stored = [spec.stored for spec in specs]
        sizes = [spec.bytes for spec in stored]
        if (size := carved_bytes(sizes)) > self._size:
            self.close()
            self._allocate(size)
        starts = itertools.accumulate((carved_bytes([each]) for each in sizes), initial=0)
        return [
            np.asarray(_Memory(self._pointer + start, spec.bytes, owner))
            .view(DTYPES[spec.dtype].storage)
            .reshape(spec.shape)
            for spec, start in zip(stored, starts, strict=False)
        ]

    def close(self) -> None:
        """Frees the memory."""
        pointer, self._pointer, self._size = self._pointer, 0, 0
        # At exit the driver may already be unloaded, and has freed the memory.
        if pointer and not sys.is_finalizing() and not forked():
            with self._device.relaxed():
                self._device.driver.call("cuMemFreeHost", pointer)

    def __del__(self) -> None:
        self.close()

    def _allocate(self, size: int) -> None:
        driver = self._device.driver
        with self._device.current():
            self._pointer = allocate(
                driver,
                f"{size} bytes of page-locked host memory",
                "cuMemHostAlloc",
                size,
                driver.module.CU_MEMHOSTALLOC_PORTABLE,
            )
        self._size = size


class HostResults:
    """Memory for the results of calls with host arrays, into which the device writes. It is used
    again once no array refers to it, so that a call that follows neither copies its results nor
    touches new pages.

    Args:
        device: The GPU.
    """

    def __init__(self, device: Device) -> None:
        self._device, self._count, self._closed = device, 0, False
        self._free: list[HostMemory] = []

    def arrays(self, specs: Sequence[TensorSpec]) -> list[np.ndarray] | None:
        """Returns packed arrays for a result; None if too many earlier ones are still referred to,
        or the result is too large. One thread at a time may call this.

        Args:
            specs: As of `HostMemory.arrays`.

        Raises:
            CudaError: As `HostMemory.arrays`.
        """
        if carved_bytes([spec.stored.bytes for spec in specs]) > _MOST_RESULT_BYTES:
            return None
        try:
            memory = self._free.pop()
        except IndexError:
            if self._count == _MOST_RESULTS:
                return None
            memory = HostMemory(self._device)
            self._count += 1
        return memory.arrays(specs, _Lease(self, memory))

    def give(self, memory: HostMemory) -> None:
        """Returns memory that no array refers to. Any thread may call this."""
        # The operations on the list are atomic, because the garbage collector may call this at any
        # point of `arrays`.
        if not self._closed:
            self._free.append(memory)

    def close(self) -> None:
        """Frees the memory that no array refers to, and from now on what is returned."""
        self._closed = True
        self._free.clear()


class _Lease:
    """Memory that returns to its pool with the last reference."""

    def __init__(self, pool: HostResults, memory: HostMemory) -> None:
        self._pool, self._memory = pool, memory

    def __del__(self) -> None:
        self._pool.give(self._memory)


class _Memory:
    """Bytes as numpy reads them. An array on them keeps this object alive."""

    def __init__(self, pointer: int, size: int, owner: object) -> None:
        self._owner = owner
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "data": (pointer, False),
            "shape": (size,),
            "typestr": "|u1",
        }
