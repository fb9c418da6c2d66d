# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Reads alternatives.json. Checks that each alternative writes all results of its graph, and
accesses only the graph's tensors and temporaries."""

from __future__ import annotations

from collections.abc import Sequence

from .json_object import Document
from .manifest import (
    ALTERNATIVES,
    Graph,
    GraphAlternative,
    GraphAlternatives,
    GraphStep,
    GraphTensor,
    Manifest,
)
from .manifest_reader import check_tensors
from .records import record_of

__all__ = ["read_alternatives"]

#: The invalid field, and the problem.
Fault = tuple[str, str]


def read_alternatives(
    text: str | bytes, manifest: Manifest, *, path: object = None
) -> GraphAlternatives:
    """Reads and checks alternatives.json.

    Args:
        text: The text of the member.
        manifest: The manifest of the same artifact.
        path: The artifact, for messages.

    Returns:
        The alternatives.

    Raises:
        ArtifactError: The text is invalid or does not match the manifest.
    """
    document = Document(path, ALTERNATIVES)
    found = record_of(GraphAlternatives).read(document.parse(text), "", document)
    check_tensors(found.graphs, document)
    if (fault := _check_names(manifest, found) or _check(manifest, found)) is not None:
        raise document.error(*fault)
    return found


def _check_names(manifest: Manifest, found: GraphAlternatives) -> Fault | None:
    """Checks that names and order of alternatives match the manifest."""
    for place, alternative in enumerate(found.alternatives):
        if alternative.graph >= len(manifest.graphs):
            problem = (
                f"expected less than {len(manifest.graphs)}, the number of graphs in "
                f"manifest.json, got {alternative.graph}"
            )
            return f"alternatives[{place}].graph", problem
    for number, graph in enumerate(manifest.graphs):
        names = [alternative.name for alternative in found.of(number)]
        if names != list(graph.alternatives):
            listed = (
                f"expected {', '.join(graph.alternatives) or 'none'} for graph {graph.name}, "
                "as in manifest.json"
            )
            return "alternatives", f"{listed}, got {', '.join(names) or 'none'}"
    for number, graph in enumerate(found.graphs):
        if graph.alternatives:
            return (
                f"graphs[{number}].alternatives",
                (
                    "expected none for a graph that is only a step, got "
                    f"{', '.join(graph.alternatives)}"
                ),
            )
    return None


def _check(manifest: Manifest, found: GraphAlternatives) -> Fault | None:
    """The first fault of an alternative, or None."""
    graphs = (*manifest.graphs, *found.graphs)
    for place, alternative in enumerate(found.alternatives):
        if (fault := _check_alternative(graphs, alternative, f"alternatives[{place}]")) is not None:
            return fault
    return None


def _check_alternative(
    graphs: Sequence[Graph], alternative: GraphAlternative, where: str
) -> Fault | None:
    """Checks that steps read only computed tensors, that temporaries and results are written at
    most once, and that all results are written."""
    graph = graphs[alternative.graph]
    count = len(graph.tensors)
    computed = {place for place, tensor in enumerate(graph.tensors) if tensor.role == "input"}
    computed |= {
        count + place for place, temporary in enumerate(alternative.temporaries) if temporary.zeros
    }
    for place, step in enumerate(alternative.steps):
        field = f"{where}.steps[{place}]"
        if step.graph >= len(graphs):
            return (
                f"{field}.graph",
                f"expected less than {len(graphs)}, the number of graphs, got {step.graph}",
            )
        inner = graphs[step.graph]
        if inner.symbol is None:
            return (
                f"{field}.graph",
                f"expected a graph that cuDNN runs, got {inner.name}, which only a kernel runs",
            )
        if len(step.tensors) != len(inner.tensors):
            return (
                f"{field}.tensors",
                f"expected {len(inner.tensors)} tensors for {inner.name}, got {len(step.tensors)}",
            )
        if (problem := _check_step(graph, alternative, step, inner.tensors, computed)) is not None:
            return f"{field}.tensors", problem
    missing = [tensor.uid for place, tensor in enumerate(graph.tensors) if place not in computed]
    return (
        (
            f"{where}.steps",
            f"expected every result to be written, but no step writes tensor {missing[0]}",
        )
        if missing
        else None
    )


def _check_step(
    graph: Graph,
    alternative: GraphAlternative,
    step: GraphStep,
    tensors: Sequence[GraphTensor],
    computed: set[int],
) -> str | None:
    """The problem with the tensors of a step, or None. Adds the tensors that the step writes to
    `computed`."""
    count, limit = len(graph.tensors), len(graph.tensors) + len(alternative.temporaries)
    written: set[int] = set()
    for place, tensor in zip(step.tensors, tensors, strict=True):
        if place >= limit:
            return f"expected less than {limit}, the number of tensors and temporaries, got {place}"
        whole = graph.tensors[place] if place < count else None
        size = alternative.temporaries[place - count].bytes if whole is None else whole.bytes
        if tensor.bytes != size or (whole is not None and tensor.dtype != whole.dtype):
            wanted = f"{tensor.bytes} bytes of {tensor.dtype}"
            return (
                f"expected {wanted} for tensor {tensor.uid}, got {size} "
                f"bytes{f' of {whole.dtype}' if whole is not None else ''} at {place}"
            )
        if tensor.role == "input" and place not in computed:
            return f"expected a tensor that a previous step computes, got {place}"
        if tensor.role == "output":
            if place in computed or place in written:
                return f"expected a result or a temporary that no step has written yet, got {place}"
            written.add(place)
    computed |= written
    return None
