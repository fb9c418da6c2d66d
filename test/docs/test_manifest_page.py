"""The tables of docs/manifest.md are current, and its examples have the fields of the records."""

from __future__ import annotations

import json
import re
from typing import Any

from convoy_runtime.manifest import GraphAlternatives, Manifest, TensorSpec
from convoy_runtime.manifest_structure import Node
from convoy_runtime.record_fields import Tag
from convoy_runtime.records import Record, RecordField, record_of
from tools.write_manifest_page import PAGE, page_with_tables

TEXT = PAGE.read_text()


def test_tables_are_current() -> None:
    assert page_with_tables(TEXT) == TEXT, "run `python -m tools.write_manifest_page`"


def test_each_field_has_a_description() -> None:
    rows = re.findall(r"^\| `\w+` \| .* \| .* \| (.*) \|$", TEXT, re.MULTILINE)
    assert len(rows) > 80
    assert [each for each in rows if not each.endswith(".")] == []


def _check(tree: Any, record: Record[Any]) -> None:
    """The example of a record has its fields in order, except for `...`."""
    if isinstance(record.fields[0].kind, Tag):
        assert tree.keys() <= set(record.fields[0].kind.names)
        return
    if "..." not in tree:
        # The nodes of a structure have the fields of their kind; a packed tensor has no strides.
        some = record.make in (Node, TensorSpec)
        fields = [f for f in record.fields if not some or f.name in tree]
        assert list(tree) == [field.name for field in fields]
    for field in record.fields:
        _check_field(tree.get(field.name), field)


def _check_field(value: Any, field: RecordField) -> None:
    if field.record is None or value is None:
        return
    for each in {"list": list, "map": dict.values}.get(field.form, lambda one: [one])(value):
        _check(each, field.record)


def test_examples_have_the_fields_of_the_records() -> None:
    blocks = re.findall(r"^```json\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    for block, make in zip(blocks, (Manifest, GraphAlternatives), strict=True):
        _check(json.loads(block), record_of(make))
