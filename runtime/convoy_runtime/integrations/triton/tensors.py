# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tensors of Triton's Python backend as arrays, and arrays as such tensors."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_void_p
from typing import Any

import numpy as np

from convoy_runtime.arrays import view
from convoy_runtime.dlpack import DLTensor
from convoy_runtime.dtypes import DTYPES
from convoy_runtime.host_arrays import host_array

from .served import ServedTensor

__all__ = ["borrowed", "tensor_of"]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = c_void_p, (ctypes.py_object, c_char_p)
_set_destructor = ctypes.pythonapi.PyCapsule_SetDestructor
_set_destructor.restype, _set_destructor.argtypes = c_int, (ctypes.py_object, c_void_p)


class _Exported:
    """An array that the backend takes over by DLPack."""

    def __init__(self, array: np.ndarray, dtype: str) -> None:
        self._array, self._dtype = array, dtype

    def __dlpack__(self, **_: Any) -> Any:
        capsule = self._array.__dlpack__()
        # numpy exports the bits of bfloat16 as uint16.
        tensor = DLTensor.from_address(_get_pointer(capsule, b"dltensor"))
        tensor.code = DTYPES[self._dtype].dlpack[0]
        # The backend renames the capsules that it takes over to `used_dlpack`. Protocol and numpy
        # call them `used_dltensor`, and numpy's destructor prints an error for any other name. The
        # backend frees the tensor itself.
        _set_destructor(capsule, None)
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def borrowed(tensor: Any, spec: ServedTensor) -> np.ndarray:
    """The memory of a tensor of a request, without a copy.

    Args:
        tensor: A `pb_utils.Tensor` in host memory.
        spec: The input.

    Returns:
        An array that is valid until the request is answered; bfloat16 as uint16. The dim that
        `spec` adds to a scalar is not in it.
    """
    # numpy has no bfloat16. `as_numpy` of the tensor needs the numpy that the backend was compiled
    # for: with another major version its arrays have wrong strides.
    array: np.ndarray = (
        host_array(view(tensor, f"input {spec.name!r}"))
        if spec.dtype == "bfloat16"
        else np.from_dlpack(tensor)
    )
    # A wrong last dim is kept, for the program to refuse.
    return array[..., 0] if spec.is_scalar and array.shape[-1:] == (1,) else array


def tensor_of(make: Any, array: np.ndarray, spec: ServedTensor) -> Any:
    """A tensor of a response.

    Args:
        make: `pb_utils.Tensor.from_dlpack`. The constructor from numpy arrays also needs the numpy
            that the backend was compiled for: with another one its tensors are empty.
        array: The array; bfloat16 as uint16.
        spec: The output.

    Returns:
        The tensor, which reads the array when the response is sent.
    """
    # DLPack's tensors of the backend are packed row-major.
    packed = np.ascontiguousarray(array[..., np.newaxis] if spec.is_scalar else array)
    return make(spec.name, _Exported(packed, spec.dtype))
