"""Reads JSON objects strictly: a missing, unknown or ill-typed field is an error that names it."""

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

#: What a signed integer of 64 bits holds, as which sizes reach native code.
LARGEST = (1 << 63) - 1
#: As many as numpy and PyTorch allow.
MOST_DIMS = 64
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@value_type(frozen=True, slots=True)
class Document:
    """What messages name: an artifact, and the member of it that is being read."""

    path: object
    member: str | None

    def parse(self, text: str | bytes, problem: str = "is no JSON") -> Any:
        """The value of JSON text. An object with one name twice is refused, because readers differ
        on what it means, and so is text that is no Unicode (half of a surrogate pair). Raises
        ArtifactError with `problem`."""
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
        """`problem` with the field of this name."""
        return ArtifactError(problem=problem, path=self.path, member=self.member, field=field)


@value_type(frozen=True, slots=True)
class Kind(Generic[_T]):
    """What a field may be: `read` gives its value, or None where it is not as `expected` says."""

    read: Callable[[Any], _T | None]
    expected: str


class JsonObject:
    """A JSON object being read. Fields are taken one by one, so that `done` can refuse what is
    left."""

    __slots__ = ("_document", "_name", "value")

    def __init__(self, value: Any, name: str, document: Document) -> None:
        self._name, self._document = name, document
        if not isinstance(value, dict):
            raise self.error("", "expected an object", value)
        #: The fields that were not taken yet.
        self.value = dict(value)

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def error(self, key: str, expected: str, got: Any) -> ArtifactError:
        """Says what was expected of a field, and what it is."""
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
        """The records of a list, of which there are none where an `optional` field is absent."""
        name, document = self._where(key), self._document
        return tuple(
            record.read(item, f"{name}[{index}]", document)
            for index, item in enumerate(self._list(key, optional))
        )

    def named(self, key: str, record: Record[_T]) -> dict[str, _T]:
        """The records that are the fields of an object, by name."""
        name, document = self._where(key), self._document
        return {
            each: record.read(item, f"{name}.{each}", document)
            for each, item in self.take(key, _OBJECT).items()
        }

    def each(
        self, key: str, read: Callable[[JsonObject], _T], *, optional: bool = False
    ) -> tuple[_T, ...]:
        """What `read` makes of the objects of a list, whose fields are not all of one kind
        always."""
        name, found = self._where(key), []
        for index, item in enumerate(self._list(key, optional)):
            source = JsonObject(item, f"{name}[{index}]", self._document)
            found.append(read(source))
            source.done()
        return tuple(found)

    def done(self) -> None:
        """Raises ArtifactError when a field was not taken."""
        for key, got in self.value.items():
            raise self.error(key, "is no field of this format version", got)

    def _list(self, key: str, optional: bool) -> list[Any]:
        return [] if optional and key not in self.value else self.take(key, _LIST)

    def _where(self, key: str) -> str:
        return ".".join(part for part in (self._name, key) if part)


class Record(Generic[_T]):
    """An object that has these fields and no others; `make` is given their values in this order."""

    __slots__ = ("_kinds", "_make", "_reads")

    def __init__(self, make: Callable[..., _T], **kinds: Kind[Any]) -> None:
        self._make, self._kinds = make, kinds
        self._reads = [(key, kind.read) for key, kind in kinds.items()]

    def read(self, value: Any, name: str, document: Document) -> _T:
        """The record that `value` is; `name` is what messages call it. Raises ArtifactError."""
        # An artifact has hundreds of these and they are as they have to be: what is wrong with one
        # is found out apart.
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
    """One of some words."""
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
            f"the name {next(name for name in names if names.count(name) > 1)!r} is there "
            "twice in an object"
        )
        raise ValueError(message)
    return found


def _text(value: Any) -> str | None:
    # A terminal takes some control characters for commands, and names are printed.
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
        # Of this class exactly: true is an int to Python.
        if item.__class__ is not int or not 0 <= item <= LARGEST:
            return None
    return tuple(value)


def _shape(value: Any) -> tuple[int, ...] | None:
    sizes = _counts(value)
    # numpy counts a dim of 0 as one here, and so do strides.
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
