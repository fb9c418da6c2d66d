"""Reads JSON objects strictly: a missing, unknown or ill-typed field is an error with its name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
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
    "LARGEST",
    "MOST_DIMS",
    "SHAPE",
    "TEXT",
    "TEXTS",
    "Document",
    "JsonObject",
    "Kind",
    "Record",
    "choice",
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
    """The type of a field: `read` converts a JSON value, or returns None if it is not as
    `expected` describes."""

    read: Callable[[Any], _T | None]
    expected: str


class JsonObject:
    """A JSON object being read. Fields are taken one by one; `done` rejects the remaining ones."""

    __slots__ = ("_document", "_name", "value")

    def __init__(self, value: Any, name: str, document: Document) -> None:
        self._name, self._document = name, document
        if not isinstance(value, dict):
            raise self.error("", "expected an object", value)
        #: The fields that are not taken yet.
        self.value = dict(value)

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def error(self, key: str, expected: str, got: Any) -> ArtifactError:
        """An error for a field with the value `got`; `expected` begins with "expected"."""
        text = json.dumps(got)
        return self._document.error(
            self._where(key) or "top level",
            f"{expected}, got {text if len(text) <= 80 else text[:77] + '...'}",
        )

    def take(self, key: str, kind: Kind[_T]) -> _T:
        """The value of a field of this kind."""
        if key not in self.value:
            raise self._document.error(self._where(key), f"is missing, expected {kind.expected}")
        got = self.value.pop(key)
        result = kind.read(got)
        if result is None:
            raise self.error(key, f"expected {kind.expected}", got)
        return result

    def one(self, key: str, record: Record[_T]) -> _T:
        """The record that a field holds."""
        return record.read(self.take(key, _OBJECT), self._where(key), self._document)

    def records(self, key: str, record: Record[_T], *, optional: bool = False) -> tuple[_T, ...]:
        """The records of a list. An absent `optional` field is an empty list."""
        name, document = self._where(key), self._document
        return tuple(
            record.read(item, f"{name}[{index}]", document)
            for index, item in enumerate(self._list(key, optional))
        )

    def named(self, key: str, record: Record[_T]) -> dict[str, _T]:
        """The records that are fields of an object: name to record."""
        name, document = self._where(key), self._document
        return {
            each: record.read(item, f"{name}.{each}", document)
            for each, item in self.take(key, _OBJECT).items()
        }

    def each(
        self, key: str, read: Callable[[JsonObject], _T], *, optional: bool = False
    ) -> tuple[_T, ...]:
        """The results of `read` for the objects of a list; for objects that are not a `Record`. An
        absent `optional` field is an empty list."""
        name, found = self._where(key), []
        for index, item in enumerate(self._list(key, optional)):
            source = JsonObject(item, f"{name}[{index}]", self._document)
            found.append(read(source))
            source.done()
        return tuple(found)

    def done(self) -> None:
        """Raises ArtifactError if a field remains."""
        for key, got in self.value.items():
            raise self.error(key, "is not a field of this format version", got)

    def _list(self, key: str, optional: bool) -> list[Any]:
        return [] if optional and key not in self.value else self.take(key, _LIST)

    def _where(self, key: str) -> str:
        return ".".join(part for part in (self._name, key) if part)


class Record(Generic[_T]):
    """An object with exactly these fields. `make` is called with their values in this order."""

    __slots__ = ("_kinds", "_make", "_reads")

    def __init__(self, make: Callable[..., _T], **kinds: Kind[Any]) -> None:
        self._make, self._kinds = make, kinds
        self._reads = [(key, kind.read) for key, kind in kinds.items()]

    def read(self, value: Any, name: str, document: Document) -> _T:
        """Reads a record.

        Args:
            value: The JSON value.
            name: Its name, for messages.
            document: The document, for messages.

        Returns:
            The result of `make`.

        Raises:
            ArtifactError: The value is not an object with these fields.
        """
        # Fast path: an artifact has hundreds of records, nearly always valid. The slow path below
        # finds the error.
        if value.__class__ is dict and len(value) == len(self._reads):
            try:
                found = [read(value[key]) for key, read in self._reads]
            except KeyError:
                found = [None]
            if None not in found:
                return self._make(*found)
        source = JsonObject(value, name, document)
        found = [source.take(key, kind) for key, kind in self._kinds.items()]
        source.done()
        return self._make(*found)


def choice(*values: str) -> Kind[str]:
    """One of the given strings."""
    quoted = [json.dumps(value) for value in values]
    return Kind(
        lambda value: value if value in values else None,
        f"{', '.join(quoted[:-1])} or {quoted[-1]}",
    )


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


TEXT: Kind[str] = Kind(_text, "a string without control characters")
COUNT: Kind[int] = Kind(_count, "an integer from 0 to 2**63 - 1")
FLAG: Kind[bool] = Kind(lambda value: value if value.__class__ is bool else None, "true or false")
DTYPE: Kind[str] = Kind(
    lambda value: value if value.__class__ is str and value in DTYPES else None,
    f"one of {', '.join(DTYPES)}",
)
COUNTS: Kind[tuple[int, ...]] = Kind(_counts, "a list of integers from 0 to 2**63 - 1")
SHAPE: Kind[tuple[int, ...]] = Kind(
    _shape, f"a list of at most {MOST_DIMS} sizes whose product without zeros is below 2**60"
)
TEXTS: Kind[tuple[str, ...]] = Kind(_texts, "a list of strings without control characters")
_OBJECT: Kind[dict[str, Any]] = Kind(
    lambda value: value if value.__class__ is dict else None, "an object"
)
_LIST: Kind[list[Any]] = Kind(
    lambda value: value if value.__class__ is list else None, "a list of objects"
)
