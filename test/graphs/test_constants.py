"""Constants of a graph: printed as cudnn-frontend prints them, loaded by it, and imported as
`cudnn.constant`."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from mlir_bodies import bodies
from recorded import canonical, read_calls

from convoy.graphs import (
    GraphError,
    graph_dot,
    graph_json_text,
    graph_python,
    import_graph,
    read_graph,
)
from convoy.graphs.frontend_import import read_serialized
from convoy.graphs.source import record_graph

X = "!cudnn.tensor_desc<8x16x16xf32>"
#: By name: the literal, its type, and cudnn-frontend's form of it.
NUMBERS = {
    "float": ("1.00000001490116119e-01", "f32", {"index": 3, "value": "3DCCCCCD"}),
    "negative_zero": ("-0.0", "f32", {"index": 3, "value": "80000000"}),
    "infinity": ("0x7F800000", "f32", {"index": 3, "value": "7F800000"}),
    "double": ("0.1", "f64", {"index": 4, "value": 0.1}),
    "half": ("5.0e-01", "f16", {"index": 2, "value": "3F000000"}),
    "half_infinity": ("0xFC00", "f16", {"index": 2, "value": "FF800000"}),
    "bfloat": ("3.0", "bf16", {"index": 5, "value": "40400000"}),
    "bfloat_infinity": ("0x7F80", "bf16", {"index": 5, "value": "7F800000"}),
    "int": ("-7", "i32", {"index": 1, "value": -7}),
    "long": ("1099511627776", "i64", {"index": 0, "value": 1099511627776}),
}
#: A program that uses one of them directly; cudnn-frontend derives the type from the value.
PROGRAM = """
import cudnn
def build(**options):
    g = cudnn.pygraph(io_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT, **options)
    x = g.tensor(name="x", uid=1, dim=[8, 16, 16], stride=[256, 16, 1], data_type=cudnn.data_type.FLOAT)
    g.mul(a=x, b=g.tensor_scalar({}, cudnn.scalar_type.RUNTIME_PARAM)).set_output(True)
    return g
"""
DIRECT = {"double": "0.1", "int": "-7", "infinity": "float('inf')"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("constants") / "graphs.mlir"
    path.write_text(
        "".join(_text(name, literal, dtype) for name, (literal, dtype, _) in NUMBERS.items())
    )
    return path


def _text(name: str, literal: str, dtype: str) -> str:
    scalar = f"!cudnn.tensor_desc<1x1x1x{dtype}>"
    return f"""cudnn.graph @{name}(%x: {X}) -> {X} {{
  %s = cudnn.constant {literal} : {dtype} -> {scalar}
  %y = cudnn.pointwise mul(%x, %s) type = f32 : {X}, {scalar} -> {X}
  cudnn.return %y : {X}
}}
"""


def _scalar(document: Mapping[str, Any]) -> Any:
    (found,) = [each for each in document["tensors"] if each["is_pass_by_value"]]
    return found


@pytest.mark.parametrize("name", NUMBERS)
def test_json_round_trip(name: str, source: Path, tmp_path: Path) -> None:
    document = json.loads(graph_json_text(read_graph(source, name)))
    assert _scalar(document)["pass_by_value"] == NUMBERS[name][2]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(document))
    assert bodies(import_graph(path)[0])[name] == bodies(source.read_text())[name]


@pytest.fixture(scope="module")
def loaded(source: Path, record_frontend: Callable[[Mapping[str, str]], Path]) -> Path:
    """Recordings of cudnn-frontend: `direct_` graphs are its own, the others are loaded from our
    JSON."""
    load = (
        "import cudnn\ndef build(**options):\n    g = cudnn.pygraph(**options)\n    "
        "g.deserialize({!r})\n    return g\n"
    )
    ours = {name: load.format(graph_json_text(read_graph(source, name))) for name in NUMBERS}
    return record_frontend(
        {**ours, **{f"direct_{name}": PROGRAM.format(value) for name, value in DIRECT.items()}}
    )


@pytest.mark.parametrize("name", NUMBERS)
def test_cudnn_frontend_loads_the_json(name: str, source: Path, loaded: Path) -> None:
    error = loaded / f"{name}.error"
    assert not error.exists(), error.read_text()
    assert (
        _scalar(json.loads((loaded / f"{name}.json").read_text()))["pass_by_value"]
        == NUMBERS[name][2]
    )
    assert canonical(read_calls(loaded / f"{name}.calls")) == canonical(record_graph(source, name))


@pytest.mark.parametrize("name", DIRECT)
def test_import_of_a_direct_constant(name: str, loaded: Path, tmp_path: Path) -> None:
    printed = loaded / f"direct_{name}.json"
    assert _scalar(json.loads(printed.read_text()))["pass_by_value"] == NUMBERS[name][2]
    path = tmp_path / "imported.mlir"
    path.write_text(import_graph(printed)[0])
    literal, dtype, _ = NUMBERS[name]
    assert re.search(rf"cudnn\.constant {re.escape(literal)} : {dtype} -> ", path.read_text())
    assert canonical(record_graph(path, None)) == canonical(
        read_calls(loaded / f"direct_{name}.calls")
    )


def test_dot_and_python_forms(source: Path) -> None:
    graph = read_graph(source, "float")
    assert "value 0.10000000149011612" in graph_dot(graph)
    text = graph_python(graph)
    assert "VALUES = {3: 0.10000000149011612}" in text
    assert "t3 = graph.tensor(name='t3', uid=3" in text
    assert "is_pass_by_value=True" in text
    assert "VALUES" not in graph_python(read_graph(_plain(source), "plain"))
    assert "VALUES = {3: float('inf')}" in graph_python(read_graph(source, "infinity"))


def _plain(source: Path) -> Path:
    path = source.with_name("plain.mlir")
    path.write_text(
        f"cudnn.graph @plain(%x: {X}) -> {X} {{\n  %y = cudnn.pointwise exp(%x) type = "
        f"f32 : {X} -> {X}\n  cudnn.return %y : {X}\n}}\n"
    )
    return path


def test_infinite_double_is_refused_in_json(tmp_path: Path) -> None:
    path = tmp_path / "graph.mlir"
    path.write_text(_text("wide", "0x7FF0000000000000", "f64"))
    with pytest.raises(GraphError, match="tensor 3: the value inf, which JSON cannot express"):
        graph_json_text(read_graph(path, "wide"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"pass_by_value": 0.5},
            "expected the index of a type and a value of a by-value tensor, got 0.5",
        ),
        (
            {"is_pass_by_value": False},
            "expected the index of a type and a value of a by-value tensor, got {'index': 3",
        ),
        (
            {"data_type": "INT32"},
            "expected a number of the tensor's type, INT32, got the type with index 3",
        ),
        (
            {"data_type": "INT8"},
            "expected a number of the tensor's type, INT8, got the type with index 3",
        ),
        (
            {"pass_by_value": {"index": 3, "value": 0.5}},
            "pass_by_value: expected a float as eight hexadecimal digits, got 0.5",
        ),
        (
            {"data_type": "INT64", "pass_by_value": {"index": 0, "value": 0.5}},
            "expected a number, got 0.5",
        ),
    ],
)
def test_wrong_number_is_refused(change: dict[str, Any], problem: str, source: Path) -> None:
    document = json.loads(graph_json_text(read_graph(source, "float")))
    _scalar(document).update(change)
    with pytest.raises(GraphError) as caught:
        read_serialized(json.dumps(document).encode(), "float")
    assert any(each.startswith("tensor 3: ") and problem in each for each in caught.value.problems)


def test_constants_of_a_plan_must_match_the_tensors(source: Path) -> None:
    document = json.loads(graph_json_text(read_graph(source, "float")))
    same = copy.deepcopy(document) | {"pass_by_values": {"3": NUMBERS["float"][2]}}
    graph, _ = read_serialized(json.dumps(same).encode(), "float")
    assert math.isclose(graph.tensors[3].value or 0.0, 0.1, rel_tol=1e-7)
    for values, problem in (
        (
            {"3": {"index": 3, "value": "3F000000"}},
            (
                "tensor 3: expected its own value in 'pass_by_values', got {'index': 3, "
                "'value': '3F000000'}"
            ),
        ),
        (
            {"9": {"index": 1, "value": 4}},
            "tensor 9: expected its own value in 'pass_by_values', got {'index': 1, 'value': 4}",
        ),
        ([1], "expected an object as 'pass_by_values', got [1]"),
    ):
        with pytest.raises(GraphError) as caught:
            read_serialized(json.dumps(document | {"pass_by_values": values}).encode(), "float")
        assert caught.value.problems == (problem,)
