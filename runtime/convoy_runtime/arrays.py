# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Input and output arrays of any library that supports DLPack. Only the protocol is used; no array
library besides numpy is imported.

`view` borrows an array and gives its location, and `check` compares it with its spec. `host_arrays`
has copies and results in host memory.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dtypes import BY_DLPACK, name_of_numpy
from .errors import ArgumentError
from .manifest import TensorSpec
from .strides import packed_strides, same_places

__all__ = ["CPU", "CUDA", "View", "check", "is_packed", "is_placed", "library_of", "view"]

#: DLPack's device types. Pinned memory is accessible like `cpu`, managed memory like `cuda`.
CPU, CUDA = 1, 2
_DEVICES = {1: "cpu", 2: "cuda", 3: "cuda_host", 13: "cuda_managed"}


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
    """The location of a borrowed array.

    Attributes:
        pointer: The address of the first element.
        shape: The sizes of the dims.
        strides: In elements.
        dtype: A torch name, or a description of an unsupported type.
        device: DLPack's device type and index.
        owner: The object that keeps the memory alive.
    """

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: tuple[int, int]
    owner: Any

    @property
    def device_name(self) -> str:
        """The device as text, e.g. `cpu` or `cuda:0`."""
        kind, index = self.device
        name = _DEVICES.get(kind, f"DLPack device {kind}")
        return name if kind == CPU else f"{name}:{index}"


def library_of(array: Any) -> str:
    """The top-level package of an array's type: numpy, torch, cupy, jax, or another."""
    name = type(array).__module__.partition(".")[0]
    return "jax" if name == "jaxlib" else name


def view(array: Any, name: str, *, stream: int | None = None) -> View:
    """Borrows an array.

    Args:
        array: A numpy array, or an array that supports DLPack.
        name: The argument's name, for messages.
        stream: A CUDA stream in DLPack's numbering, which waits for the producer's work if the
            array is on a GPU.

    Returns:
        The view.

    Raises:
        ArgumentError: The array cannot be borrowed, or its memory does not hold its values: a
            masked numpy array, or a torch tensor with the negative bit.
    """
    if isinstance(array, np.ndarray):
        if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):
            got = "a masked array; call its filled() first"
            raise ArgumentError(
                argument=name, problem="has a mask", expected="an array without a mask", got=got
            )
        size = array.dtype.itemsize or 1
        # A stride that is not a multiple of the element size becomes -1, which is never packed.
        strides = tuple(s // size if s % size == 0 else -1 for s in array.strides)
        return View(
            array.ctypes.data, array.shape, strides, name_of_numpy(array.dtype), (CPU, 0), array
        )
    export = getattr(array, "__dlpack__", None)
    if export is None:
        expected = "an array that supports DLPack (torch, numpy, cupy, jax)"
        raise ArgumentError(
            argument=name,
            problem="is not an array",
            expected=expected,
            got=type(array).__qualname__,
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
            argument=name, problem=f"its library does not export it: {error}"
        ) from error
    if not _is_valid(capsule, b"dltensor"):
        raise ArgumentError(
            argument=name, problem="its __dlpack__ returned an object that is not a DLPack capsule"
        )
    tensor = DLTensor.from_address(_get_pointer(capsule, b"dltensor"))
    rank = tensor.ndim
    shape = tuple(tensor.shape[:rank])
    strides = tuple(tensor.strides[:rank]) if tensor.strides else packed_strides(shape)
    dtype = BY_DLPACK.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    dtype_name = (
        dtype.name if dtype else f"DLPack type {tensor.code}, {tensor.bits} bits x {tensor.lanes}"
    )
    # The capsule keeps its name and therefore owns the tensor, until the view is released.
    return View(
        (tensor.data or 0) + tensor.byte_offset,
        shape,
        strides,
        dtype_name,
        (tensor.device_type, tensor.device_id),
        (array, capsule),
    )


def check(got: View, spec: TensorSpec, name: str, device: tuple[int, int]) -> None:
    """Checks a view against a spec.

    Args:
        got: The view.
        spec: The expected shape and dtype.
        name: The argument's name, for messages.
        device: The expected DLPack device type and index.

    Raises:
        ArgumentError: Shape, dtype or device differ.
    """
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


def is_packed(got: View) -> bool:
    """Whether the elements are row-major without gaps. Dims of size 1 may have any stride."""
    return same_places(got.shape, got.strides, packed_strides(got.shape))


def is_placed(got: View, spec: TensorSpec) -> bool:
    """Whether the elements of a view of the spec's shape are where the spec says."""
    return same_places(got.shape, got.strides, spec.all_strides)
