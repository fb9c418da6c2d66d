"""Graphs that cudnn-frontend serialized become the original IR, and every unsupported field is
listed."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from graph_cases import PAIRS
from mlir_bodies import bodies

from convoy.cli.main import main
from convoy.graphs import (
    GraphError,
    graph_json_text,
    graph_python,
    import_graph,
    read_graph,
    ubjson,
)
from convoy.graphs.frontend_import import read_serialized

NAMES = list(PAIRS)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("original") / "pairs.mlir"
    path.write_text("".join(pair.mlir for pair in PAIRS.values()))
    return path


@pytest.fixture(scope="module")
def printed(original: Path, record_frontend: Callable[[Mapping[str, str]], Path]) -> Path:
    """The JSON that cudnn-frontend prints for the programs from `convoy inspect`."""
    from convoy import _convoy
    from convoy.graphs.decode import decode
    from convoy_runtime._native import load_native
    from convoy_runtime.recorder import record

    library = load_native(_convoy.compile_graphs(original.read_text(), str(original))[0])
    graphs = {name: decode(record(library.builder(f"{name}_build")), name) for name in NAMES}
    return record_frontend({name: graph_python(graph) for name, graph in graphs.items()})


def test_round_trip(original: Path, printed: Path) -> None:
    """IR, program, cudnn-frontend, its JSON, and the same IR again."""
    imported = "".join(import_graph(printed / f"{name}.json")[0] for name in NAMES)
    assert len(NAMES) > 75
    assert bodies(imported) == bodies(original.read_text())


def test_every_frontend_graph_is_imported(
    record_frontend: Callable[[Mapping[str, str]], Path], original: Path
) -> None:
    """The same for hand-written programs, with uids and names of cudnn-frontend."""
    folder = record_frontend({name: pair.frontend for name, pair in PAIRS.items()})
    imported = {name: import_graph(folder / f"{name}.json")[0] for name in NAMES}
    # Such graphs have no name in the JSON and get the file's. Uids that differ from the compiler's
    # numbering are written.
    text = "".join(imported.values())
    assert "{cudnn.uid = 8 : i64}" in imported["conv_bias_residual_relu"]
    assert bodies(re.sub(r" \{cudnn\.uid = \d+ : i64\}", "", text)) == bodies(original.read_text())
    assert "// %t1: uid 1, t0\n" in imported["conv_f16"]


def test_import_of_bytes_with_a_plan(
    frontend_plans: Callable[[Mapping[str, str]], Path], original: Path
) -> None:
    names = ("conv_f16", "conv_f32", "conv_nchw")
    folder = frontend_plans({name: PAIRS[name].frontend for name in names})
    imported = {name: import_graph(folder / f"{name}.bin") for name in names}
    expected = bodies(original.read_text())
    assert bodies("".join(text for text, _ in imported.values())) == {
        name: expected[name] for name in names
    }
    # The plan is dropped, with a message that names it.
    assert {tuple(plan) for _, plan in imported.values()} == {
        ("behavior_notes", "cudnn_backend_data", "fe_workspace_size", "variant_pack_uids")
    }


@pytest.fixture(scope="module")
def document(printed: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((printed / "conv_bias_residual_relu.json").read_text())
    return loaded


def _problems(document: Any) -> tuple[str, ...]:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    with pytest.raises(GraphError) as caught:
        read_serialized(data, "graph")
    return caught.value.problems


def test_every_unknown_field_is_listed(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    changed["secret"] = 1
    changed["context"]["is_override_shape_enabled"] = True
    changed["context"]["color"] = "red"
    changed["workspace_modifications"] = {"7": [0, 1, [0.0]]}
    changed["tensors"][0]["sparsity"] = 0.5
    changed["tensors"][1]["pass_by_value"] = {"index": 3, "value": 1.0}
    changed["nodes"][0]["winograd"] = True
    changed["nodes"][1]["inputs"]["IN_9"] = 1
    changed["nodes"][2]["inputs"]["IN_1"] = 99
    changed["nodes"].append({"tag": "ROPE", "inputs": {}, "outputs": {}})
    assert _problems(changed) == (
        "the field 'secret' is unknown",
        "expected nothing in 'workspace_modifications', got {'7': [0, 1, [0.0]]}",
        "the field 'color' of the context is unknown",
        (
            "is_override_shape_enabled requires cuDNN 9.21; cudnn IR has the operations of cuDNN "
            "9.19"
        ),
        "tensor 1: the field 'sparsity' is unknown",
        (
            "tensor 2: expected the index of a type and a value of a by-value tensor, got "
            "{'index': 3, 'value': 1.0}"
        ),
        "node 0 (CONV_FPROP): the field 'winograd' is unknown",
        "node 1 (POINTWISE): inputs: the port 'IN_9' is unknown",
        "node 2 (POINTWISE): inputs: expected the uid of a tensor at IN_1, got 99",
        "node 4: ROPE has no operation in cudnn IR",
    )


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("json_version",), "1.0", "expected cudnn-frontend's json_version '2.0', got '1.0'"),
        (("nodes",), 3, "expected a list of nodes, got 3"),
        (("tensors",), {}, "expected a list of tensors, got {}"),
        (("context",), [], "expected an object as the context, got []"),
        (("context", "name"), 5, "expected a name as text, got 5"),
        (("tensors", 0, "uid"), "1", "expected a tensor with a uid, got"),
        (("tensors", 1, "uid"), 1, "duplicate tensor 1"),
        (
            ("tensors", 0, "dim"),
            [1, 2],
            "tensor 1: expected as many strides as dims, got [1, 2] and",
        ),
        (
            ("tensors", 0, "dim"),
            [1, 2, 3, "4"],
            "tensor 1: expected as many strides as dims, got [1, 2, 3, '4'] and",
        ),
        (
            ("tensors", 0, "data_type"),
            None,
            "tensor 1: expected a data type, got None: call graph.validate() before",
        ),
        (
            ("tensors", 0, "is_virtual"),
            1,
            "tensor 1: expected is_virtual to be true or false, got 1",
        ),
        (("tensors", 0, "alignment"), "16", "tensor 1: expected an alignment in bytes, got '16'"),
        (
            ("tensors", 0, "ragged_offset_uid"),
            50,
            "tensor 1: its ragged offset, tensor 50, is missing",
        ),
        (
            ("nodes", 0, "math_mode"),
            "X) evil",
            "node 0 (CONV_FPROP): expected math_mode to be an enumerator, got 'X) evil'",
        ),
        (
            ("nodes", 0, "stride"),
            [1, "1"],
            "node 0 (CONV_FPROP): expected stride to be a list of integers, got [1, '1']",
        ),
        (("nodes", 0, "outputs"), [], "node 0 (CONV_FPROP): outputs: expected an object, got []"),
        (("nodes", 1, "axis"), 1.5, "node 1 (POINTWISE): expected axis to be an integer, got 1.5"),
        (
            ("nodes", 3, "relu_lower_clip"),
            0.0,
            (
                "node 3 (POINTWISE): relu_lower_clip: expected a float as eight hexadecimal "
                "digits, got 0.0"
            ),
        ),
        (("nodes", 1, "outputs", "OUT_0"), 6, "tensor 6 is written by two nodes"),
        (("nodes", 0, "inputs", "X"), 7, "depend on each other in a cycle"),
    ],
)
def test_bad_documents(
    document: dict[str, Any], path: tuple[str | int, ...], value: Any, problem: str
) -> None:
    changed = copy.deepcopy(document)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert any(problem in each for each in _problems(changed)), _problems(changed)


def test_missing_fields_are_named(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    del changed["nodes"][0]["dilation"]
    assert _problems(changed) == ("node 0 (CONV_FPROP): expected 'dilation', got nothing",)


def test_tensor_attributes(document: dict[str, Any], tmp_path: Path) -> None:
    changed = copy.deepcopy(document)
    (bias,) = [each for each in changed["tensors"] if each["uid"] == 3]
    bias.update(
        {
            "dim": [1, 1, 1, 1],
            "stride": [1, 1, 1, 1],
            "data_type": "FLOAT",
            "is_pass_by_value": True,
            "uid": 33,
        }
    )
    changed["nodes"][2]["inputs"]["IN_1"] = 33
    path, again = tmp_path / "scalar.json", tmp_path / "scalar.mlir"
    path.write_text(json.dumps(changed))
    again.write_text(import_graph(path)[0])
    assert (
        "!cudnn.tensor_desc<1x1x1x1xf32, NHWC> {cudnn.uid = 33 : i64, cudnn.by_value}"
        in again.read_text()
    )
    back = json.loads(graph_json_text(read_graph(again, None)))
    for each in (back, changed):
        for tensor in each["tensors"]:
            tensor.pop("name")
    key = lambda tensor: (tensor["is_virtual"], tensor["uid"])  # noqa: E731
    real = [
        [tensor for tensor in sorted(each["tensors"], key=key) if not tensor["is_virtual"]]
        for each in (back, changed)
    ]
    assert real[0] == real[1]


def test_nodes_may_come_in_any_order(document: dict[str, Any]) -> None:
    changed = copy.deepcopy(document)
    changed["nodes"].reverse()
    assert (
        read_serialized(json.dumps(changed).encode(), "g")[0]
        == read_serialized(json.dumps(document).encode(), "g")[0]
    )


@pytest.mark.parametrize(
    "data", [b"", b"\x80\x04N.", b"[1]", b"{", b"not a graph", b"[" * 100000, b"{i\x01a" * 5000]
)
def test_invalid_files_are_refused(data: bytes) -> None:
    (problem,) = _problems(data)
    assert problem.startswith("expected ")


def test_invalid_graph_is_refused_by_the_compiler(document: dict[str, Any], tmp_path: Path) -> None:
    changed = copy.deepcopy(document)
    changed["nodes"][0]["pre_padding"] = [7, 7]
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(changed))
    with pytest.raises(GraphError, match=r"(?s)not valid cudnn IR.*expects output of shape"):
        import_graph(path)


def test_names_are_escaped(document: dict[str, Any], tmp_path: Path) -> None:
    changed = copy.deepcopy(document)
    evil = '"\n}\nmodule {}\\22 // %x'
    changed["context"]["name"] = evil
    for tensor in changed["tensors"]:
        tensor["name"] = evil
    path = tmp_path / "evil.json"
    path.write_text(json.dumps(changed))
    text, _ = import_graph(path)
    assert text.count("module") == len(changed["tensors"]) - 3 + 1
    again = tmp_path / "evil.mlir"
    again.write_text(text)
    assert read_graph(again, None).name == evil


def test_command(
    document: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target, bad = (tmp_path / name for name in ("graph.json", "graph.mlir", "bad.json"))
    source.write_text(json.dumps(document | {"fe_workspace_size": 0}))
    assert main(["import", str(source), "-o", str(target)]) == 0
    assert (
        "ignored, because they belong to a plan and not to the graph: fe_workspace_size"
        in capsys.readouterr().err
    )
    assert main(["import", str(source)]) == 0
    assert capsys.readouterr().out == target.read_text()
    assert json.loads(graph_json_text(read_graph(target, None)))["nodes"][0]["tag"] == "CONV_FPROP"
    bad.write_text(json.dumps(document | {"nodes": [{"tag": "SDPA_BWD"}]}))
    target.write_text("as it was")
    assert main(["import", str(bad), "-o", str(target)]) == 1
    assert "node 0: SDPA_BWD has no operation in cudnn IR" in capsys.readouterr().err
    assert target.read_text() == "as it was"


def test_ubjson() -> None:
    assert ubjson.loads(
        b"{i\x01a[ZTFNi\xffU\xffI\x01\x00l\x00\x01\x00\x00]U\x01bSi\x02hiNi\x01cD?\xf0\x00\x00\x00\x00\x00\x00}"
    ) == {
        "a": [None, True, False, -1, 255, 256, 65536],
        "b": "hi",
        "c": 1.0,
    }
    assert ubjson.loads(b"[$i#i\x03\x01\x02\x03") == [1, 2, 3]
    assert ubjson.loads(b"{$U#i\x01i\x01k\x07") == {"k": 7}
    assert ubjson.loads(b"[#i\x02d?\x80\x00\x00Cx") == [1.0, "x"]
    for data, problem in {
        b"": "byte 0: expected 1 bytes, got 0",
        b"[i": "byte 2: expected 1 bytes, got 0",
        b"Si\xffa": "byte 3: expected -1 bytes, got 1",
        b"Zx": "byte 1: expected the end, got 1 more bytes",
        b"x": "byte 0: expected a value, got 'x'",
        b"SZ": "byte 1: expected a length, got 'Z'",
        b"Si\x01\xff": "expected UTF-8",
        b"[$i]": "byte 3: expected a count after a type",
        b"[$Z#l\x7f\xff\xff\xff": "byte 9: expected 2147483647 elements, got 0 bytes",
        b"{i\x01aZi\x01aZ}": "duplicate key 'a'",
        b"[" * 200: "expected at most 100 levels",
    }.items():
        with pytest.raises(ubjson.UbjsonError) as caught:
            ubjson.loads(data)
        assert problem in str(caught.value)
