"""Arrays in and out. Any library that speaks DLPack will do; its objects are looked at through the
protocol, never imported.

Reading: `view` borrows an array and says where it lies. Writing: `aligned_empty` allocates,
    `from_numpy` hands a result over to the library of the first input.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from .dtypes import BY_DLPACK, DTYPES, name_of_numpy
from .errors import ArgumentError, ConvoyRuntimeError
from .manifest import TensorSpec

__all__ = [
    "CPU",
    "CUDA",
    "View",
    "aligned_copy",
    "aligned_empty",
    "check",
    "from_numpy",
    "host_array",
    "is_packed",
    "library_of",
    "view",
]

#: DLPack's device kinds. Pinned and managed memory can be read where the kind beside it can.
CPU, CUDA = 1, 2
_DEVICES = {1: "cpu", 2: "cuda", 3: "cuda_host", 13: "cuda_managed"}
ALIGNMENT = 64


class DLTensor(ctypes.Structure):
    """DLPack's tensor (dlpack.h)."""

    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = c_void_p, (ctypes.py_object, c_char_p)
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = c_int, (ctypes.py_object, c_char_p)


@dataclass(frozen=True, slots=True)
class View:
    """Where a borrowed array lies. `strides` are in elements; `owner` keeps the memory alive as
    long as the view."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: tuple[int, int]
    owner: Any

    @property
    def device_name(self) -> str:
        """As `cpu` or `cuda:0`."""
        kind, index = self.device
        name = _DEVICES.get(kind, f"DLPack device {kind}")
        return name if kind == CPU else f"{name}:{index}"


def library_of(array: Any) -> str:
    """The name of the top package that an array's type is from: numpy, torch, cupy, jax, or
    another."""
    name = type(array).__module__.partition(".")[0]
    return "jax" if name == "jaxlib" else name


def view(array: Any, name: str, *, stream: int | None = None) -> View:
    """Borrows `array`, which is argument `name`. A producer on a GPU makes `stream` (DLPack's
    numbering) wait for its own work.

    Raises ArgumentError, also for an array whose memory does not hold its values: a numpy array
    with a mask, and a torch tensor that is a negative view by a bit.
    """
    if isinstance(array, np.ndarray):
        if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):
            got = "a masked array; call its filled() first"
            raise ArgumentError(
                argument=name, problem="has a mask", expected="an array without a mask", got=got
            )
        size = array.dtype.itemsize or 1
        # A stride that is no multiple of the element cannot be said in elements; -1 elements never
        # counts as packed.
        strides = tuple(s // size if s % size == 0 else -1 for s in array.strides)
        return View(
            array.ctypes.data, array.shape, strides, name_of_numpy(array.dtype), (CPU, 0), array
        )
    export = getattr(array, "__dlpack__", None)
    if export is None:
        expected = "an array that speaks DLPack (torch, numpy, cupy, jax)"
        raise ArgumentError(
            argument=name, problem="is no array", expected=expected, got=type(array).__qualname__
        )
    is_negative = getattr(array, "is_neg", None)
    if is_negative is not None and is_negative():
        expected, got = (
            "a tensor whose memory holds its values",
            "a view that negates them; call its resolve_neg() first",
        )
        raise ArgumentError(
            argument=name, problem="has torch's negative bit", expected=expected, got=got
        )
    try:
        on_gpu = stream is not None and array.__dlpack_device__()[0] != CPU
        capsule = export(stream=stream) if on_gpu else export()
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ArgumentError(
            argument=name, problem=f"its library does not hand it out: {error}"
        ) from error
    if not _is_valid(capsule, b"dltensor"):
        raise ArgumentError(
            argument=name, problem="its __dlpack__ gave something that is no DLPack capsule"
        )
    tensor = DLTensor.from_address(_get_pointer(capsule, b"dltensor"))
    rank = tensor.ndim
    shape = tuple(tensor.shape[:rank])
    strides = tuple(tensor.strides[:rank]) if tensor.strides else _packed_strides(shape)
    dtype = BY_DLPACK.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    dtype_name = (
        dtype.name if dtype else f"DLPack type {tensor.code}, {tensor.bits} bits x {tensor.lanes}"
    )
    # The capsule, never renamed, owns the tensor: it is given back when the view goes.
    return View(
        (tensor.data or 0) + tensor.byte_offset,
        shape,
        strides,
        dtype_name,
        (tensor.device_type, tensor.device_id),
        (array, capsule),
    )


def check(got: View, spec: TensorSpec, name: str, device: tuple[int, int]) -> None:
    """Raises ArgumentError unless shape, dtype and device are those of `spec` on `device`."""
    if got.shape != spec.shape:
        raise ArgumentError(
            argument=name,
            problem="wrong shape",
            expected=str(list(spec.shape)),
            got=str(list(got.shape)),
        )
    bits = spec.dtype == "bfloat16" and got.dtype == "uint16" and isinstance(got.owner, np.ndarray)
    if got.dtype != spec.dtype and not bits:
        raise ArgumentError(
            argument=name, problem="wrong dtype", expected=spec.dtype, got=got.dtype
        )
    kind, index = got.device
    same = kind in (1, 3) if device[0] == CPU else (kind, index) == device
    if not same:
        want = "cpu" if device[0] == CPU else f"cuda:{device[1]}"
        hint = (
            ""
            if device[0] == CPU
            else "; move it there first, or call run_numpy, which copies both ways"
        )
        raise ArgumentError(
            argument=name, problem="wrong device", expected=want, got=got.device_name + hint
        )


@lru_cache(maxsize=1024)
def _packed_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def is_packed(got: View) -> bool:
    """Whether the elements lie row-major without gaps. Dims of size 1 may have any stride."""
    if 0 in got.shape:
        return True
    packed = _packed_strides(got.shape)
    return got.strides == packed or all(
        size == 1 or ours == theirs
        for size, ours, theirs in zip(got.shape, packed, got.strides, strict=True)
    )


def aligned_empty(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """A new packed array that starts at a multiple of 64 bytes, of the storage type of `dtype`; its
    content is not set. Raises ConvoyRuntimeError, which names the bytes, when there is no
    memory."""
    return _aligned(shape, DTYPES[dtype].storage)


def _aligned(shape: tuple[int, ...], storage: np.dtype) -> np.ndarray:
    size = prod(shape) * storage.itemsize
    try:
        raw = np.empty(size + ALIGNMENT, dtype=np.uint8)
    except (MemoryError, ValueError) as error:
        problem = f"no memory of {size} bytes for {storage} of shape {list(shape)}"
        raise ConvoyRuntimeError(problem) from error
    begin = -raw.ctypes.data % ALIGNMENT
    return raw[begin : begin + size].view(storage).reshape(shape)


def host_array(got: View) -> np.ndarray:
    """The elements of a view in host memory as a numpy array of the storage type, without a copy,
    with the view's strides."""
    if isinstance(got.owner, np.ndarray):
        array = got.owner
        return array if got.dtype != "bfloat16" else array.view(np.uint16)
    storage = DTYPES[got.dtype].storage
    extent = (
        0
        if 0 in got.shape
        else 1
        + sum((size - 1) * stride for size, stride in zip(got.shape, got.strides, strict=True))
    )
    memory = (c_uint8 * (extent * storage.itemsize)).from_address(got.pointer) if extent else b""
    strides = tuple(stride * storage.itemsize for stride in got.strides)
    return np.ndarray(
        got.shape, storage, buffer=memoryview(memory), strides=strides if extent else None
    )


def aligned_copy(got: View) -> np.ndarray:
    """A packed, 64-byte aligned copy of a view in host memory."""
    source = host_array(got)
    copy = _aligned(got.shape, source.dtype)
    np.copyto(copy, source)
    return copy


def from_numpy(library: str, array: np.ndarray, dtype: str) -> Any:
    """Hands a result over to `library`, without a copy where that library allows it; numpy, and
    libraries unknown, get `array`."""
    module = sys.modules.get({"jax": "jax.numpy"}.get(library, library))
    if library == "numpy" or module is None or not hasattr(module, "from_dlpack"):
        return array
    if dtype != "bfloat16":
        return module.from_dlpack(array)
    # numpy has no such type: hand over the bits, and let the other side call them what they are.
    return module.from_dlpack(array.view(np.int16)).view(module.bfloat16)
