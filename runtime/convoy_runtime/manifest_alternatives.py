"""What the alternatives of graphs in a manifest have to be, so that running one does what its graph does, and touches no other memory."""

from __future__ import annotations

from collections.abc import Sequence

from .manifest import Graph, GraphAlternative, GraphStep, GraphTensor

__all__ = ["check_alternatives"]

#: The field that is at fault, and what is expected and given.
Fault = tuple[str, str]


def check_alternatives(graphs: Sequence[Graph]) -> Fault | None:
    """The first fault of an alternative; None when there is none."""
    for number, graph in enumerate(graphs):
        names: set[str] = set()
        for place, alternative in enumerate(graph.alternatives):
            where = f"graphs[{number}].alternatives[{place}]"
            if alternative.name in names:
                return f"{where}.name", f"{alternative.name!r} is there twice"
            names.add(alternative.name)
            if (fault := _check(graphs, graph, alternative, where)) is not None:
                return fault
    return None


def _check(graphs: Sequence[Graph], graph: Graph, alternative: GraphAlternative, where: str) -> Fault | None:
    """A step reads what is there by then, and writes temporaries and results of `graph`, each once; all results are written."""
    count = len(graph.tensors)
    there = {place for place, tensor in enumerate(graph.tensors) if tensor.role == "input"}
    there |= {count + place for place, temporary in enumerate(alternative.temporaries) if temporary.zeros}
    for place, step in enumerate(alternative.steps):
        field = f"{where}.steps[{place}]"
        if step.graph >= len(graphs):
            return f"{field}.graph", f"expected less than {len(graphs)}, the number of graphs, got {step.graph}"
        inner = graphs[step.graph]
        if inner.symbol is None:
            return f"{field}.graph", f"expected a graph that cuDNN runs, got {inner.name}, which only a kernel runs"
        if len(step.tensors) != len(inner.tensors):
            return f"{field}.tensors", f"expected {len(inner.tensors)} tensors for {inner.name}, got {len(step.tensors)}"
        if (problem := _check_step(graph, alternative, step, inner.tensors, there)) is not None:
            return f"{field}.tensors", problem
    missing = [tensor.uid for place, tensor in enumerate(graph.tensors) if place not in there]
    return (f"{where}.steps", f"expected every result to be written, got none that writes tensor {missing[0]}") if missing else None


def _check_step(
    graph: Graph, alternative: GraphAlternative, step: GraphStep, tensors: Sequence[GraphTensor], there: set[int]
) -> str | None:
    """What is wrong with the tensors of a step; what it writes is added to `there`."""
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
                f"expected {wanted} for tensor {tensor.uid}, got {size} bytes{f' of {whole.dtype}' if whole is not None else ''} at {place}"
            )
        if tensor.role == "input" and place not in there:
            return f"expected something that is computed by then, got {place}"
        if tensor.role == "output":
            if place in there or place in written:
                return f"expected a result or a temporary that nothing has written yet, got {place}"
            written.add(place)
    there |= written
    return None
