# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Converts the values of by-value tensors from bytes in memory and to MLIR literals."""

from __future__ import annotations

import math
import struct

__all__ = ["scalar_literal", "scalar_of"]

#: torch's or cuDNN's type name to struct format. bfloat16 has none: its bytes are the upper half of
#: a float.
_FORMATS = {
    "float64": "<d", "float32": "<f", "float16": "<e", "int64": "<q", "int32": "<i",
    "DOUBLE": "<d", "FLOAT": "<f", "HALF": "<e", "INT64": "<q", "INT32": "<i",
}  # fmt: skip


def scalar_of(dtype: str, data: bytes) -> float | int:
    """Decodes a number.

    Args:
        dtype: torch's name of the type.
        data: The little-endian bytes.

    Returns:
        The number.
    """
    if dtype == "bfloat16":
        data, dtype = b"\0\0" + data, "float32"
    number: float | int = struct.unpack(_FORMATS[dtype], data)[0]
    return number


def scalar_literal(data_type: str, value: float | int) -> str:
    """The exact MLIR literal for a number of cuDNN's `data_type`."""
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
    # The digits for an exact round trip, and a decimal point, which MLIR also requires before an
    # exponent.
    return text if "." in text and "e" not in text else f"{value:.17e}"
