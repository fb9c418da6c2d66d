# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Device memory: allocations cut into aligned parts, a pool for results in stream order, and DLPack
arrays."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from ctypes import POINTER, c_char_p, c_int64, c_void_p, py_object
from typing import Any

from convoy_runtime.dlpack import CUDA, DLTensor
from convoy_runtime.dtypes import DTYPES
from convoy_runtime.errors import CudaError, DeviceError
from convoy_runtime.manifest import TensorSpec

from .device import Device, Driver, forked

__all__ = ["Allocation", "DeviceArray", "Lease", "Pool", "allocate", "carve", "carved_bytes"]

#: The alignment of cuMemAlloc and of every part of an allocation, in bytes. No cuDNN engine
#: requires more.
ALIGNMENT = 256


def allocate(driver: Driver, what: str, function: str, *arguments: Any) -> int:
    """Calls a function of the driver that allocates memory.

    Args:
        driver: The driver. The device is current.
        what: What is allocated, for the message of an error.
        function: The name of the function.
        arguments: Its arguments.

    Returns:
        The address.

    Raises:
        CudaError: There is too little memory. The message has `what`.
    """
    try:
        return int(driver.call(function, *arguments))
    except CudaError as error:
        description = f"{error.description}, for {what}"
        raise CudaError(
            call=error.call, name=error.name, description=description, hint=error.hint
        ) from error


class Allocation:
    """Memory of a device, freed with the last reference.

    Args:
        device: The GPU.
        size: The number of bytes.

    Attributes:
        pointer: The address; 0 if `size` is 0.

    Raises:
        CudaError: The device has too little memory. The message has the size.
    """

    def __init__(self, device: Device, size: int) -> None:
        self._device, self.size = device, size
        self.pointer = 0
        if size:
            with device.current():
                try:
                    self.pointer = allocate(device.driver, f"{size} bytes", "cuMemAlloc", size)
                except OverflowError as error:
                    problem = f"no GPU has {size} bytes of memory"
                    raise DeviceError(problem=problem) from error

    def __del__(self) -> None:
        pointer, self.pointer = self.pointer, 0
        # At exit the driver may already be unloaded, and has freed the memory.
        if pointer and not sys.is_finalizing() and not forked():
            with self._device.relaxed():
                self._device.driver.call("cuMemFree", pointer)


def carved_bytes(sizes: Sequence[int]) -> int:
    """The size of an allocation for `carve` with these sizes."""
    return sum(max(ALIGNMENT, -(-size // ALIGNMENT) * ALIGNMENT) for size in sizes)


def carve(place: Device | Allocation, sizes: Sequence[int]) -> tuple[Allocation, list[int]]:
    """Cuts an allocation into parts of `sizes` bytes. Parts of 0 bytes also have distinct
    addresses.

    Args:
        place: A device, for a new allocation, or an allocation of at least `carved_bytes(sizes)`.
        sizes: The size of each part.

    Returns:
        The allocation, and the pointer of each part.

    Raises:
        CudaError: The device has too little memory.
    """
    allocation = place if isinstance(place, Allocation) else Allocation(place, carved_bytes(sizes))
    ends = itertools.accumulate((carved_bytes([size]) for size in sizes), initial=0)
    return allocation, [allocation.pointer + end for end, _ in zip(ends, sizes, strict=False)]


class Pool:
    """A pool of memory for results. Memory is reused on the stream on which it was returned, where
    stream order makes that safe without waiting."""

    def __init__(self, device: Device) -> None:
        self._device = device
        # Reentrant: the garbage collector may run a destructor that returns memory while the lock
        # is held.
        self._lock = threading.RLock()
        self._closed = False
        self._free: defaultdict[tuple[int, int], list[Allocation]] = defaultdict(list)

    def take(self, size: int, stream: int) -> Allocation:
        """Returns memory of `size` bytes for use on `stream`. Raises CudaError."""
        with self._lock:
            free = self._free[stream, size]
            if free:
                return free.pop()
        return Allocation(self._device, size)

    def give(self, allocation: Allocation, stream: int) -> None:
        """Returns memory to the pool. Work in `stream` may still use it."""
        with self._lock:
            if not self._closed:
                self._free[stream, allocation.size].append(allocation)

    def close(self) -> None:
        """Frees the memory in the pool, and from now on memory that is returned."""
        with self._lock:
            self._closed = True
            self._free.clear()


class Lease:
    """Memory that returns to its pool with the last reference."""

    def __init__(self, pool: Pool, allocation: Allocation, stream: int) -> None:
        self._pool, self._allocation, self._stream = pool, allocation, stream

    def __del__(self) -> None:
        # In a forked process, a thread of the parent may hold the pool's lock.
        if not forked():
            self._pool.give(self._allocation, self._stream)


class DeviceArray:
    """A dense tensor on a GPU. Libraries share its memory by DLPack, e.g.
    `torch.from_dlpack(array)`."""

    def __init__(
        self,
        spec: TensorSpec,
        pointer: int,
        index: int,
        owner: Any,
        ready: Callable[[int | None], None],
    ) -> None:
        self.shape, self.dtype, self.pointer = spec.shape, spec.dtype, pointer
        self.strides = spec.all_strides
        self._index, self._owner, self._ready = index, owner, ready

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self._index

    def __dlpack__(self, *, stream: int | None = None, **_: Any) -> Any:
        """Returns a DLPack capsule. Later work of `stream` (DLPack's numbering) waits for the work
        that fills the array."""
        if stream != -1:
            self._ready(stream)
        return _export(self)

    def __repr__(self) -> str:
        return (
            f"<DeviceArray {self.dtype}[{', '.join(map(str, self.shape))}] on cuda:{self._index}>"
        )


class _DLManagedTensor(ctypes.Structure):
    _fields_ = (("tensor", DLTensor), ("manager", c_void_p), ("deleter", c_void_p))


#: Exported tensors by address: the structure, its dims, and the array that owns the memory.
_exported: dict[int, tuple[Any, ...]] = {}

_new = ctypes.PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
# By address, not as objects: a destructor must not create a reference to its capsule.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_get_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _forget(address: int) -> None:
    _exported.pop(address, None)


def _forget_unused(
    capsule: int,
    is_valid: Callable[[int, bytes], int] = _is_valid,
    get_pointer: Callable[[int, bytes], int] = _get_pointer,
    exported: dict[int, tuple[Any, ...]] = _exported,
) -> None:
    """The destructor of a capsule: releases its tensor if no consumer has taken it. A consumer
    renames the capsule, and calls the tensor's deleter later. The functions are default arguments,
    because the interpreter clears the globals of a module before it frees the last capsules."""
    if is_valid(capsule, b"dltensor"):
        exported.pop(get_pointer(capsule, b"dltensor"), None)


# Consumers call the deleter from any thread, with or without the GIL. CFUNCTYPE acquires it.
_safe_deleter = ctypes.CFUNCTYPE(None, c_void_p)(_forget)
_destructor_type = ctypes.PYFUNCTYPE(None, c_void_p)
_destructor = _destructor_type(_forget_unused)
_deleter: c_void_p | None = ctypes.cast(_safe_deleter, c_void_p)


@atexit.register
def _leave_exported() -> None:
    """Leaves tensors that libraries still have when the interpreter ends. They release the last
    ones after it has freed the code of the deleter; DLPack allows tensors that have none."""
    global _deleter
    _deleter = None
    for managed, *_ in list(_exported.values()):
        managed.deleter = None
    for kept in (_exported, _destructor):
        ctypes.pythonapi.Py_IncRef(py_object(kept))


def _export(array: DeviceArray) -> Any:
    rank = len(array.shape)
    shape = (c_int64 * max(1, rank))(*array.shape)
    strides = (c_int64 * max(1, rank))(*array.strides)
    code, bits = DTYPES[array.dtype].dlpack
    pointers = ctypes.cast(shape, POINTER(c_int64)), ctypes.cast(strides, POINTER(c_int64))
    tensor = DLTensor(array.pointer, CUDA, array._index, rank, code, bits, 1, *pointers, 0)
    managed = _DLManagedTensor(tensor, None, _deleter)
    address = ctypes.addressof(managed)
    _exported[address] = (managed, shape, strides, array)
    return _new(address, b"dltensor", ctypes.cast(_destructor, c_void_p))
