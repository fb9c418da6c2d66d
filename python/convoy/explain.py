"""What became of each op of a model, as text: the groups that cuDNN runs, the generated kernels, and what stayed outside and why."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convoy_runtime.manifest import Graph, GraphTensor, Manifest

__all__ = ["explain_artifact", "explain_manifest", "explain_model"]


def explain_artifact(path: str | os.PathLike[str]) -> str:
    """The explanation of an artifact. Raises ArtifactError."""
    from convoy_runtime.artifact import open_artifact

    return explain_manifest(open_artifact(path).manifest)


def explain_model(name: str, dtype: str | None) -> str:
    """The explanation of a model for cuda: FILE.py:FUNCTION, or a torch-dialect .mlir file. Raises ConvoyError."""
    from convoy.cli.model_file import build_model
    from convoy.compiler import compile_imported
    from convoy.frontend import import_mlir, import_module
    from convoy.options import CompileOptions

    imported = import_mlir(Path(name)) if name.endswith(".mlir") else import_module(*build_model(name))
    options = CompileOptions.of(target="cuda", dtype=dtype, weights=False)
    return explain_manifest(compile_imported(imported, options).manifest)


def explain_manifest(manifest: Manifest) -> str:
    """The explanation that a manifest holds."""
    return "\n".join(_lines(manifest)) + "\n"


def _lines(manifest: Manifest) -> Iterator[str]:
    if manifest.target == "cpu":
        yield "target cpu: the whole model is one native library; there are no cuDNN groups"
        return
    yield f"{len(manifest.calls)} groups run by cuDNN ({len(manifest.graphs)} distinct graphs), {len(manifest.kernels)} generated kernels"
    patterns = Counter(" + ".join(manifest.graphs[call.graph].ops) for call in manifest.calls)
    for pattern, count in patterns.most_common():
        yield f"  {count:4}x {pattern}"
    yield ""
    yield "groups, in the order in which they run"
    for index, call in enumerate(manifest.calls):
        graph = manifest.graphs[call.graph]
        yield f"  {index:3} {graph.name}: {' + '.join(graph.ops)}"
        yield f"      {_signature(graph)}"
        yield f"      {call.location}"
    yield ""
    yield "generated kernels"
    for kernel in manifest.kernels:
        yield f"  {kernel.name} ({kernel.location})"
    yield ""
    yield "outside the groups"
    for op in manifest.outside:
        yield f"  {op.op}: {op.reason} ({op.location})"
    if not manifest.outside:
        yield "  nothing"


def _signature(graph: Graph) -> str:
    operands = [_tensor(tensor) for tensor in graph.tensors if tensor.role == "input"]
    results = [_tensor(tensor) for tensor in graph.tensors if tensor.role == "output"]
    return f"{', '.join(operands)} -> {', '.join(results)}"


def _tensor(tensor: GraphTensor) -> str:
    return f"{tensor.dtype}[{'x'.join(map(str, tensor.shape))}]"
