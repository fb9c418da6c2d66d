"""Device memory: one allocation cut into aligned parts, results that come and go in a stream's
order, and both as DLPack arrays."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from ctypes import POINTER, c_char_p, c_int64, c_void_p, py_object
from math import prod
from typing import Any

from convoy_runtime.arrays import CUDA, DLTensor
from convoy_runtime.dtypes import DTYPES
from convoy_runtime.errors import CudaError, DeviceError
from convoy_runtime.manifest import TensorSpec

from .device import Device, forked

__all__ = ["Allocation", "DeviceArray", "Lease", "Pool", "carve"]

#: What cuMemAlloc gives, and what every part of an allocation keeps: more than any engine of cuDNN
#: asks for.
ALIGNMENT = 256


class Allocation:
    """Memory of a device, freed with the last reference; `pointer` is 0 when `size` is. Raises
    CudaError, which names the bytes."""

    def __init__(self, device: Device, size: int) -> None:
        self._device, self.size = device, size
        self.pointer = 0
        if size:
            with device.current():
                try:
                    self.pointer = int(device.driver.call("cuMemAlloc", size))
                except CudaError as error:
                    what = f"{error.description}, for {size} bytes"
                    raise CudaError(
                        call=error.call, name=error.name, description=what, hint=error.hint
                    ) from error
                except OverflowError as error:
                    problem = f"no GPU has memory of {size} bytes"
                    raise DeviceError(problem=problem) from error

    def __del__(self) -> None:
        pointer, self.pointer = self.pointer, 0
        # At exit the driver may be gone before we are, and takes the memory with it.
        if pointer and not sys.is_finalizing() and not forked():
            with self._device.finalizing():
                self._device.driver.call("cuMemFree", pointer)


def carve(device: Device, sizes: Sequence[int]) -> tuple[Allocation, list[int]]:
    """One allocation for parts of `sizes` bytes, and the pointer of each; a part of 0 bytes has an
    address of its own as well."""
    offsets, total = [], 0
    for size in sizes:
        offsets.append(total)
        total += max(ALIGNMENT, -(-size // ALIGNMENT) * ALIGNMENT)
    allocation = Allocation(device, total)
    return allocation, [allocation.pointer + offset for offset in offsets]


class Pool:
    """Memory for results. What a stream gives back, the same stream gets again: its own order makes
    that safe without waiting."""

    def __init__(self, device: Device) -> None:
        self._device = device
        # Reentrant: memory may come back from a destructor that the garbage collector runs while we
        # hold it.
        self._lock = threading.RLock()
        self._closed = False
        self._free: defaultdict[tuple[int, int], list[Allocation]] = defaultdict(list)

    def take(self, size: int, stream: int) -> Allocation:
        """Memory of `size` bytes for use on `stream`."""
        with self._lock:
            free = self._free[stream, size]
            if free:
                return free.pop()
        return Allocation(self._device, size)

    def give(self, allocation: Allocation, stream: int) -> None:
        """Takes memory back. Work on it that is already in `stream` may still be under way."""
        with self._lock:
            if not self._closed:
                self._free[stream, allocation.size].append(allocation)

    def close(self) -> None:
        """Frees what lies here, and from now on what comes back."""
        with self._lock:
            self._closed = True
            self._free.clear()


class Lease:
    """Memory that goes back to the pool of its stream with the last reference."""

    def __init__(self, pool: Pool, allocation: Allocation, stream: int) -> None:
        self._pool, self._allocation, self._stream = pool, allocation, stream

    def __del__(self) -> None:
        # In a child of fork the pool's lock may be held by a thread that is not here.
        if not forked():
            self._pool.give(self._allocation, self._stream)


class DeviceArray:
    """A packed tensor on a GPU that any library can take by DLPack, as `torch.from_dlpack(array)`;
    it shares the memory."""

    def __init__(
        self,
        spec: TensorSpec,
        pointer: int,
        index: int,
        owner: Any,
        ready: Callable[[int | None], None],
    ) -> None:
        self.shape, self.dtype, self.pointer = spec.shape, spec.dtype, pointer
        self._index, self._owner, self._ready = index, owner, ready

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self._index

    def __dlpack__(self, *, stream: int | None = None, **_: Any) -> Any:
        """A DLPack capsule. Work that fills the array is done before what `stream` (DLPack's
        numbering) does next."""
        if stream != -1:
            self._ready(stream)
        return _export(self)

    def __repr__(self) -> str:
        return (
            f"<DeviceArray {self.dtype}[{', '.join(map(str, self.shape))}] on cuda:{self._index}>"
        )


class _DLManagedTensor(ctypes.Structure):
    _fields_ = (("tensor", DLTensor), ("manager", c_void_p), ("deleter", c_void_p))


#: What has been handed out, by address: the structure, its dims, and whose memory it is.
_exported: dict[int, tuple[Any, ...]] = {}


def _forget(address: int) -> None:
    _exported.pop(address, None)


def _forget_unused(capsule: int) -> None:
    # A capsule that someone took has another name by now, and that someone calls the deleter.
    if _is_valid(capsule, b"dltensor"):
        _forget(_get_pointer(capsule, b"dltensor"))


# Consumers call the deleter from any thread, with or without the interpreter's lock; this kind of
# callback takes it.
_safe_deleter = ctypes.CFUNCTYPE(None, c_void_p)(_forget)
_destructor_type = ctypes.PYFUNCTYPE(None, c_void_p)
_destructor = _destructor_type(_forget_unused)

_new = ctypes.PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
# By address, not as objects: in a destructor the capsule is on its way out and must not be
# referenced again.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_get_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _export(array: DeviceArray) -> Any:
    rank = len(array.shape)
    shape = (c_int64 * max(1, rank))(*array.shape)
    strides = (c_int64 * max(1, rank))(*(prod(array.shape[axis + 1 :]) for axis in range(rank)))
    code, bits = DTYPES[array.dtype].dlpack
    pointers = ctypes.cast(shape, POINTER(c_int64)), ctypes.cast(strides, POINTER(c_int64))
    tensor = DLTensor(array.pointer, CUDA, array._index, rank, code, bits, 1, *pointers, 0)
    managed = _DLManagedTensor(tensor, None, ctypes.cast(_safe_deleter, c_void_p))
    address = ctypes.addressof(managed)
    _exported[address] = (managed, shape, strides, array)
    return _new(address, b"dltensor", ctypes.cast(_destructor, c_void_p))
