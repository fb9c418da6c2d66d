# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks of values in cudnn-frontend's JSON."""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["is_int", "is_ints", "read_float"]


def read_float(value: Any, what: str, problems: list[str]) -> float | None:
    """Reads a float, which is eight hexadecimal digits.

    Args:
        value: The JSON value.
        what: Its name, for messages.
        problems: Receives the message for an invalid value.

    Returns:
        The float; None for None or an invalid value.
    """
    if value is None:
        return None
    try:
        return float(struct.unpack(">f", bytes.fromhex(value))[0])
    except (TypeError, ValueError, struct.error):
        problems.append(f"{what}: expected a float as eight hexadecimal digits, got {value!r}")
        return None


def is_int(value: Any) -> bool:
    """Whether a value is an integer and not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_ints(value: Any) -> bool:
    """Whether a value is a list of integers."""
    return isinstance(value, list) and all(is_int(each) for each in value)
