# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Borrows arrays through DLPack's Python protocol."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any

from .errors import ArgumentError

__all__ = ["CPU", "CUDA", "DLTensor", "borrow"]

#: DLPack's device types. Pinned memory is accessible like `cpu`, managed memory like `cuda`.
CPU, CUDA = 1, 2


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


def borrow(array: Any, name: str, *, stream: int | None = None) -> tuple[DLTensor, Any]:
    """Exports an array.

    Args:
        array: An array that supports DLPack.
        name: The argument's name, for messages.
        stream: A CUDA stream in DLPack's numbering, which waits for the producer's work if the
            array is on a GPU.

    Returns:
        The tensor, and the capsule that owns it. The capsule keeps its name, and so owns the
        tensor until it is released.

    Raises:
        ArgumentError: The array cannot be exported, or has elements and no memory.
    """
    export = getattr(array, "__dlpack__", None)
    if export is None:
        expected = "an array that supports DLPack (torch, numpy, cupy, jax)"
        raise ArgumentError(
            argument=name,
            problem="is not an array",
            expected=expected,
            got=type(array).__qualname__,
        )
    _check_sign(array, name)
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
    if not tensor.data and 0 not in tensor.shape[: tensor.ndim]:
        got = f"a {type(array).__qualname__} without memory"
        raise ArgumentError(
            argument=name,
            problem="has no memory",
            expected="an array with values, not one of a tracer",
            got=got,
        )
    return tensor, capsule


def _check_sign(array: Any, name: str) -> None:
    """Raises ArgumentError for a torch tensor with the negative bit: its memory does not hold its
    values."""
    is_negative = getattr(array, "is_neg", None)
    if is_negative is None or not is_negative():
        return
    expected, got = (
        "a tensor whose memory holds its values",
        "a view that negates them; call its resolve_neg() first",
    )
    raise ArgumentError(
        argument=name, problem="has torch's negative bit", expected=expected, got=got
    )
