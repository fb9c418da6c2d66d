"""The printed forms of a graph: cudnn-frontend runs or reads them, and makes the same calls to
cuDNN as our build functions."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from graph_cases import PAIRS
from recorded import canonical, read_calls

from convoy.errors import ConvoyError
from convoy.graphs import (
    GraphError,
    OperationGraph,
    cudnn_json_text,
    graph_dot,
    graph_json_text,
    graph_names,
    graph_python,
    read_graph,
)
from convoy.graphs.source import record_graph

TENSOR = "!cudnn.tensor_desc<8x64x56x56xf16, NHWC>"

#: The methods of cudnn.pygraph have no parameter for these: their programs load JSON.
BY_JSON = {
    "aligned": (
        f"%y = cudnn.pointwise exp(%x) type = f32 : {TENSOR[:-1]}, alignment = 4> -> {TENSOR}",
        "tensor 1 has the alignment 4",
    ),
    "elu_with_alpha": (
        f"%y = cudnn.pointwise elu_fwd(%x) type = f32 elu_alpha = 0.5 : {TENSOR} -> {TENSOR}",
        "POINTWISE has elu_alpha = 0.5",
    ),
    "softplus_with_beta": (
        (
            f"%y = cudnn.pointwise softplus_fwd(%x) type = f32 softplus_beta = 2.0 : {TENSOR} "
            f"-> {TENSOR}"
        ),
        "POINTWISE has softplus_beta = 2.0",
    ),
}
#: cudnn-frontend cannot express these.
REFUSED = {
    "scaled": (
        f"%y = cudnn.pointwise exp(%x) type = f32 alpha1 = 0.5 : {TENSOR} -> {TENSOR}",
        "operation 0 (POINTWISE): operation_pointwise_alpha1 = 0.5; it always sets 1.0",
    ),
    "double_clip": (
        f"%y = cudnn.pointwise relu_fwd(%x) type = f32 upper_clip = 0.1 : {TENSOR} -> {TENSOR}",
        "operation 0 (POINTWISE): relu_upper_clip = 0.1, which is not exact in float",
    ),
}
POOLING = f"""%y = cudnn.resample maxpool(%x) type = f32 window = [3, 3] stride = [1, 1] pre_padding = [1, 1] post_padding = [1, 1]
    padding_mode = neg_inf_pad : {TENSOR} -> {TENSOR}"""


def _text(name: str, body: str) -> str:
    operand = re.search(r": (.*) ->", body)
    assert operand
    return (
        f"cudnn.graph @{name}(%x: {operand[1]}) -> {TENSOR} {{\n  {body}\n  cudnn.return %y : "
        f"{TENSOR}\n}}\n"
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("forms") / "graphs.mlir"
    others = {**BY_JSON, **REFUSED, "pooled": (POOLING, "")}
    path.write_text(
        "".join(pair.mlir for pair in PAIRS.values())
        + "".join(_text(name, body) for name, (body, _) in others.items())
    )
    return path


@pytest.fixture(scope="module")
def graphs(source: Path) -> dict[str, OperationGraph]:
    from convoy import _convoy
    from convoy.graphs.decode import decode
    from convoy_runtime._native import load_native
    from convoy_runtime.recorder import record

    native, _ = _convoy.compile_graphs(source.read_text(), str(source))
    library = load_native(native)
    return {
        name: decode(record(library.builder(f"{name}_build")), name)
        for name in [*PAIRS, *BY_JSON, *REFUSED, "pooled"]
    }


EXPRESSIBLE = [*PAIRS, *BY_JSON]


@pytest.fixture(scope="module")
def program_recordings(
    graphs: dict[str, OperationGraph], record_frontend: Callable[[Mapping[str, str]], Path]
) -> Path:
    return record_frontend({name: graph_python(graphs[name]) for name in EXPRESSIBLE})


@pytest.fixture(scope="module")
def json_recordings(
    graphs: dict[str, OperationGraph], record_frontend: Callable[[Mapping[str, str]], Path]
) -> Path:
    load = (
        "import cudnn\ndef build(**options):\n    g = cudnn.pygraph(**options)\n    "
        "g.deserialize({!r})\n    return g\n"
    )
    return record_frontend(
        {name: load.format(graph_json_text(graphs[name])) for name in EXPRESSIBLE}
    )


@pytest.mark.parametrize("name", EXPRESSIBLE)
def test_program_makes_the_same_calls(
    name: str, source: Path, graphs: dict[str, OperationGraph], program_recordings: Path
) -> None:
    error = program_recordings / f"{name}.error"
    assert not error.exists(), error.read_text()
    assert canonical(read_calls(program_recordings / f"{name}.calls")) == _ours(name, source)


@pytest.mark.parametrize("name", EXPRESSIBLE)
def test_json_is_what_cudnn_frontend_prints(
    name: str, graphs: dict[str, OperationGraph], program_recordings: Path
) -> None:
    printed = json.loads((program_recordings / f"{name}.json").read_text())
    ours = json.loads(graph_json_text(graphs[name]))
    for each in ("gid", "cudnn_backend_version", "cudnn_frontend_version"):
        printed.pop(each)
    ours.pop("gid")
    # cudnn.pygraph does not use the name; deserialize reads it.
    assert ours["context"].pop("name") == name
    assert printed["context"].pop("name", None) == (name if name in BY_JSON else None)
    assert ours == printed


@pytest.mark.parametrize("name", EXPRESSIBLE)
def test_json_makes_the_same_calls(name: str, source: Path, json_recordings: Path) -> None:
    error = json_recordings / f"{name}.error"
    assert not error.exists(), error.read_text()
    assert canonical(read_calls(json_recordings / f"{name}.calls")) == _ours(name, source)


_recordings: dict[Path, dict[str, list[object]]] = {}


def _ours(name: str, source: Path) -> list[object]:
    if source not in _recordings:
        from convoy import _convoy
        from convoy_runtime._native import load_native
        from convoy_runtime.recorder import record

        native, _ = _convoy.compile_graphs(source.read_text(), str(source))
        library = load_native(native)
        _recordings[source] = {
            each: canonical(record(library.builder(f"{each}_build"))) for each in EXPRESSIBLE
        }
    return _recordings[source][name]


@pytest.mark.parametrize("name", BY_JSON)
def test_program_documents_why_it_loads_json(name: str, graphs: dict[str, OperationGraph]) -> None:
    assert f"#   {BY_JSON[name][1]}\n" in graph_python(graphs[name])


@pytest.mark.parametrize("name", REFUSED)
def test_inexpressible_graph_is_refused(name: str, graphs: dict[str, OperationGraph]) -> None:
    for form in (graph_json_text, graph_python):
        with pytest.raises(GraphError) as caught:
            form(graphs[name])
        assert caught.value.problems == (REFUSED[name][1],)
    assert "alpha1 = 0.5" in graph_dot(graphs["scaled"])


def test_pooling_has_json_and_no_program(graphs: dict[str, OperationGraph]) -> None:
    (node,) = json.loads(graph_json_text(graphs["pooled"]))["nodes"]
    assert (node["resample_mode"], node["padding_mode"], node["window"]) == (
        "MAXPOOL",
        "NEG_INF_PAD",
        [3, 3],
    )
    with pytest.raises(GraphError) as caught:
        graph_python(graphs["pooled"])
    no_method, flaw = caught.value.problems
    assert no_method == "RESAMPLE has no method"
    assert "fractions with denominator 0" in flaw


EVIL = 'a"b\\c\n"""\'\'\'; import os; os.abort() #{x}\r\x00\u2028'


def test_names_are_escaped(graphs: dict[str, OperationGraph]) -> None:
    graph = graphs["conv_bias_residual_relu"]
    tensors = {uid: replace(tensor, name=EVIL) for uid, tensor in graph.tensors.items()}
    evil = replace(
        graph,
        name=EVIL,
        tensors=tensors,
        nodes=tuple(replace(node, name=EVIL) for node in graph.nodes),
    )
    for form in (graph, evil):
        program = ast.parse(graph_python(form))
        imported = [
            alias.name
            for node in ast.walk(program)
            if isinstance(node, ast.Import)
            for alias in node.names
        ]
        assert imported == ["sys", "cudnn"]
    assert ast.dump(program).count(repr(EVIL)) == 1 + len(graph.tensors) + len(graph.nodes)
    assert json.loads(graph_json_text(evil))["context"]["name"] == EVIL
    aligned = replace(graphs["aligned"], name=EVIL)
    program = ast.parse(graph_python(aligned))
    (text,) = [
        node.value
        for node in ast.walk(program)
        if isinstance(node, ast.Constant) and "json_version" in str(node.value)
    ]
    assert json.loads(str(text))["context"]["name"] == EVIL


def test_cudnn_log_json(source: Path, real_cudnn: Path) -> None:
    document = json.loads(cudnn_json_text(source, "conv_bias_residual_relu"))
    convolution, *_, relu = document["operationGraph"]["nodes"]
    assert convolution["operation"] == "CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR"
    # Defaults are included.
    assert relu["alpha1"] == 1.0
    assert relu["upperClip"] > 1e308
    (scaled,) = json.loads(cudnn_json_text(source, "scaled"))["operationGraph"]["nodes"]
    assert scaled["alpha1"] == 0.5


def test_cudnn_form_needs_cudnn(
    source: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONVOY_CUDNN", str(tmp_path))
    with pytest.raises(ConvoyError, match="cuDNN is missing"):
        cudnn_json_text(source, "sub")


def test_dot_is_well_formed(graphs: dict[str, OperationGraph]) -> None:
    evil = replace(graphs["conv_bias_residual_relu"], name=EVIL)
    for text in (graph_dot(evil), graph_dot(graphs["pooled"])):
        # Quoted strings have no control characters, and the text between them uses a small
        # alphabet.
        assert re.fullmatch(r'(?:[\w\s{};=>,\[\]-]|"(?:[^"\\\x00-\x1f]|\\["\\n])*")*', text), text
    lines = graph_dot(graphs["conv_bias_residual_relu"]).splitlines()
    assert sum("style=dashed" in line for line in lines) == 3
    assert sum(" -> " in line for line in lines) == 2 + 2 + 2 + 1 + 4


def test_graph_names(source: Path) -> None:
    assert graph_names(source)[: len(PAIRS)] == list(PAIRS)
    assert read_graph(source, "matmul").nodes[0].tag == "MATMUL"
    with pytest.raises(ConvoyError, match=r"expected --graph NAME; the file has conv_f16, "):
        record_graph(source, None)
    with pytest.raises(ConvoyError, match="expected a graph named 'none'"):
        record_graph(source, "none")


def test_bad_mlir_is_refused_with_its_location(tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text("cudnn.graph @g(%x: !cudnn.tensor_desc<4xf32>) {\n  cudnn.retrun\n}\n")
    with pytest.raises(ConvoyError, match=r"bad\.mlir:\d+:\d+: "):
        read_graph(path, None)
