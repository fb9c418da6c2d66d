"""The element types of an artifact: torch's names, and what numpy, DLPack and safetensors call
them.

numpy has no bfloat16. Host memory of that type is held as uint16 (the upper half of a float32's
bits) beside the name, and a numpy caller gives and gets uint16 arrays for it.
"""

from __future__ import annotations

import numpy as np

from .value_types import value_type

__all__ = ["BY_DLPACK", "BY_SAFETENSORS", "DTYPES", "DType", "name_of_numpy"]


@value_type(frozen=True, slots=True)
class DType:
    """One element type. `storage` is the numpy type that holds its bits; `dlpack` is
    (DLDataTypeCode, bits)."""

    name: str
    storage: np.dtype
    dlpack: tuple[int, int]
    safetensors: str

    @property
    def bytes(self) -> int:
        """Bytes of one element."""
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
    """Torch's name of a numpy dtype; ml_dtypes' bfloat16 has that name already. Types that
    artifacts cannot have keep numpy's name."""
    return (
        dtype.name
        if dtype.isnative or dtype.itemsize == 1
        else f"{dtype.name} in the other byte order"
    )
