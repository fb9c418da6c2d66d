"""Every graph of the lowering tests can be drawn, and has the other forms or a reason for a
refusal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convoy.graphs import GraphError, OperationGraph, graph_dot, graph_json_text, graph_python
from convoy.graphs.decode import decode
from convoy.graphs.frontend_import import read_serialized
from convoy.graphs.kinds import BY_TAG, KINDS
from convoy_runtime._native import load_native
from convoy_runtime.cuda.plans.fingerprint import fingerprint
from convoy_runtime.recorder import record
from tools.cudnn_ops import lowered_names

FILES = sorted((Path(__file__).parents[1] / "passes/cudnn_to_backend/Inputs/graphs").glob("*.mlir"))
#: Peer statistics are a list of tensors, which a JSON node cannot have.
LISTS = {"batch_norm_peers", "batch_norm_backward_peers"}


def _graphs() -> list[tuple[Path, str]]:
    return [
        (path, name)
        for path in FILES
        for name in re.findall(r"^cudnn\.graph @(\w+)", path.read_text(), re.MULTILINE)
    ]


@pytest.fixture(scope="module")
def compiled() -> dict[str, tuple[Any, dict[str, Any]]]:
    """The build function of each graph, and its entry in the manifest."""
    from convoy import _convoy

    found = {}
    for path in FILES:
        native, manifest = _convoy.compile_graphs(path.read_text(), str(path))
        library = load_native(native)
        found.update(
            {
                graph["name"]: (library.builder(graph["symbol"]), graph)
                for graph in json.loads(manifest)["graphs"]
            }
        )
    return found


@pytest.fixture(scope="module")
def read(compiled: dict[str, tuple[Any, dict[str, Any]]]) -> dict[str, OperationGraph]:
    return {
        name: decode(record(build), name)
        for name, (build, _) in compiled.items()
        if name not in LISTS
    }


def test_compiler_and_runtime_fingerprints_are_equal(
    compiled: dict[str, tuple[Any, dict[str, Any]]],
) -> None:
    assert len(compiled) == len(_graphs())
    found = {name: fingerprint(build) for name, (build, _) in compiled.items()}
    assert None not in found.values()
    assert {name: graph["fingerprint"] for name, (_, graph) in compiled.items()} == found


@pytest.mark.parametrize("name", [name for _, name in _graphs() if name not in LISTS])
def test_drawn_and_printed_or_refused(name: str, read: dict[str, OperationGraph]) -> None:
    graph = read[name]
    picture = graph_dot(graph)
    assert all(f"{node.tag}" in picture for node in graph.nodes)
    assert picture.count(" -> ") == sum(
        len(node.inputs) + len(node.outputs) for node in graph.nodes
    ) + sum(tensor.ragged_offset is not None for tensor in graph.tensors.values())
    for form in (graph_json_text, graph_python):
        reasons = _reasons(form, graph)
        foreign = [node.tag for node in graph.nodes if BY_TAG[node.tag].foreign]
        assert bool(foreign) <= bool(reasons)
        assert all(
            re.match(r"operation \d+ \(|tensor \d+|[A-Z_]+ |cudnn-frontend |genstats ", each)
            for each in reasons
        ), reasons


def _reasons(form: Callable[[OperationGraph], str], graph: OperationGraph) -> tuple[str, ...]:
    """Why a graph has no such form; empty if it has one."""
    try:
        form(graph)
    except GraphError as error:
        return error.problems
    return ()


def test_every_lowered_kind_is_known() -> None:
    kinds, _ = lowered_names()
    operations = {kind for kind in kinds if kind.startswith("operation_")}
    assert operations <= {kind.descriptor for kind in KINDS}


def test_kinds_without_json_are_not_imported() -> None:
    document = (
        b'{"json_version": "2.0", "context": {}, "tensors": [], "nodes": [{"tag": "RNG", '
        b'"inputs": {}, "outputs": {}}]}'
    )
    with pytest.raises(
        GraphError,
        match="node 0: RNG is not an operation that cudnn-frontend prints in a known form",
    ):
        read_serialized(document, "graph")
