# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads Universal Binary JSON, draft 12, limited to JSON's values: the format of cudnn-frontend's
`graph.serialize()`."""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["UbjsonError", "loads"]

_NUMBERS = {"i": ">b", "U": ">B", "I": ">h", "l": ">i", "L": ">q", "d": ">f", "D": ">d"}
_CONSTANTS = {"Z": None, "T": True, "F": False}
#: Above the nesting of any graph; protects against the interpreter's recursion limit.
_MAX_DEPTH = 100


class UbjsonError(ValueError):
    """The bytes are not UBJSON; the message has the offset."""


def loads(data: bytes) -> Any:
    """Parses UBJSON. Raises UbjsonError."""
    reader = _Reader(data)
    value = reader.value(reader.marker(), 0)
    if reader.at != len(data):
        raise UbjsonError(
            f"byte {reader.at}: expected the end, got {len(data) - reader.at} more bytes"
        )
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self._data) - self.at:
            raise UbjsonError(
                f"byte {self.at}: expected {count} bytes, got {len(self._data) - self.at}"
            )
        self.at += count
        return self._data[self.at - count : self.at]

    def marker(self) -> str:
        """The next marker, except N, which is a no-op."""
        while (marker := chr(self.take(1)[0])) == "N":
            pass
        return marker

    def value(self, marker: str, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise UbjsonError(f"byte {self.at}: expected at most {_MAX_DEPTH} levels")
        if marker in _NUMBERS:
            form = _NUMBERS[marker]
            return struct.unpack(form, self.take(struct.calcsize(form)))[0]
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        if marker == "C":
            return chr(self.take(1)[0])
        if marker == "S":
            return self.text()
        if marker == "[":
            return [self.value(each, depth + 1) for each in self._elements("]")]
        if marker == "{":
            return self._object(depth)
        raise UbjsonError(f"byte {self.at - 1}: expected a value, got {marker!r}")

    def text(self) -> str:
        try:
            return self.take(self._length(self.marker())).decode()
        except UnicodeDecodeError as error:
            raise UbjsonError(f"byte {self.at}: expected UTF-8: {error}") from error

    def _length(self, marker: str) -> int:
        if marker not in "iUIlL":
            raise UbjsonError(f"byte {self.at - 1}: expected a length, got {marker!r}")
        return int(self.value(marker, 0))

    def _elements(self, end: str) -> Any:
        """The markers of a container's values. For objects, the caller reads the keys in
        between."""
        kind = count = None
        if self._peek() == "$":
            self.take(1)
            kind = chr(self.take(1)[0])
        if self._peek() == "#":
            self.take(1)
            count = self._length(self.marker())
        if kind is not None and count is None:
            raise UbjsonError(f"byte {self.at}: expected a count after a type")
        if count is not None:
            # Every element takes at least a byte, except constants of a given type, for which the
            # count would be unlimited.
            if count > len(self._data) - self.at:
                raise UbjsonError(
                    f"byte {self.at}: expected {count} elements, got "
                    f"{len(self._data) - self.at} bytes"
                )
            for _ in range(count):
                yield kind or (self.marker() if end == "]" else "")
            return
        while self._peek() != end:
            if self._peek() == "N":
                self.take(1)
                continue
            yield self.marker() if end == "]" else ""
        self.take(1)

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for kind in self._elements("}"):
            key = self.text()
            if key in found:
                raise UbjsonError(f"byte {self.at}: duplicate key {key!r}")
            found[key] = self.value(kind or self.marker(), depth + 1)
        return found

    def _peek(self) -> str:
        return chr(self._data[self.at]) if self.at < len(self._data) else ""
