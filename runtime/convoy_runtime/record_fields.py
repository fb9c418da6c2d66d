# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The metadata of a record's fields: description, check of the JSON value, and when the field may
be absent. `records` reads and writes records by it.

    @value_type(frozen=True, slots=True)
    class Call:
        graph: int = field(metadata=about("An index into `Manifest.graphs`.", COUNT))
        location: str = field(metadata=about("The line of the model.", TEXT))

A field without a kind is a record, a tuple of records, or a mapping to records. Modules with
records do not use `from __future__ import annotations`, which replaces annotations by their text.
`typing.Annotated` would need no `field`, but takes twenty times as long, a millisecond per load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .json_object import Kind
from .value_types import value_type

__all__ = ["OMITTED", "OPTIONAL", "Given", "Presence", "Tag", "about"]


@value_type(frozen=True, slots=True)
class Given:
    """The kind of a field that depends on another field.

    Attributes:
        field: The name of the other field.
        kind: The kind for a value of the other field; None if the field must be absent.
        expected: The kinds, for documentation.
    """

    field: str
    kind: Callable[[Any], Kind[Any] | None]
    expected: str


@value_type(frozen=True, slots=True)
class Presence:
    """When a field may be absent. An absent field has its default, or None.

    Attributes:
        required: When the field is required, for documentation.
        field: The field that determines whether this one is required; empty if it never is.
        values: The values of `field` with which this field is required.
        null: Whether null is the same as absence.
        omit: Whether writers omit an empty value.
    """

    required: str
    field: str = ""
    values: tuple[str, ...] = ()
    null: bool = False
    omit: bool = False


#: An absent field has its default; writers write it.
OPTIONAL = Presence("no")
#: Writers omit an empty value.
OMITTED = Presence("no", omit=True)


@value_type(frozen=True, slots=True)
class Tag:
    """The field is the name of the object's only field, and one of `names`. The next field of the
    record is its value."""

    names: tuple[str, ...]


def about(
    description: str,
    kind: Kind[Any] | Given | Tag | None = None,
    presence: Presence | None = None,
) -> dict[str, Any]:
    """The metadata of a field.

    Args:
        description: Its description.
        kind: The check of its JSON value; None for records.
        presence: When it may be absent; None for a required field.
    """
    return {"description": description, "kind": kind, "presence": presence}
