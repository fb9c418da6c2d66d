"""Universal Binary JSON, draft 12, as far as JSON has the values: what cudnn-frontend's
`graph.serialize()` returns."""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["UbjsonError", "loads"]

_NUMBERS = {"i": ">b", "U": ">B", "I": ">h", "l": ">i", "L": ">q", "d": ">f", "D": ">d"}
_CONSTANTS = {"Z": None, "T": True, "F": False}
#: Deeper than any graph; it keeps a hostile file from the interpreter's own limit.
_MAX_DEPTH = 100


class UbjsonError(ValueError):
    """The bytes are no UBJSON; the message says at which byte."""


def loads(data: bytes) -> Any:
    """The value that `data` holds. Raises UbjsonError."""
    reader = _Reader(data)
    value = reader.value(reader.marker(), 0)
    if reader.at != len(data):
        raise UbjsonError(
            f"byte {reader.at}: expected the end, got {len(data) - reader.at} bytes more"
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
        """The next marker; N stands for nothing."""
        while (marker := chr(self.take(1)[0])) == "N":
            pass
        return marker

    def value(self, marker: str, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise UbjsonError(f"byte {self.at}: expected {_MAX_DEPTH} levels at most")
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
        """The markers of a container's values; for objects the keys are read by the caller in
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
            # Every element but one of a constant takes a byte; a count of those could be made as
            # large as one likes.
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
                raise UbjsonError(f"byte {self.at}: {key!r} is there twice")
            found[key] = self.value(kind or self.marker(), depth + 1)
        return found

    def _peek(self) -> str:
        return chr(self._data[self.at]) if self.at < len(self._data) else ""
