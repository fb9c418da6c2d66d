# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Describes a compiled model as text: the groups and how they run, the generated kernels, and the
ops outside groups with the reasons."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convoy_runtime.manifest import Graph, GraphTensor, Manifest

__all__ = ["explain_artifact", "explain_manifest", "signature"]

#: Preference of a graph with kernels to a description of how it runs.
_RUNNERS = {
    "kernel": "a kernel of the artifact, or cuDNN if tuning finds it faster",
    "plan": "cuDNN, or a kernel of the artifact if tuning finds it faster",
    "only_kernel": "a kernel of the artifact, because cuDNN does not support the graph",
}


def explain_artifact(path: str | os.PathLike[str], point: Mapping[str, int] | None = None) -> str:
    """Describes an artifact.

    Args:
        path: The file.
        point: The point of an artifact with dynamic sizes. Without it, the symbols and all points
            are listed.

    Returns:
        The text.

    Raises:
        ArtifactError: The file is no intact artifact.
        ArgumentError: There is no such point.
    """
    from convoy_runtime.artifact import Artifact
    from convoy_runtime.dynamic.overview import overview
    from convoy_runtime.opening import open_file, select_point

    opened = open_file(path)
    opened.verify()
    if not isinstance(opened, Artifact) and point is None:
        return "\n".join(overview(opened)) + "\n"
    return explain_manifest(select_point(opened, point or {}).manifest)


def explain_manifest(manifest: Manifest) -> str:
    """Describes the compiled model of a manifest."""
    return "\n".join(_lines(manifest)) + "\n"


def _lines(manifest: Manifest) -> Iterator[str]:
    if manifest.target == "cpu":
        yield "target cpu: the whole model is one native library, without cuDNN groups"
        return
    yield (
        f"{len(manifest.calls)} groups ({len(manifest.called_graphs)} distinct graphs), "
        f"{len(manifest.kernels)} generated kernels"
    )
    runners = Counter(_runner(manifest.graphs[call.graph]) for call in manifest.calls)
    for runner, count in runners.most_common():
        yield f"  {count:4}x run by {runner}"
    yield ""
    yield "ops of the groups"
    patterns = Counter(" + ".join(manifest.graphs[call.graph].ops) for call in manifest.calls)
    for pattern, count in patterns.most_common():
        yield f"  {count:4}x {pattern}"
    yield ""
    yield "groups in execution order"
    for index, call in enumerate(manifest.calls):
        graph = manifest.graphs[call.graph]
        yield f"  {index:3} {graph.name}: {' + '.join(graph.ops)}"
        yield f"      {signature(graph)}"
        if graph.kernels:
            yield (
                f"      run by {_runner(graph)}: "
                f"{', '.join(kernel.variant for kernel in graph.kernels)}"
            )
        if graph.matmul is not None:
            yield "      or cuBLASLt, if tuning finds it faster"
        for alternative in graph.alternatives:
            yield f"      or {alternative}, if tuning finds it faster"
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


def _runner(graph: Graph) -> str:
    return _RUNNERS[graph.preference] if graph.kernels else "cuDNN"


def signature(graph: Graph) -> str:
    """The operands and results of a graph as text, e.g. `float16[1x4x8x8], float16[8x4x1x1] ->
    float16[1x8x8x8]`."""
    operands = [_tensor(tensor) for tensor in graph.tensors if tensor.role == "input"]
    results = [_tensor(tensor) for tensor in graph.tensors if tensor.role == "output"]
    return f"{', '.join(operands)} -> {', '.join(results)}"


def _tensor(tensor: GraphTensor) -> str:
    return f"{tensor.dtype}[{'x'.join(map(str, tensor.shape))}]"
