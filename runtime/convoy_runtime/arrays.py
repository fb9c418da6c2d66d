# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Input and output arrays of any library that supports DLPack. Only the protocol is used; no array
library besides numpy is imported.

`view` borrows an array and gives its location, and `check` compares it with its spec. `host_arrays`
has copies and results in host memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .dlpack import CPU, CUDA, borrow
from .dtypes import BY_DLPACK, name_of_numpy
from .errors import ArgumentError
from .manifest import TensorSpec
from .strides import packed_strides, same_places

__all__ = ["CPU", "CUDA", "View", "check", "is_packed", "is_placed", "library_of", "view"]

_DEVICES = {1: "cpu", 2: "cuda", 3: "cuda_host", 13: "cuda_managed"}


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
    tensor, capsule = borrow(array, name, stream=stream)
    rank = tensor.ndim
    shape = tuple(tensor.shape[:rank])
    strides = tuple(tensor.strides[:rank]) if tensor.strides else packed_strides(shape)
    dtype = BY_DLPACK.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    dtype_name = (
        dtype.name if dtype else f"DLPack type {tensor.code}, {tensor.bits} bits x {tensor.lanes}"
    )
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
