# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Checks a shared library before the dynamic linker maps it, because access to a truncated one
raises SIGBUS."""

from __future__ import annotations

import struct

__all__ = ["elf_problem"]

_HEADER = struct.Struct("<4sBBB9xHHI3QI6H")
_SEGMENT = struct.Struct("<2I6Q")
_CLASS_64, _LITTLE_ENDIAN, _DYNAMIC_LIBRARY = 2, 1, 3
_LOAD, _DYNAMIC = 1, 2


def elf_problem(content: bytes | memoryview) -> str | None:
    """Checks the headers of a shared library; each segment must lie within the file.

    Args:
        content: The library.

    Returns:
        The problem, or None.
    """
    if len(content) < _HEADER.size:
        return f"is not a shared library: {len(content)} bytes are too few"
    magic, kind, order, _, of, _, _, _, table, _, _, _, entry_bytes, count, *_ = (
        _HEADER.unpack_from(content)
    )
    if (magic, kind, order, of) != (b"\x7fELF", _CLASS_64, _LITTLE_ENDIAN, _DYNAMIC_LIBRARY):
        return "is not a shared library of a 64-bit little-endian machine"
    end = table + count * _SEGMENT.size
    if entry_bytes != _SEGMENT.size or end > len(content):
        return (
            f"is truncated or damaged: expected program headers up to byte {end}, got "
            f"{len(content)} bytes"
        )
    found = set()
    for place in range(count):
        what, _, offset, _, _, file_bytes, memory_bytes, _ = _SEGMENT.unpack_from(
            content, table + place * _SEGMENT.size
        )
        found.add(what)
        if offset + file_bytes > len(content):
            return (
                "is truncated or damaged: expected a segment up to byte "
                f"{offset + file_bytes}, got {len(content)} bytes"
            )
        if what == _LOAD and memory_bytes < file_bytes:
            return f"is damaged: a segment of {file_bytes} bytes exceeds its {memory_bytes} bytes"
    if not found >= {_LOAD, _DYNAMIC}:
        return "is not a shared library: it has no segments to load"
    return None
