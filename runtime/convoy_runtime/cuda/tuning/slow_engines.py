"""What tuning a program's graphs tells of cuDNN's engines, for its other graphs of the same
kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from convoy_runtime.manifest import Graph, GraphTensor

from .accuracy import is_exact
from .candidates import Candidate
from .race import HOST_MICROSECONDS

__all__ = ["SlowEngines"]

#: An engine that took this many times as long as the best plan, in each of so many graphs or more,
#: is left out: of cuDNN 9.19's engines for convolutions those that some graph of ResNet-50 wants
#: take 1 to 5 times as long for another one, those that none wants 5 to 1400.
_TIMES: Final = ((100.0, 1), (10.0, 2))


class SlowEngines:
    """How many times as long as the best plan each engine took, by graph."""

    def __init__(self) -> None:
        self._found: defaultdict[object, list[dict[int, float]]] = defaultdict(list)
        self._exact: set[int] = set()

    def note(self, graph: Graph, candidates: Sequence[Candidate]) -> None:
        """Takes the times of a graph's plans."""
        best = min(
            (each.microseconds for each in candidates if each.microseconds is not None), default=0.0
        )
        times: dict[int, float] = {}
        for each in candidates:
            report = each.plan.report
            if report.engine is None or each.microseconds is None or not best:
                continue
            # Those that were run once alone have the host's part in it.
            ratio = max(1.0, (each.microseconds - HOST_MICROSECONDS) / best)
            times[report.engine] = min(ratio, times.get(report.engine, ratio))
            if is_exact(report):
                self._exact.add(report.engine)
        if times:
            self._found[_kind(graph)].append(times)

    def reason(self, graph: Graph, engine: int) -> str | None:
        """Why `engine` is not to be tried for `graph`. The fastest of those that results can be
        compared with always is."""
        found = self._found[_kind(graph)]
        ratios = [times[engine] for times in found if engine in times]
        slow = any(len(ratios) >= graphs and min(ratios) >= times for times, graphs in _TIMES)
        if not slow or engine == self._reference(found):
            return None
        graphs = "a graph" if len(ratios) == 1 else f"{len(ratios)} graphs"
        return (
            f"took {min(ratios):.0f} times as long as the best plan, or longer, for {graphs} "
            "of this kind"
        )

    def _reference(self, found: Sequence[dict[int, float]]) -> int | None:
        """The exact engine that is there for most graphs, and of those the fastest."""
        counts = {engine: sum(engine in times for times in found) for engine in self._exact}
        slowest = {
            engine: max((times[engine] for times in found if engine in times), default=0.0)
            for engine in counts
        }
        return max(counts, key=lambda engine: (counts[engine], -slowest[engine]), default=None)


def _kind(graph: Graph) -> object:
    """What graphs have in common that engines treat alike: operations, types, filters, strides. Of
    each tensor the dims behind the first two are told as they are where they are smaller than the
    result's, as those of filters, else by how many times as large they are."""
    result = graph.tensors[-1].shape[2:]

    def form(tensor: GraphTensor) -> object:
        dims = zip(tensor.shape[2:], result, strict=False)
        return (
            tensor.dtype,
            len(tensor.shape),
            tuple(
                (size, 0) if size < other else (0, -(-size // max(1, other)))
                for size, other in dims
            ),
        )

    return graph.ops, tuple(map(form, graph.tensors))
