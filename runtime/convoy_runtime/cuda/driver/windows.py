# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Copies between the arrays of a call and the windows of a program's larger tensors. The call of a
2D copy takes several microseconds more than that of a copy of contiguous bytes.

What does not depend on the array is computed once, because every run of a program makes the copies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convoy_runtime.interface import Window

from .device import Driver

__all__ = ["Copy", "copy_in", "copy_out"]

#: Enqueues the copy of an array. Arguments: the address of the array, and the stream, a handle or a
#: CUstream. Raises CudaError.
Copy = Callable[[int, Any], None]


def copy_in(driver: Driver, buffer: int, window: Window, *, host: bool) -> Copy:
    """Returns a function that copies an array into its window of a buffer, and zeros into the rest.

    Args:
        driver: The CUDA driver.
        buffer: The address of the program's tensor.
        window: The window.
        host: Whether arrays are on the host.
    """
    copy = _copy(driver, "HtoD" if host else "DtoD", buffer, window)
    rest, rows = window.pitch - window.width, window.rows
    if not rest or not rows:
        return copy
    tail = driver.module.CUdeviceptr(buffer + window.width)

    def padded(array: int, stream: Any) -> None:
        if rows == 1:
            status = driver.module.cuMemsetD8Async(tail, 0, rest, stream)[0]
            if status:
                raise driver.error("cuMemsetD8Async", status)
        else:
            driver.call("cuMemsetD2D8Async", tail, window.pitch, 0, rest, rows, stream)
        copy(array, stream)

    return padded


def copy_out(driver: Driver, buffer: int, window: Window, *, host: bool) -> Copy:
    """Returns a function that copies the window of a buffer into an array. Arguments as
    `copy_in`."""
    return _copy(driver, "DtoH" if host else "DtoD", buffer, window, out=True)


def _nothing(_array: int, _stream: Any) -> None:
    """The copy of an array of no bytes."""


def _copy(
    driver: Driver, direction: str, buffer: int, window: Window, *, out: bool = False
) -> Copy:
    """Returns a function that copies the pieces of a window. `direction` is that of the driver's
    functions: HtoD, DtoH or DtoD."""
    rows, width, name = window.rows, window.width, f"cuMemcpy{direction}Async"
    if not rows or not width:
        return _nothing
    # The functions make this object of a number, and take 0.1 us longer.
    place = driver.module.CUdeviceptr(buffer)

    def contiguous(array: int, stream: Any) -> None:
        target, source = (array, place) if out else (place, array)
        status = getattr(driver.module, name)(target, source, width, stream)[0]
        if status:
            raise driver.error(name, status)

    def pieces(array: int, stream: Any) -> None:
        kinds = driver.module.CUmemorytype
        copy = driver.module.CUDA_MEMCPY2D()
        copy.WidthInBytes, copy.Height = width, rows
        (target, copy.dstPitch), (source, copy.srcPitch) = (
            ((array, width), (buffer, window.pitch))
            if out
            else ((buffer, window.pitch), (array, width))
        )
        if direction == "DtoH":
            copy.dstMemoryType, copy.dstHost = kinds.CU_MEMORYTYPE_HOST, target
        else:
            copy.dstMemoryType, copy.dstDevice = kinds.CU_MEMORYTYPE_DEVICE, target
        if direction == "HtoD":
            copy.srcMemoryType, copy.srcHost = kinds.CU_MEMORYTYPE_HOST, source
        else:
            copy.srcMemoryType, copy.srcDevice = kinds.CU_MEMORYTYPE_DEVICE, source
        driver.call("cuMemcpy2DAsync", copy, stream)

    return contiguous if rows == 1 else pieces
