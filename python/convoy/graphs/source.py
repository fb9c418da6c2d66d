# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads graphs from the native library of an artifact, or from a `.mlir` file with `cudnn.graph`s,
which is compiled. In both cases the graph's build function runs with a recorder, so that the result
is the graph that cuDNN gets. Code of an artifact may be untrusted, and runs only with
`run_native`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from convoy.errors import ConvoyError, MlirSyntaxError
from convoy.graphs.decode import decode
from convoy.graphs.frontend_import import read_serialized
from convoy.graphs.mlir_text import graph_mlir
from convoy.graphs.model import GraphError, OperationGraph
from convoy.graphs.scalars import scalar_of
from convoy_runtime.recorder import Recording, record

__all__ = [
    "Point",
    "graph_library",
    "graph_names",
    "import_graph",
    "read_graph",
    "record_graph",
]

#: The value of each symbol of an artifact with dynamic sizes; None for static sizes.
Point = Mapping[str, int] | None


def graph_names(path: Path) -> list[str]:
    """The names of the graphs in an artifact or a `.mlir` file, except those that only kernels
    compute."""
    return [name for name, (symbol, _) in _library(path, None)[1].items() if symbol is not None]


def read_graph(
    path: Path, name: str | None, *, run_native: bool = False, point: Point = None
) -> OperationGraph:
    """Reads a graph.

    Args:
        path: An artifact, or a `.mlir` file.
        name: The graph. None for the only one.
        run_native: Whether native code of an artifact may run in this process.
        point: The point of an artifact with dynamic sizes.

    Returns:
        The graph.

    Raises:
        ConvoyError: The graph does not exist or cannot be decoded, or `path` is an artifact and
            `run_native` is false.
        ConvoyRuntimeError: The artifact is damaged.
    """
    recording, found, values = _record(path, name, run_native=run_native, point=point)
    return decode(recording, found, values)


def record_graph(
    path: Path, name: str | None, *, run_native: bool = False, point: Point = None
) -> Recording:
    """Records the cuDNN calls of a graph's build function. Arguments and errors as `read_graph`."""
    return _record(path, name, run_native=run_native, point=point)[0]


def import_graph(path: Path) -> tuple[str, list[str]]:
    """Imports a graph that cudnn-frontend serialized.

    Args:
        path: The file.

    Returns:
        The graph in the `cudnn` dialect, verified by the compiler, and the names of ignored fields
        of a built plan.

    Raises:
        GraphError: Parts of the file are unknown or invalid.
        OSError: The file cannot be read.
    """
    from convoy import _convoy

    graph, plan = read_serialized(path.read_bytes(), path.stem)
    text = graph_mlir(graph)
    try:
        _convoy.verify(text, str(path))
    except _convoy.CompilationFailed as failure:
        raise GraphError(
            f"{path}: the graph is not valid cudnn IR", [message for *_, message in failure.args[1]]
        ) from None
    return text, plan


def graph_library(
    path: Path, name: str | None, *, run_native: bool = False, point: Point = None
) -> tuple[bytes | memoryview, str, str]:
    """The native library of a graph, the symbol of the graph's build function, and its name.
    Arguments and errors as `read_graph`."""
    content, symbol, name, _ = _graph(path, name, run_native=run_native, point=point)
    return content, symbol, name


def _graph(
    path: Path, name: str | None, *, run_native: bool, point: Point
) -> tuple[bytes | memoryview, str, str, dict[int, float | int]]:
    """Library, symbol and name as `graph_library`, and uid to value of the graph's constants."""
    if path.suffix != ".mlir" and not run_native:
        message = (
            f"{path}: --as runs native code of the artifact with your permissions: pass "
            "--run-native if you trust it"
        )
        raise ConvoyError(message)
    content, graphs = _library(path, point)
    names = [each for each, (symbol, _) in graphs.items() if symbol is not None]
    if name is None and len(names) == 1:
        name = names[0]
    if name not in names:
        expected = "--graph NAME" if name is None else f"a graph named {name!r}"
        if name in graphs:
            expected = f"a graph that cuDNN runs, got {name}, which only a kernel runs"
        listed = ", ".join(names) or "no cuDNN graph"
        message = f"{path}: expected {expected}; the file has {listed}"
        raise ConvoyError(message)
    symbol, values = graphs[name]
    assert symbol is not None
    return content, symbol, name, values


def _record(
    path: Path, name: str | None, *, run_native: bool, point: Point
) -> tuple[Recording, str, dict[int, float | int]]:
    from convoy_runtime._native import load_native

    content, symbol, found, values = _graph(path, name, run_native=run_native, point=point)
    return record(load_native(content, path=path).builder(symbol)), found, values


def _library(
    path: Path, point: Point
) -> tuple[bytes | memoryview, dict[str, tuple[str | None, dict[int, float | int]]]]:
    """A native library, and graph name to the symbol of its build function, None if only kernels
    compute it, and uid to value of its constants."""
    if path.suffix == ".mlir":
        return _compile(path)
    from convoy_runtime.opening import open_artifact

    artifact = open_artifact(path, any_host=True, point=point)
    return artifact.members["native.so"], {
        graph.name: (
            graph.symbol,
            {
                each.uid: scalar_of(each.dtype, bytes.fromhex(each.bytes))
                for each in graph.constants
            },
        )
        for graph in (*artifact.manifest.graphs, *artifact.alternatives().graphs)
    }


def _compile(path: Path) -> tuple[bytes, dict[str, tuple[str | None, dict[int, float | int]]]]:
    from convoy import _convoy

    try:
        native, manifest = _convoy.compile_graphs(path.read_text(), str(path))
    except _convoy.CompilationFailed as failure:
        _, diagnostics = failure.args
        lines = [
            f"{file}:{line}:{column}: {message}" for _, file, line, column, message in diagnostics
        ]
        raise MlirSyntaxError("\n".join(lines)) from None
    return native, {
        graph["name"]: (
            graph.get("symbol"),
            {
                each["uid"]: scalar_of(each["dtype"], bytes.fromhex(each["bytes"]))
                for each in graph.get("constants", ())
            },
        )
        for graph in json.loads(manifest).get("graphs", [])
    }
