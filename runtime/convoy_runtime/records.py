# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads and writes records: value types whose fields have the metadata of `record_fields`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from .json_object import LIST, OBJECT, Document, JsonObject, Kind
from .record_fields import Given, Presence, Tag

__all__ = ["Record", "RecordField", "record_of"]

_T = TypeVar("_T")
_FORMS: dict[Any, str] = {tuple: "list", Mapping: "map"}


class RecordField:
    """A field of a record.

    Attributes:
        name: Its name.
        description: Its description.
        kind: Its `Kind`, `Given` or `Tag`; None for records.
        record: The record that it holds; None for others.
        form: How many records it holds: "one", "list" or "map".
        presence: None for a required field.
        read: Converts a JSON value, or returns None if it is invalid; None for `Given` and `Tag`.
        default: Returns the value of an absent field.
    """

    __slots__ = ("default", "description", "form", "kind", "name", "presence", "read", "record")

    def __init__(self, field: dataclasses.Field[Any]) -> None:
        self.name = field.name
        metadata = field.metadata
        self.description: str = metadata["description"]
        self.kind: Kind[Any] | Given | Tag | None = metadata["kind"]
        self.presence: Presence | None = metadata["presence"]
        self.record: Record[Any] | None = None
        self.form = "one"
        if self.kind is None:
            annotation: Any = field.type
            self.form = _FORMS.get(getattr(annotation, "__origin__", None), "one")
            types: tuple[Any, ...] = (annotation, *getattr(annotation, "__args__", ()))
            self.record = record_of(
                next(each for each in types if hasattr(each, "__dataclass_fields__"))
            )
        self.default: Callable[[], Any] = (
            field.default_factory
            if field.default_factory is not dataclasses.MISSING
            else lambda: None if field.default is dataclasses.MISSING else field.default
        )
        self.read = self._reader()

    @property
    def uses(self) -> set[str]:
        """The fields that determine whether this one is valid."""
        names = {self.kind.field} if isinstance(self.kind, Given) else set()
        if self.presence is not None and self.presence.field:
            names.add(self.presence.field)
        return names

    def required(self, record: Mapping[str, Any]) -> bool:
        """Whether the field is required in a record with these other fields."""
        return self.presence is None or (
            self.presence.field != "" and record[self.presence.field] in self.presence.values
        )

    def accepts_null(self, record: Mapping[str, Any]) -> bool:
        """Whether null is valid, as the absence of the field."""
        return self.presence is not None and self.presence.null and not self.required(record)

    def given(self, value: Any, record: Mapping[str, Any]) -> Any:
        """The value of a field whose kind is `Given`; None if it is invalid."""
        assert isinstance(self.kind, Given)
        kind = self.kind.kind(record[self.kind.field])
        return None if kind is None else kind.read(value)

    def take(self, source: JsonObject, record: Mapping[str, Any]) -> Any:
        """The value of the field, which is removed from `source`. Raises ArtifactError."""
        if self.accepts_null(record) and source.value.get(self.name) is None:
            source.value.pop(self.name, None)
        if self.name not in source and not self.required(record):
            return self.default()
        if isinstance(self.kind, Given):
            kind = self.kind.kind(record[self.kind.field])
            return self.default() if kind is None else source.take(self.name, kind)
        if isinstance(self.kind, Kind):
            return source.take(self.name, self.kind)
        assert self.record is not None
        read, name, document = self.record.read, source.where(self.name), source.document
        if self.form == "list":
            items = source.take(self.name, LIST)
            return tuple(
                [read(item, f"{name}[{index}]", document) for index, item in enumerate(items)]
            )
        found = source.take(self.name, OBJECT)
        if self.form == "map":
            return {key: read(item, f"{name}.{key}", document) for key, item in found.items()}
        return read(found, name, document)

    def tree(self, value: Any) -> Any:
        """The JSON value of the field."""
        if self.record is None or value is None:
            return value
        tree = self.record.tree
        if self.form == "list":
            return [tree(each) for each in value]
        if self.form == "map":
            return {key: tree(each) for key, each in value.items()}
        return tree(value)

    def _reader(self) -> Callable[[Any], Any] | None:
        if isinstance(self.kind, Kind):
            return self.kind.read
        if self.record is None:
            return None
        fast = self.record.fast

        def read_list(value: Any) -> Any:
            if value.__class__ is not list:
                return None
            found = [fast(item) for item in value]
            # Not `None in found`, which calls `__eq__` of each record.
            for each in found:
                if each is None:
                    return None
            return tuple(found)

        def read_map(value: Any) -> Any:
            if value.__class__ is not dict:
                return None
            found = {key: fast(item) for key, item in value.items()}
            for each in found.values():
                if each is None:
                    return None
            return found

        return {"one": fast, "list": read_list, "map": read_map}[self.form]


class Record(Generic[_T]):
    """Reads and writes a record.

    Attributes:
        make: The class.
        fields: Its fields, in the order in which they are written.
    """

    __slots__ = ("_order", "_plain", "_tag", "fields", "make")

    def __init__(self, make: Callable[..., _T]) -> None:
        self.make = make
        self.fields = tuple(
            RecordField(field)
            for field in dataclasses.fields(make)  # type: ignore[arg-type]
        )
        kind = self.fields[0].kind
        self._tag = kind if isinstance(kind, Tag) else None
        #: Each field after those that it uses, with its name and reader.
        self._order = [(field.name, field.read, field) for field in _ordered(self.fields)]
        #: Name and reader of each field if all are required and independent.
        self._plain = (
            [(field.name, field.read) for field in self.fields]
            if all(field.presence is None and field.read is not None for field in self.fields)
            else None
        )

    def fast(self, value: Any) -> _T | None:
        """Reads a record. An artifact has hundreds of records, nearly always valid; for an invalid
        one `read` finds the error.

        Args:
            value: The JSON value.

        Returns:
            The record; None if the value is invalid.
        """
        if value.__class__ is not dict:
            return None
        if self._plain is not None:
            if len(value) != len(self._plain):
                return None
            try:
                found = [read(value[name]) for name, read in self._plain]  # type: ignore[misc]
            except KeyError:
                return None
            return None if None in found else self.make(*found)
        if self._tag is not None:
            return self._fast_tagged(value)
        record: dict[str, Any] = {}
        taken = 0
        for name, read_one, field in self._order:
            if name in value:
                item = value[name]
                taken += 1
                one = read_one(item) if read_one is not None else field.given(item, record)
                if one is None and not (item is None and field.accepts_null(record)):
                    return None
                record[name] = one
            elif field.required(record):
                return None
            else:
                record[name] = field.default()
        return self.make(**record) if taken == len(value) else None

    def read(self, value: Any, name: str, document: Document) -> _T:
        """Reads a record.

        Args:
            value: The JSON value.
            name: Its name, for messages.
            document: The document, for messages.

        Returns:
            The record.

        Raises:
            ArtifactError: The value is not an object with these fields.
        """
        found = self.fast(value)
        if found is not None:
            return found
        source = JsonObject(value, name, document)
        record: dict[str, Any] = {}
        if self._tag is not None:
            names = self._tag.names
            tag, number = self.fields
            assert isinstance(number.kind, Kind)
            record[tag.name] = next((each for each in names if each in source), names[0])
            record[number.name] = source.take(record[tag.name], number.kind)
        else:
            for name, _, field in self._order:
                record[name] = field.take(source, record)
        source.done()
        return self.make(**record)

    def tree(self, record: _T) -> dict[str, Any]:
        """The record as a JSON object."""
        if self._tag is not None:
            tag, number = self.fields
            return {getattr(record, tag.name): getattr(record, number.name)}
        found = {}
        for field in self.fields:
            value = getattr(record, field.name)
            if field.presence is None or not field.presence.omit or value:
                found[field.name] = field.tree(value)
        return found

    def _fast_tagged(self, value: dict[str, Any]) -> _T | None:
        assert self._tag is not None
        if len(value) != 1:
            return None
        ((name, item),) = value.items()
        if name not in self._tag.names:
            return None
        kind = self.fields[1].kind
        assert isinstance(kind, Kind)
        number = kind.read(item)
        return None if number is None else self.make(name, number)


def _ordered(fields: Sequence[RecordField]) -> list[RecordField]:
    """The fields, each after those that it uses."""
    ordered = [field for field in fields if not field.uses]
    waiting, read = [field for field in fields if field.uses], {field.name for field in ordered}
    while waiting:
        field = next(each for each in waiting if each.uses <= read)
        waiting.remove(field)
        ordered.append(field)
        read.add(field.name)
    return ordered


def record_of(make: Callable[..., _T]) -> Record[_T]:
    """The reader and writer of a record."""
    found = _records.get(make)
    if found is None:
        found = _records[make] = Record(make)
    return found


_records: dict[Callable[..., Any], Record[Any]] = {}
