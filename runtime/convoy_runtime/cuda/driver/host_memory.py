# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Page-locked host memory for copies to and from a device."""

from __future__ import annotations

import ctypes
import itertools
import sys
from collections.abc import Sequence

import numpy as np

from convoy_runtime.dtypes import DTYPES
from convoy_runtime.manifest import TensorSpec

from .device import Device, forked
from .memory import allocate, carved_bytes

__all__ = ["HostMemory"]


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

    def arrays(self, specs: Sequence[TensorSpec]) -> list[np.ndarray]:
        """Returns packed arrays in this memory. They are valid until the next call.

        Args:
            specs: The tensors. An array has the order of their dims in memory and the storage type
                of their dtype.

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
            np.ndarray(
                spec.shape,
                DTYPES[spec.dtype].storage,
                memoryview((ctypes.c_uint8 * spec.bytes).from_address(self._pointer + start)),
            )
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
