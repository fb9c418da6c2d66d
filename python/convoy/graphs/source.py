"""Where graphs come from: an artifact's native library, or a `.mlir` file with `cudnn.graph`s,
built by the compiler. Either way the graph's build function is run with a recorder, so that what is
printed is what cuDNN gets. That of an artifact is code of whoever wrote the artifact, so it is run
only where the caller says `run_native`."""

from __future__ import annotations

import json
from pathlib import Path

from convoy.errors import ConvoyError, MlirSyntaxError
from convoy.graphs.decode import decode
from convoy.graphs.frontend_import import read_serialized
from convoy.graphs.mlir_text import graph_mlir
from convoy.graphs.model import GraphError, OperationGraph
from convoy.graphs.scalars import scalar_of
from convoy_runtime.recorder import Recording, record

__all__ = ["graph_library", "graph_names", "import_graph", "read_graph", "record_graph"]


def graph_names(path: Path) -> list[str]:
    """The names of the graphs in an artifact or a `.mlir` file, less those that only kernels
    run."""
    return [name for name, (symbol, _) in _library(path)[1].items() if symbol is not None]


def read_graph(path: Path, name: str | None, *, run_native: bool = False) -> OperationGraph:
    """The graph `name` of an artifact or a `.mlir` file; its only graph when `name` is None.
    `run_native` lets native code of an artifact run in this process. Raises ConvoyError, also for
    an artifact without it, and ConvoyRuntimeError."""
    recording, found, values = _record(path, name, run_native=run_native)
    return decode(recording, found, values)


def record_graph(path: Path, name: str | None, *, run_native: bool = False) -> Recording:
    """What the build function of that graph says to cuDNN."""
    return _record(path, name, run_native=run_native)[0]


def import_graph(path: Path) -> tuple[str, list[str]]:
    """A graph that cudnn-frontend serialized, as text of the `cudnn` dialect that the compiler has
    verified; and which fields of a built plan were in the file beside it. Raises GraphError,
    OSError."""
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
    path: Path, name: str | None, *, run_native: bool = False
) -> tuple[bytes | memoryview, str, str]:
    """The native library that has the graph `name`, its build function's symbol, and its name, for
    a caller that runs it. Raises ConvoyError, ConvoyRuntimeError."""
    content, symbol, name, _ = _graph(path, name, run_native=run_native)
    return content, symbol, name


def _graph(
    path: Path, name: str | None, *, run_native: bool
) -> tuple[bytes | memoryview, str, str, dict[int, float | int]]:
    """The same, and the values of the graph's constants by uid."""
    if path.suffix != ".mlir" and not run_native:
        message = (
            f"{path}: --as runs native code of the artifact, which may do anything that you "
            "may: pass --run-native if you trust it"
        )
        raise ConvoyError(message)
    content, graphs = _library(path)
    names = [each for each, (symbol, _) in graphs.items() if symbol is not None]
    if name is None and len(names) == 1:
        name = names[0]
    if name not in names:
        asked = "--graph NAME" if name is None else f"a graph named {name!r}"
        if name in graphs:
            asked = f"a graph that cuDNN runs, got {name}, which only a kernel runs"
        message = f"{path}: expected {asked}; the file has {', '.join(names) or 'no cuDNN graph'}"
        raise ConvoyError(message)
    symbol, values = graphs[name]
    assert symbol is not None
    return content, symbol, name, values


def _record(
    path: Path, name: str | None, *, run_native: bool
) -> tuple[Recording, str, dict[int, float | int]]:
    from convoy_runtime._native import load_native

    content, symbol, found, values = _graph(path, name, run_native=run_native)
    return record(load_native(content, path=path).builder(symbol)), found, values


def _library(
    path: Path,
) -> tuple[bytes | memoryview, dict[str, tuple[str | None, dict[int, float | int]]]]:
    """A native library; by name its graphs' symbols, None where only a kernel runs one, and the
    values of their constants by uid."""
    if path.suffix == ".mlir":
        return _compile(path)
    from convoy_runtime.artifact import open_artifact

    artifact = open_artifact(path, any_host=True)
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
