# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""show the content of an artifact, or one of its cuDNN graphs in a format for other tools

--as prints the graph --graph of an artifact, or of a .mlir file with cudnn.graphs. The output is
complete; a graph that a format cannot express is an error.
  json    cudnn-frontend's JSON, as returned by str(graph) and read by
          cudnn.pygraph().deserialize(text) and `convoy import`
  cudnn   cuDNN's JSON, as logged when cuDNN finalizes the graph, with defaults; uses the installed
          cuDNN, with or without a GPU
  dot     a picture for Graphviz
  python  a program for cudnn-frontend (pip install nvidia-cudnn-frontend) that builds the graph,
          e.g. for a bug report
Code of the artifact builds its graphs, so --as requires --run-native. All other options run no code
of the artifact.

--ptx prints the generated kernels (kernels.ptx), then the kernels of graphs, each after the name of
its member; with --graph, the kernels of that graph.

examples:
  convoy inspect resnet18.convoy
  convoy inspect resnet18.convoy --digest
  convoy inspect resnet18.convoy --manifest
  convoy inspect resnet18.convoy --ptx
  convoy inspect resnet18.convoy --ptx --graph conv2d_add_relu_0
  convoy inspect resnet18.convoy --graph conv2d_add_relu_0 --as python --run-native > report.py
  convoy inspect graph.mlir --as dot | dot -Tsvg -o graph.svg
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from convoy.errors import ConvoyError

if TYPE_CHECKING:
    from convoy_runtime.artifact import Artifact
    from convoy_runtime.dynamic.artifact import DynamicArtifact
    from convoy_runtime.manifest import Manifest

__all__ = ["main", "populate_parser"]


def populate_parser(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    from convoy_runtime.load_flags import add_point

    parser.add_argument(
        "artifact",
        metavar="FILE",
        type=Path,
        help="an artifact that `convoy compile` wrote; with --as also a .mlir file",
    )
    parser.add_argument(
        "--graph",
        metavar="NAME",
        help="graph to print with --as, required if there are several, or with --ptx",
    )
    add_point(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--manifest", action="store_true", help="print manifest.json")
    what.add_argument(
        "--digest",
        action="store_true",
        help="print the digest of the artifact, which covers all of its bytes",
    )
    what.add_argument("--ptx", action="store_true", help="print the PTX of the kernels")
    what.add_argument(
        "--as",
        dest="form",
        choices=("json", "cudnn", "dot", "python"),
        help="print a cuDNN graph in this format",
    )
    parser.add_argument(
        "--run-native",
        action="store_true",
        help="with --as: run code of the artifact, which must be trusted",
    )


def main(options: argparse.Namespace) -> int:
    """Runs the command."""
    from convoy_runtime.artifact import Artifact
    from convoy_runtime.opening import open_file, select_point
    from convoy_runtime.strides import memory_format

    if options.form is not None:
        return _print_graph(
            options.artifact,
            options.graph,
            options.form,
            run_native=options.run_native,
            point=options.point,
        )
    if options.run_native:
        message = "--run-native requires --as: nothing else runs code of the artifact"
        raise ConvoyError(message)
    if options.graph is not None and not options.ptx:
        message = "--graph requires --ptx, or --as: json, cudnn, dot or python"
        raise ConvoyError(message)
    opened = open_file(options.artifact)
    opened.verify()
    if not isinstance(opened, Artifact) and options.point is None:
        return _print_dynamic(opened, options)
    artifact = select_point(opened, options.point or {})
    manifest = artifact.manifest
    if options.manifest:
        print(manifest.to_json())
        return 0
    if options.digest:
        print(artifact.digest)
        return 0
    if options.ptx:
        for text in _ptx(artifact, options.graph):
            print(text, end="" if text.endswith("\n") else "\n")
        return 0
    console = Console(highlight=False, soft_wrap=True, markup=False)
    producer = ", ".join(f"{name} {version}" for name, version in manifest.producer.items())
    console.print(
        f"{options.artifact}: target {manifest.target}, host {manifest.host.cpu}, produced by "
        f"{producer}"
    )
    console.print(f"  digest {artifact.digest}")
    for title, specs in (("input", manifest.inputs), ("output", manifest.outputs)):
        for spec in specs:
            memory = f", {memory_format(spec.shape, spec.strides)}" if spec.strides else ""
            console.print(f"  {title} {spec.name}: {spec.dtype} {list(spec.shape)}{memory}")
    console.print(
        f"  {len(manifest.weights)} weights, {len(manifest.prepared)} prepared; arena "
        f"{manifest.arena_bytes / 1e6:.2f} MB{_above_bound(manifest)}"
    )
    if manifest.target == "cuda":
        console.print(f"  {_device_memory(artifact)}")
    table = Table(box=None, pad_edge=False)
    for column in ("member", "bytes", "sha256"):
        table.add_column(column, justify="right" if column == "bytes" else "left")
    for name, entry in manifest.files.items():
        table.add_row(name, f"{entry.bytes:,}", entry.sha256[:16])
    console.print(table)
    if manifest.graphs:
        table = Table(box=None, pad_edge=False)
        for column in ("graph", "calls", "ops", "kernels", "alternatives", "location"):
            table.add_column(column)
        # A graph without calls is a step of alternatives.
        for index, graph in enumerate((*manifest.graphs, *artifact.alternatives().graphs)):
            calls = str(sum(call.graph == index for call in manifest.calls) or "-")
            kernels = " ".join(kernel.variant for kernel in graph.kernels) or "-"
            table.add_row(
                graph.name,
                calls,
                " ".join(graph.ops),
                kernels,
                str(len(graph.alternatives) or "-"),
                graph.location,
            )
        console.print(table)
    for kernel in manifest.kernels:
        console.print(f"  kernel {kernel.name} ({kernel.location})")
    return 0


def _print_dynamic(artifact: DynamicArtifact, options: argparse.Namespace) -> int:
    """Describes an artifact with dynamic sizes."""
    from convoy_runtime.dynamic.overview import overview

    if options.ptx:
        message = f"{options.artifact}: --ptx requires --point for an artifact with dynamic sizes"
        raise ConvoyError(message)
    if options.manifest:
        print(artifact.manifest.to_json())
    elif options.digest:
        print(artifact.digest)
    else:
        print(f"{options.artifact}:")
        for line in overview(artifact):
            print(f"  {line}")
    return 0


def _ptx(artifact: Artifact, name: str | None) -> Iterator[str]:
    """The PTX modules of an artifact, or of the kernels of graph `name`. Raises ConvoyError."""
    from convoy_runtime.manifest import kernel_member
    from convoy_runtime.ptx_members import unpack_ptx

    graphs = [graph for graph in artifact.manifest.graphs if graph.kernels]
    if name is None and "kernels.ptx" in artifact.members:
        yield bytes(artifact.members["kernels.ptx"]).decode()
    elif name is not None and name not in (graph.name for graph in graphs):
        names = ", ".join(graph.name for graph in graphs) or "none"
        message = f"{artifact.path}: expected a graph with kernels ({names}), got {name}"
        raise ConvoyError(message)
    for graph in graphs:
        for kernel in graph.kernels if name in (None, graph.name) else ():
            member = kernel_member(kernel.name)
            yield f"// {member}\n{unpack_ptx(artifact.members[member], member).decode()}"


def _above_bound(manifest: Manifest) -> str:
    """The size of the arena relative to its lower bound, the bytes live at the same time."""
    if not manifest.live_bytes:
        return ""
    ratio = manifest.arena_bytes / manifest.live_bytes
    return f", {ratio:.2f} times the {manifest.live_bytes / 1e6:.2f} MB that are live at most"


def _device_memory(artifact: Artifact) -> str:
    """The device memory of a run: its buffers, which live as long as the program, and the largest
    workspace of the plans in the artifact that does not fit in the arena during its calls. Calls
    that run concurrently have a workspace each."""
    from convoy_runtime.inspection import shipped_plans

    manifest = artifact.manifest
    parts = {
        "arena with outputs" if manifest.output_offsets else "arena": manifest.arena_bytes,
        "prepared weights": sum(spec.bytes for spec in manifest.prepared),
        "inputs": sum(spec.bytes for spec in manifest.inputs),
    }
    if manifest.own_outputs:
        parts["outputs"] = sum(spec.bytes for spec in manifest.own_outputs)
    gaps = {manifest.graphs[index].name: size for index, size in manifest.graph_gaps.items()}
    workspaces = [
        0 if size <= gaps.get(plan.report.graph, 0) else size
        for plan in shipped_plans(artifact)
        for size in [plan.report.workspace_bytes]
    ]
    if workspaces:
        parts["largest workspace outside of the arena"] = max(workspaces)
    listed = ", ".join(f"{name} {size / 1e6:.2f} MB" for name, size in parts.items())
    unknown = "" if workspaces else "; workspaces are known once the artifact has plans"
    return f"device memory {sum(parts.values()) / 1e6:.2f} MB: {listed}{unknown}"


def _print_graph(
    path: Path, name: str | None, form: str, *, run_native: bool, point: dict[str, int] | None
) -> int:
    from convoy.graphs import cudnn_json_text, graph_dot, graph_json_text, graph_python, read_graph

    if form == "cudnn":
        text = cudnn_json_text(path, name, run_native=run_native, point=point)
    else:
        text = {"json": graph_json_text, "dot": graph_dot, "python": graph_python}[form](
            read_graph(path, name, run_native=run_native, point=point)
        )
    print(text, end="" if text.endswith("\n") else "\n")
    return 0
