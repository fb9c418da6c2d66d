# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Copies between the arrays of a call and the windows of a program's larger tensors. The call of a
2D copy takes several microseconds more than that of a copy of contiguous bytes."""

from __future__ import annotations

from convoy_runtime.interface import Window

from .device import Driver

__all__ = ["copy_in", "copy_out"]


def copy_in(
    driver: Driver, buffer: int, source: int, window: Window, stream: int, *, host: bool
) -> None:
    """Enqueues a copy of an array into its window of a buffer, and zeros for the rest.

    Args:
        driver: The CUDA driver.
        buffer: The address of the program's tensor.
        source: The address of the array.
        window: The window.
        stream: The handle of the stream.
        host: Whether the array is on the host.

    Raises:
        CudaError: The driver fails.
    """
    rest, tail = window.pitch - window.width, buffer + window.width
    if rest and window.rows == 1:
        driver.call("cuMemsetD8Async", tail, 0, rest, stream)
    elif rest and window.rows:
        driver.call("cuMemsetD2D8Async", tail, window.pitch, 0, rest, window.rows, stream)
    direction = "HtoD" if host else "DtoD"
    _copy(driver, direction, (buffer, window.pitch), (source, window.width), window, stream)


def copy_out(
    driver: Driver, target: int, buffer: int, window: Window, stream: int, *, host: bool
) -> None:
    """Enqueues a copy of the window of a buffer into an array. Arguments and errors as
    `copy_in`."""
    direction = "DtoH" if host else "DtoD"
    _copy(driver, direction, (target, window.width), (buffer, window.pitch), window, stream)


def _copy(
    driver: Driver,
    direction: str,
    target: tuple[int, int],
    source: tuple[int, int],
    window: Window,
    stream: int,
) -> None:
    """Copies the pieces of a window. `direction` is that of the driver's functions: HtoD, DtoH or
    DtoD. `target` and `source` are address and pitch."""
    if not window.rows or not window.width:
        return
    if window.rows == 1:
        driver.call(f"cuMemcpy{direction}Async", target[0], source[0], window.width, stream)
        return
    kinds = driver.module.CUmemorytype
    copy = driver.module.CUDA_MEMCPY2D()
    copy.WidthInBytes, copy.Height = window.width, window.rows
    copy.dstPitch, copy.srcPitch = target[1], source[1]
    if direction == "DtoH":
        copy.dstMemoryType, copy.dstHost = kinds.CU_MEMORYTYPE_HOST, target[0]
    else:
        copy.dstMemoryType, copy.dstDevice = kinds.CU_MEMORYTYPE_DEVICE, target[0]
    if direction == "HtoD":
        copy.srcMemoryType, copy.srcHost = kinds.CU_MEMORYTYPE_HOST, source[0]
    else:
        copy.srcMemoryType, copy.srcDevice = kinds.CU_MEMORYTYPE_DEVICE, source[0]
    driver.call("cuMemcpy2DAsync", copy, stream)
