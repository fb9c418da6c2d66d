"""The compiler writes the fields that convoy_runtime.manifest defines: every one, and no others."""

from __future__ import annotations

import dataclasses
import json
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

import convoy
from convoy import _convoy
from convoy_runtime import manifest_reader
from convoy_runtime.dynamic.manifest import DynamicManifest
from convoy_runtime.json_object import Kind
from convoy_runtime.manifest import GraphAlternatives, Manifest
from convoy_runtime.record_fields import Tag
from convoy_runtime.records import Record, record_of
from tools.write_manifest_page import records

#: The type of each named kind; the others are strings.
TYPES: dict[str, Any] = {
    "count": int,
    "counts": tuple[int, ...],
    "dtype": str,
    "flag": bool,
    "int32": int,
    "sha256": str,
    "shape": tuple[int, ...],
    "strings": Mapping[str, str],
    "symbol": str,
    "text": str,
    "texts": tuple[str, ...],
    "uint32": int,
}
#: Record and field.
Field = tuple[str, str]


class Results(NamedTuple):
    """Nested results, with a constant."""

    y: Tensor
    x: Tensor
    factor: float


class Model(nn.Module):
    """Its manifest for `cuda` has every field."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        self.windows = nn.Conv2d(64, 64, 3, padding=1)
        self.conv = nn.Conv2d(64, 64, 3, padding=1)
        self.alias = self.conv
        self.linear = nn.Linear(64, 64)
        self.recurrent = nn.RNN(64, 64, batch_first=True)
        self.register_buffer("scale", torch.arange(64.0).reshape(64, 1, 1), persistent=False)

    def forward(self, x: Tensor, *, factor: float) -> Results:
        y = torch.relu(self.windows(self.stem(x)))
        # 0.5 is a constant of the graph, sin is outside of graphs, its result has strides, the
        # result x is a copy, and a kernel of the recurrent layer is launched for each step.
        z = torch.relu(self.conv(y)) * 0.5 + y
        steps = self.recurrent(y.flatten(2))[0].unflatten(2, (8, 8))
        rows = y.flatten(2).mT
        rows = torch.relu(self.linear(rows) + rows)
        y = torch.sin(z * self.scale).mT + steps
        return Results(y + torch.cat([rows, rows], 1)[:, :64].mT.unflatten(2, (8, 8)), x, factor)


def _names(record: Record[Any]) -> tuple[str, ...]:
    """The JSON fields of a record."""
    kind = record.fields[0].kind
    return kind.names if isinstance(kind, Tag) else tuple(field.name for field in record.fields)


def _fields(tree: dict[str, Any], record: Record[Any], where: str) -> set[Field]:
    """The fields of an object and those in it. Fails for a field that its record lacks."""
    fields = {field.name: field for field in record.fields}
    found = set()
    for name, value in tree.items():
        assert name in _names(record), f"{where}.{name} is not in {record.make.__name__}"
        found.add((record.make.__name__, name))
        field = fields.get(name)
        if field is None or field.record is None:
            continue
        for each in {"list": list, "map": dict.values}.get(field.form, lambda one: [one])(value):
            found |= _fields(each, field.record, f"{where}.{name}")
    return found


def _manifest_of(
    module: nn.Module, target: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """manifest.json as the compiler passes it to the reader, and alternatives.json."""
    trees = []

    def spy(tree: Any, **named: Any) -> Manifest:
        trees.append(tree)
        return read(tree, **named)

    read = manifest_reader.read_manifest_tree
    with monkeypatch.context() as patch:
        patch.setattr(manifest_reader, "read_manifest_tree", spy)
        inputs = (torch.zeros(1, 3, 32, 32),)
        compiled = convoy.compile(
            module.eval(), inputs, {"factor": 2.0}, target=target, dtype="float16"
        )
    [tree] = trees
    offered = compiled.members.get("alternatives.json")
    return tree, None if offered is None else json.loads(offered)


@pytest.mark.parametrize("record", records(), ids=lambda record: record.make.__name__)
def test_checks_match_the_types(record: Record[Any]) -> None:
    for field in dataclasses.fields(record.make):
        kind = field.metadata["kind"]
        if kind is not None:
            expected = TYPES[kind.name] if isinstance(kind, Kind) and kind.name else str
            assert field.type in (expected, expected | None), field.name


def _dynamic_manifest() -> Any:
    """The manifest of a model with a dynamic size."""
    batch = torch.export.Dim("batch", min=1, max=2)
    model = convoy.compile(
        torch.nn.Linear(2, 2).eval(),
        (torch.ones(2, 2),),
        target="cpu",
        dynamic_shapes={"input": {0: batch}},
    )
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return json.loads(zipfile.ZipFile(Path(folder) / "model").read("manifest.json"))


def test_compiler_writes_every_field(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, offered = _manifest_of(Model(), "cuda", monkeypatch)
    assert offered is not None
    found = _fields(tree, record_of(Manifest), "manifest")
    found |= _fields(offered, record_of(GraphAlternatives), "alternatives")
    found |= _fields(_dynamic_manifest(), record_of(DynamicManifest), "dynamic manifest")
    expected = {(each.make.__name__, name) for each in records() for name in _names(each)}
    assert sorted(expected - found) == []
    empty = [name for name in ("constants", "aliases", "unused", "producer") if not tree[name]]
    assert empty == []


def test_compiler_writes_no_other_field_for_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, offered = _manifest_of(Model(), "cpu", monkeypatch)
    assert offered is None
    assert ("Manifest", "target") in _fields(tree, record_of(Manifest), "manifest")


def test_graphs_without_a_program_have_no_other_field() -> None:
    """The compiler writes these for `convoy inspect FILE.mlir`. A tensor by value is an ordinary
    tensor."""
    text = """
        !t = !cudnn.tensor_desc<2x4x4xf32>
        !s = !cudnn.tensor_desc<1x1x1xf32>
        cudnn.graph @g(%x: !t, %s: !s {cudnn.by_value}) -> !t {
          %0 = cudnn.pointwise add(%x, %s) type = f32 : !t, !s -> !t
          cudnn.return %0 : !t
        }"""
    _, manifest = _convoy.compile_graphs(text, "graph.mlir")
    assert ("GraphTensor", "uid") in _fields(json.loads(manifest), record_of(Manifest), "manifest")
