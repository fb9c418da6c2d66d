"""What values of cudnn-frontend's JSON have to be."""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["is_int", "is_ints", "read_float"]


def read_float(value: Any, what: str, problems: list[str]) -> float | None:
    """A float of the JSON: eight hexadecimal digits. None when it is None, or is no such text,
    which `problems` tells of `what`."""
    if value is None:
        return None
    try:
        return float(struct.unpack(">f", bytes.fromhex(value))[0])
    except (TypeError, ValueError, struct.error):
        problems.append(f"{what}: expected a float as eight hexadecimal digits, got {value!r}")
        return None


def is_int(value: Any) -> bool:
    """Whether it is an integer; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_ints(value: Any) -> bool:
    """Whether it is a list of integers."""
    return isinstance(value, list) and all(is_int(each) for each in value)
