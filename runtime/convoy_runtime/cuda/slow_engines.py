"""What tuning a program's graphs tells of cuDNN's engines, for its other graphs of the same operations and types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from convoy_runtime.manifest import Graph

from .accuracy import is_exact
from .candidates import Candidate
from .race import HOST_MICROSECONDS

__all__ = ["SlowEngines"]

#: An engine that took this many times as long as the best plan, in each of so many graphs or more, is left out: of cuDNN 9.19's engines for
#: convolutions those that some graph wants take 1 to 5 times as long for another one of ResNet-50, and those that none wants 5 to 1400.
_TIMES: Final = 10.0
_GRAPHS: Final = 2


class SlowEngines:
    """How many times as long as the best plan each engine took, by graph."""

    def __init__(self) -> None:
        self._found: defaultdict[object, list[dict[int, float]]] = defaultdict(list)
        self._exact: set[int] = set()

    def note(self, graph: Graph, candidates: Sequence[Candidate]) -> None:
        """Takes the times of a graph's plans."""
        best = min((each.microseconds for each in candidates if each.microseconds is not None), default=0.0)
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
        """Why `engine` is not to be tried for `graph`. The fastest of those that results can be compared with always is."""
        found = self._found[_kind(graph)]
        ratios = [times[engine] for times in found if engine in times]
        if len(ratios) < _GRAPHS or min(ratios) < _TIMES or engine == self._reference(found):
            return None
        return f"took {min(ratios):.0f} times as long as the best plan, or longer, in {len(ratios)} graphs of these operations and types"

    def _reference(self, found: Sequence[dict[int, float]]) -> int | None:
        """The exact engine that is there for most graphs, and of those the fastest."""
        counts = {engine: sum(engine in times for times in found) for engine in self._exact}
        slowest = {engine: max((times[engine] for times in found if engine in times), default=0.0) for engine in counts}
        return max(counts, key=lambda engine: (counts[engine], -slowest[engine]), default=None)


def _kind(graph: Graph) -> object:
    return graph.ops, tuple(tensor.dtype for tensor in graph.tensors)
