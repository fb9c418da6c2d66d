"""The numbers of tensors by value: as bytes in memory, as literals of MLIR."""

from __future__ import annotations

import math
import struct

__all__ = ["scalar_literal", "scalar_of"]

#: struct's formats by torch's name and by cuDNN's. bfloat16 has none: its bytes are the upper half
#: of a float's.
_FORMATS = {
    "float64": "<d", "float32": "<f", "float16": "<e", "int64": "<q", "int32": "<i",
    "DOUBLE": "<d", "FLOAT": "<f", "HALF": "<e", "INT64": "<q", "INT32": "<i",
}  # fmt: skip


def scalar_of(dtype: str, data: bytes) -> float | int:
    """The number of the torch type `dtype` whose little-endian bytes are `data`."""
    if dtype == "bfloat16":
        data, dtype = b"\0\0" + data, "float32"
    number: float | int = struct.unpack(_FORMATS[dtype], data)[0]
    return number


def scalar_literal(data_type: str, value: float | int) -> str:
    """A literal of MLIR for a number of cuDNN's `data_type`, exactly that one."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        data = (
            struct.pack("<f", value)[2:]
            if data_type == "BFLOAT16"
            else struct.pack(_FORMATS[data_type], value)
        )
        return f"0x{data[::-1].hex().upper()}"
    text = repr(value)
    # Every digit that tells it from its neighbours, and a point, which MLIR wants before an
    # exponent too.
    return text if "." in text and "e" not in text else f"{value:.17e}"
