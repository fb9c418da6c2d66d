# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Packed arrays in host memory: results and copies of inputs. `from_numpy` converts a result to an
array of the first input's library."""

from __future__ import annotations

import sys
from ctypes import c_uint8
from math import prod
from typing import Any

import numpy as np

from .arrays import View
from .dtypes import DTYPES
from .errors import ConvoyRuntimeError
from .host_copies import copy
from .manifest import TensorSpec
from .strides import extent, inverse_order

__all__ = [
    "aligned_copy",
    "aligned_empty",
    "as_numpy",
    "copy_packed",
    "from_numpy",
    "host_array",
    "logical",
    "padded_copy",
]


ALIGNMENT = 64


def logical(stored: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """The tensor that `spec` describes, as a view of the packed array in memory."""
    return stored if spec.order is None else stored.transpose(inverse_order(spec.order))


def aligned_empty(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Allocates an uninitialized packed array at a multiple of 64 bytes.

    Args:
        shape: The sizes of the dims.
        dtype: A torch name; the array has its storage type.

    Returns:
        The array.

    Raises:
        ConvoyRuntimeError: The allocation fails.
    """
    return _aligned(shape, DTYPES[dtype].storage)


def _aligned(shape: tuple[int, ...], storage: np.dtype) -> np.ndarray:
    size = prod(shape) * storage.itemsize
    try:
        raw = np.empty(size + ALIGNMENT, dtype=np.uint8)
    except (MemoryError, ValueError) as error:
        problem = f"cannot allocate {size} bytes for {storage} of shape {list(shape)}"
        raise ConvoyRuntimeError(problem) from error
    begin = -raw.ctypes.data % ALIGNMENT
    return raw[begin : begin + size].view(storage).reshape(shape)


def host_array(got: View) -> np.ndarray:
    """A view in host memory as a numpy array of the storage type, with the same strides and without
    a copy."""
    if isinstance(got.owner, np.ndarray):
        array = got.owner
        return array if got.dtype != "bfloat16" else array.view(np.uint16)
    storage = DTYPES[got.dtype].storage
    below, above = extent(got.shape, got.strides)
    size, begin = (each * storage.itemsize for each in (above - below, below))
    memory = (c_uint8 * size).from_address(got.pointer + begin) if size else b""
    strides = tuple(stride * storage.itemsize for stride in got.strides)
    return np.ndarray(
        got.shape, storage, memoryview(memory), offset=-begin, strides=strides if size else None
    )


def as_numpy(got: View) -> np.ndarray:
    """A view in host memory as a numpy array of the storage type that owns its memory: the array
    itself if it is of numpy, else a copy."""
    return host_array(got) if isinstance(got.owner, np.ndarray) else aligned_copy(got)


def aligned_copy(got: View, order: tuple[int, ...] | None = None) -> np.ndarray:
    """A packed, 64-byte aligned copy of a view in host memory.

    Args:
        got: The view.
        order: The order of the copy's dims; by default that of the view.

    Returns:
        The copy.
    """
    source = _ordered(got, order)
    copy = _aligned(source.shape, source.dtype)
    np.copyto(copy, source)
    return copy


def copy_packed(to: np.ndarray, got: View, order: tuple[int, ...] | None = None) -> None:
    """Copies a view in host memory into a packed array.

    Args:
        to: The array, of the view's storage type and of its shape in `order`.
        got: The view.
        order: The order of the array's dims; by default that of the view.
    """
    copy(to, _ordered(got, order))


def _ordered(got: View, order: tuple[int, ...] | None) -> np.ndarray:
    """A view in host memory with its dims in `order`, without a copy."""
    array = host_array(got)
    return array if order is None else array.transpose(order)


def padded_copy(got: View, spec: TensorSpec) -> np.ndarray:
    """A packed, 64-byte aligned array of the shape of `spec`, in its order in memory, which begins
    with the elements of a smaller view in host memory. The others are zeros."""
    stored = aligned_empty(spec.stored.shape, spec.dtype)
    array = logical(stored, spec)
    for dim, size in enumerate(got.shape):
        array[(*[slice(None)] * dim, slice(size, None))] = 0
    array[tuple(slice(size) for size in got.shape)] = host_array(got)
    return stored


def from_numpy(library: str, stored: np.ndarray, spec: TensorSpec) -> Any:
    """Converts a result to an array of `library`, without a copy if the library allows it.

    Args:
        library: A package, as `library_of` returns it.
        stored: The packed array in memory, of the storage type of the result's dtype.
        spec: The result.

    Returns:
        An array of `library` with the strides of `spec`; a numpy array for numpy and for libraries
        without `from_dlpack`. Arrays of jax have no strides; their dims are transposed.
    """
    module = sys.modules.get({"jax": "jax.numpy"}.get(library, library))
    if library == "numpy" or module is None or not hasattr(module, "from_dlpack"):
        return logical(stored, spec)
    array = stored if library == "jax" else logical(stored, spec)
    if spec.dtype != "bfloat16":
        made = module.from_dlpack(array)
    else:
        # numpy has no bfloat16: export the bits, and reinterpret them in the other library.
        made = module.from_dlpack(array.view(np.int16)).view(module.bfloat16)
    if library == "jax" and spec.order is not None:
        return made.transpose(inverse_order(spec.order))
    return made
