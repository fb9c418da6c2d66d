# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kinds of JSON fields, and JSON objects that are read strictly: a missing, unknown or ill-typed
field is an error with its name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Generic, TypeVar

from .dtypes import DTYPES
from .errors import ArtifactError
from .value_types import value_type

__all__ = [
    "COUNT",
    "COUNTS",
    "DTYPE",
    "FLAG",
    "INT32",
    "LARGEST",
    "LIST",
    "MOST_DIMS",
    "OBJECT",
    "SHA256",
    "SHAPE",
    "STRINGS",
    "SYMBOL",
    "TEXT",
    "TEXTS",
    "UINT32",
    "Document",
    "JsonObject",
    "Kind",
    "choice",
    "matching",
    "shown",
]

_T = TypeVar("_T")

#: The largest int64, the type of sizes in native code.
LARGEST = (1 << 63) - 1
#: The limit of numpy and PyTorch.
MOST_DIMS = 64
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@value_type(frozen=True, slots=True)
class Document:
    """The artifact and the member that is being read, for messages."""

    path: object
    member: str | None

    def parse(self, text: str | bytes, problem: str = "is not JSON") -> Any:
        """Parses JSON text.

        Args:
            text: The text.
            problem: The message for invalid text.

        Returns:
            The value.

        Raises:
            ArtifactError: The text is not valid JSON, has a duplicate name in an object, which
                readers interpret differently, or is not valid Unicode (half of a surrogate pair).
        """
        try:
            text = text if isinstance(text, str) else text.decode()
            value = json.loads(text, object_pairs_hook=_once)
            if "\\u" in text:
                json.dumps(value, ensure_ascii=False).encode()
            return value
        except (ValueError, RecursionError) as error:
            raise ArtifactError(
                problem=f"{problem}: {error}", path=self.path, member=self.member
            ) from error

    def error(self, field: str, problem: str) -> ArtifactError:
        """An error with `problem` for a field."""
        return ArtifactError(problem=problem, path=self.path, member=self.member, field=field)


@value_type(frozen=True, slots=True)
class Kind(Generic[_T]):
    """The type of a field.

    Attributes:
        read: Converts a JSON value, or returns None if it is not as `expected` describes.
        expected: The valid values.
        name: A short name, for documentation.
    """

    read: Callable[[Any], _T | None]
    expected: str
    name: str = ""


class JsonObject:
    """A JSON object being read. Fields are taken one by one; `done` rejects the remaining ones.

    Attributes:
        document: The document, for messages.
        value: The fields that are not taken yet.
    """

    __slots__ = ("_name", "document", "value")

    def __init__(self, value: Any, name: str, document: Document) -> None:
        self._name, self.document = name, document
        if not isinstance(value, dict):
            raise self.error("", "expected an object", value)
        self.value: dict[str, Any] = dict(value)

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def error(self, key: str, expected: str, got: Any) -> ArtifactError:
        """An error for a field with the value `got`; `expected` begins with "expected"."""
        return self.document.error(self.where(key) or "top level", f"{expected}, got {shown(got)}")

    def take(self, key: str, kind: Kind[_T]) -> _T:
        """The value of a field of this kind."""
        if key not in self.value:
            raise self.document.error(self.where(key), f"is missing, expected {kind.expected}")
        got = self.value.pop(key)
        result = kind.read(got)
        if result is None:
            raise self.error(key, f"expected {kind.expected}", got)
        return result

    def done(self) -> None:
        """Raises ArtifactError if a field remains."""
        for key, got in self.value.items():
            raise self.error(key, "is not a field of this format version", got)

    def where(self, key: str) -> str:
        """The name of a field in the document."""
        return ".".join(part for part in (self._name, key) if part)


def choice(*values: str) -> Kind[str]:
    """One of the given strings."""
    *others, last = [json.dumps(value) for value in values]
    return Kind(
        lambda value: value if value in values else None,
        f"{', '.join(others)} or {last}" if others else last,
    )


def matching(pattern: str, expected: str) -> Kind[str]:
    """A string that matches a pattern, which is compiled on first use."""
    return Kind(
        lambda value: (
            value if value.__class__ is str and re.fullmatch(pattern, value, re.ASCII) else None
        ),
        expected,
    )


def shown(value: Any) -> str:
    """A JSON value in a message, at most 80 characters."""
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        message = (
            f"duplicate name {next(name for name in names if names.count(name) > 1)!r} in an object"
        )
        raise ValueError(message)
    return found


def _text(value: Any) -> str | None:
    # Names are printed, and terminals interpret control characters.
    return (
        value
        if value.__class__ is str and (value.isprintable() or not _CONTROL.search(value))
        else None
    )


def _count(value: Any) -> int | None:
    return value if value.__class__ is int and 0 <= value <= LARGEST else None


def _counts(value: Any) -> tuple[int, ...] | None:
    if value.__class__ is not list:
        return None
    for item in value:
        # Exactly int: bool is a subclass.
        if item.__class__ is not int or not 0 <= item <= LARGEST:
            return None
    return tuple(value)


def _shape(value: Any) -> tuple[int, ...] | None:
    sizes = _counts(value)
    # numpy and the computation of strides treat a dim of 0 as 1 here.
    return (
        sizes
        if sizes is not None
        and len(sizes) <= MOST_DIMS
        and prod(size or 1 for size in sizes) <= LARGEST >> 3
        else None
    )


def _texts(value: Any) -> tuple[str, ...] | None:
    return (
        tuple(value)
        if value.__class__ is list and all(_text(item) is not None for item in value)
        else None
    )


def _strings(value: Any) -> Mapping[str, str] | None:
    return (
        value
        if value.__class__ is dict and all(item.__class__ is str for item in value.values())
        else None
    )


def _symbol(value: Any) -> str | None:
    return value if value.__class__ is str and value.isascii() and value.isidentifier() else None


def _sha256(value: Any) -> str | None:
    return (
        value
        if value.__class__ is str and len(value) == 64 and not value.strip("0123456789abcdef")
        else None
    )


TEXT: Kind[str] = Kind(_text, "a string without control characters", "text")
COUNT: Kind[int] = Kind(_count, "an integer from 0 to 2**63 - 1", "count")
INT32: Kind[int] = Kind(
    lambda value: value if value.__class__ is int and 0 <= value < 1 << 31 else None,
    "an integer from 0 to 2**31 - 1",
    "int32",
)
UINT32: Kind[int] = Kind(
    lambda value: value if value.__class__ is int and 0 <= value < 1 << 32 else None,
    "an integer from 0 to 2**32 - 1",
    "uint32",
)
FLAG: Kind[bool] = Kind(
    lambda value: value if value.__class__ is bool else None, "true or false", "flag"
)
DTYPE: Kind[str] = Kind(
    lambda value: value if value.__class__ is str and value in DTYPES else None,
    f"one of {', '.join(DTYPES)}",
    "dtype",
)
COUNTS: Kind[tuple[int, ...]] = Kind(_counts, "a list of integers from 0 to 2**63 - 1", "counts")
SHAPE: Kind[tuple[int, ...]] = Kind(
    _shape,
    f"a list of at most {MOST_DIMS} sizes whose product without zeros is below 2**60",
    "shape",
)
TEXTS: Kind[tuple[str, ...]] = Kind(_texts, "a list of strings without control characters", "texts")
STRINGS: Kind[Mapping[str, str]] = Kind(_strings, "an object of strings", "strings")
SYMBOL: Kind[str] = Kind(_symbol, "a C identifier", "symbol")
SHA256: Kind[str] = Kind(_sha256, "64 hexadecimal digits", "sha256")
OBJECT: Kind[dict[str, Any]] = Kind(
    lambda value: value if value.__class__ is dict else None, "an object"
)
LIST: Kind[list[Any]] = Kind(
    lambda value: value if value.__class__ is list else None, "a list of objects"
)
