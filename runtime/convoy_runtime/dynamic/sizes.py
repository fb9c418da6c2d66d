# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Sizes that depend on a symbol, and their text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from convoy_runtime.value_types import value_type

__all__ = ["Size", "parse_size", "size_text"]

_SIZE = re.compile(r"(?:(\d+)\*)?([A-Za-z_]\w*)([+-]\d+)?", re.ASCII)


@value_type(frozen=True, slots=True)
class Size:
    """`factor * symbol + offset`; the number `offset` if `symbol` is empty."""

    symbol: str
    factor: int
    offset: int

    def at(self, values: Mapping[str, int]) -> int:
        """The size for these values of the symbols."""
        return self.factor * values[self.symbol] + self.offset if self.symbol else self.offset


@lru_cache
def parse_size(text: str) -> Size | None:
    """Parses a number or `2*name+1`, where factor and offset are optional. Returns None for other
    texts."""
    if text.isascii() and text.isdecimal():
        return Size("", 0, int(text))
    found = _SIZE.fullmatch(text)
    if found is None:
        return None
    return Size(found[2], int(found[1] or 1), int(found[3] or 0))


def size_text(size: Size) -> str:
    """The inverse of `parse_size`."""
    if not size.symbol:
        return str(size.offset)
    factor = "" if size.factor == 1 else f"{size.factor}*"
    return f"{factor}{size.symbol}" + (f"{size.offset:+d}" if size.offset else "")
