# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Generates the tables of docs/manifest.md from the records in convoy_runtime.manifest and
convoy_runtime.dynamic.manifest.

    python -m tools.write_manifest_page

test/docs/test_manifest_page.py fails when the committed page differs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from convoy_runtime.dynamic.manifest import DynamicManifest
from convoy_runtime.json_object import Kind
from convoy_runtime.manifest import GraphAlternatives, Manifest
from convoy_runtime.record_fields import Given, Tag
from convoy_runtime.records import Record, RecordField, record_of

from .descriptors import ROOT

__all__ = ["PAGE", "main", "page_with_tables", "records"]

PAGE = ROOT / "docs/manifest.md"
_BEGIN = "<!-- records: begin -->\n"
_END = "<!-- records: end -->\n"
#: How a field holds records.
_FORMS = {"one": "{}", "list": "list of {}", "map": "map from name to {}"}


def records() -> list[Record[Any]]:
    """Every record, each before those that its fields hold."""
    found: dict[str, Record[Any]] = {}

    def visit(record: Record[Any]) -> None:
        if _name(record) not in found:
            found[_name(record)] = record
            for field in record.fields:
                if field.record is not None:
                    visit(field.record)

    for root in (Manifest, GraphAlternatives, DynamicManifest):
        visit(record_of(root))
    return list(found.values())


def page_with_tables(page: str) -> str:
    """The text of the page with current tables."""
    head, begin, rest = page.partition(_BEGIN)
    _, end, tail = rest.partition(_END)
    if not begin or not end:
        message = f"expected {_BEGIN.strip()} and {_END.strip()} in {PAGE}"
        raise ValueError(message)
    return "".join((head, begin, *_tables(), end, tail))


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page_with_tables(PAGE.read_text()))


def _tables() -> Iterator[str]:
    every = records()
    kinds = {
        field.kind.name: field.kind.expected
        for record in every
        for field in record.fields
        if isinstance(field.kind, Kind) and field.kind.name
    }
    yield "\n## Types\n\n| type | values |\n|---|---|\n"
    for name in sorted(kinds):
        yield f"| `{name}` | {_cell(kinds[name])} |\n"
    for record in every:
        yield f"\n## {_name(record)}\n\n{inspect.getdoc(record.make)}\n\n"
        yield "| field | type | required | description |\n|---|---|---|---|\n"
        for field in record.fields:
            required = "yes" if field.presence is None else field.presence.required
            cells = (f"`{field.name}`", _type(field), required, field.description)
            yield f"| {' | '.join(map(_cell, cells))} |\n"
    yield "\n"


def _name(record: Record[Any]) -> str:
    return record.make.__name__


def _type(field: RecordField) -> str:
    if field.record is not None:
        name = _name(field.record)
        return _FORMS[field.form].format(f"[{name}](#{name.lower()})")
    if isinstance(field.kind, Tag):
        return f"one of {', '.join(field.kind.names)}"
    assert isinstance(field.kind, Kind | Given)
    name = field.kind.name if isinstance(field.kind, Kind) else ""
    return f"`{name}`" if name else field.kind.expected


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main()
