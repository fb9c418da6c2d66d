# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Copies between the arrays of a call and the windows of a program's larger tensors. The call of a
2D copy takes several microseconds more than that of a copy of contiguous bytes."""

from __future__ import annotations

from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.interface import Window

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
    if not window.rows or not window.width:
        return
    if window.rows == 1:
        name = "cuMemcpyHtoDAsync" if host else "cuMemcpyDtoDAsync"
        driver.call(name, buffer, source, window.width, stream)
        return
    kinds = driver.module.CUmemorytype
    place = kinds.CU_MEMORYTYPE_HOST if host else kinds.CU_MEMORYTYPE_DEVICE
    _copy(
        driver,
        (buffer, window.pitch, kinds.CU_MEMORYTYPE_DEVICE),
        (source, window.width, place),
        window,
        stream,
    )


def copy_out(
    driver: Driver, target: int, buffer: int, window: Window, stream: int, *, host: bool
) -> None:
    """Enqueues a copy of the window of a buffer into an array. Arguments and errors as
    `copy_in`."""
    if not window.rows or not window.width:
        return
    if window.rows == 1:
        name = "cuMemcpyDtoHAsync" if host else "cuMemcpyDtoDAsync"
        driver.call(name, target, buffer, window.width, stream)
        return
    kinds = driver.module.CUmemorytype
    place = kinds.CU_MEMORYTYPE_HOST if host else kinds.CU_MEMORYTYPE_DEVICE
    _copy(
        driver,
        (target, window.width, place),
        (buffer, window.pitch, kinds.CU_MEMORYTYPE_DEVICE),
        window,
        stream,
    )


def _copy(
    driver: Driver,
    target: tuple[int, int, int],
    source: tuple[int, int, int],
    window: Window,
    stream: int,
) -> None:
    """Copies the pieces of a window. `target` and `source` are address, pitch and memory type."""
    copy = driver.module.CUDA_MEMCPY2D()
    copy.WidthInBytes, copy.Height = window.width, window.rows
    to, copy.dstPitch, copy.dstMemoryType = target
    begin, copy.srcPitch, copy.srcMemoryType = source
    if copy.dstMemoryType == driver.module.CUmemorytype.CU_MEMORYTYPE_HOST:
        copy.dstHost = to
    else:
        copy.dstDevice = to
    if copy.srcMemoryType == driver.module.CUmemorytype.CU_MEMORYTYPE_HOST:
        copy.srcHost = begin
    else:
        copy.srcDevice = begin
    driver.call("cuMemcpy2DAsync", copy, stream)
