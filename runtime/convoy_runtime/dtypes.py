# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The element types of an artifact: torch's names, and those of numpy, DLPack and safetensors.

numpy has no bfloat16. Host arrays of that type are uint16 (the upper half of a float32's bits), and
numpy callers pass and receive uint16 arrays.
"""

from __future__ import annotations

import numpy as np

from .value_types import value_type

__all__ = ["BY_DLPACK", "BY_SAFETENSORS", "DTYPES", "DType", "name_of_numpy"]


@value_type(frozen=True, slots=True)
class DType:
    """An element type.

    Attributes:
        name: torch's name.
        storage: The numpy type with the same bits.
        dlpack: DLPack's type code (DLDataTypeCode) and number of bits.
        safetensors: The name in safetensors files.
    """

    name: str
    storage: np.dtype
    dlpack: tuple[int, int]
    safetensors: str

    @property
    def bytes(self) -> int:
        """The size of an element in bytes."""
        return self.storage.itemsize


_ALL = (
    DType("float64", np.dtype(np.float64), (2, 64), "F64"),
    DType("float32", np.dtype(np.float32), (2, 32), "F32"),
    DType("float16", np.dtype(np.float16), (2, 16), "F16"),
    DType("bfloat16", np.dtype(np.uint16), (4, 16), "BF16"),
    DType("int64", np.dtype(np.int64), (0, 64), "I64"),
    DType("int32", np.dtype(np.int32), (0, 32), "I32"),
    DType("int16", np.dtype(np.int16), (0, 16), "I16"),
    DType("int8", np.dtype(np.int8), (0, 8), "I8"),
    DType("uint8", np.dtype(np.uint8), (1, 8), "U8"),
    DType("bool", np.dtype(np.bool_), (6, 8), "BOOL"),
)

DTYPES = {dtype.name: dtype for dtype in _ALL}
BY_DLPACK = {dtype.dlpack: dtype for dtype in _ALL}
BY_SAFETENSORS = {dtype.safetensors: dtype for dtype in _ALL}


def name_of_numpy(dtype: np.dtype) -> str:
    """torch's name of a numpy dtype, also of ml_dtypes' bfloat16. Types that artifacts do not
    support keep numpy's name."""
    return (
        dtype.name
        if dtype.isnative or dtype.itemsize == 1
        else f"{dtype.name} in the other byte order"
    )
