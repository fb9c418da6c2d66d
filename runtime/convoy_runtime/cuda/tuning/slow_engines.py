# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Skips engines that are slow for similar graphs of the program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from convoy_runtime.manifest import Graph, GraphTensor

from .accuracy import is_exact
from .candidates import Candidate
from .race import HOST_MICROSECONDS

__all__ = ["SlowEngines"]

#: Pairs of a slowdown and a number of graphs. An engine is skipped if it is slower than the best
#: plan by this factor in at least this many graphs. Measured on ResNet-50 with cuDNN 9.19: engines
#: that are best for one convolution take 1 to 5 times as long as the best one for another; engines
#: that are never best take 5 to 1400 times as long.
_MIN_SLOWDOWNS: Final = ((100.0, 1), (10.0, 2))


class SlowEngines:
    """The slowdown of each engine relative to the best plan, in the tuned graphs."""

    def __init__(self) -> None:
        self._found: defaultdict[object, list[dict[int, float]]] = defaultdict(list)
        self._exact: set[int] = set()

    def note(self, graph: Graph, candidates: Sequence[Candidate]) -> None:
        """Records the times of a graph's candidates."""
        best = min(
            (each.microseconds for each in candidates if each.microseconds is not None), default=0.0
        )
        times: dict[int, float] = {}
        for each in candidates:
            report = each.plan.report
            if report.engine is None or each.microseconds is None or not best:
                continue
            # The time of a single warm-up run includes launch overhead.
            ratio = max(1.0, (each.microseconds - HOST_MICROSECONDS) / best)
            times[report.engine] = min(ratio, times.get(report.engine, ratio))
            if is_exact(report):
                self._exact.add(report.engine)
        if times:
            self._found[_kind(graph)].append(times)

    def reason(self, graph: Graph, engine: int) -> str | None:
        """Returns why `engine` is skipped for `graph`, or None. The engine that is best suited as
        the reference is never skipped."""
        found = self._found[_kind(graph)]
        ratios = [times[engine] for times in found if engine in times]
        slow = any(
            len(ratios) >= graphs and min(ratios) >= times for times, graphs in _MIN_SLOWDOWNS
        )
        if not slow or engine == self._reference(found):
            return None
        graphs = "a similar graph" if len(ratios) == 1 else f"{len(ratios)} similar graphs"
        return f"took at least {min(ratios):.0f} times as long as the best plan for {graphs}"

    def _reference(self, found: Sequence[dict[int, float]]) -> int | None:
        """Returns the exact engine that runs the most graphs; among several, the fastest."""
        counts = {engine: sum(engine in times for times in found) for engine in self._exact}
        slowest = {
            engine: max((times[engine] for times in found if engine in times), default=0.0)
            for engine in counts
        }
        return max(counts, key=lambda engine: (counts[engine], -slowest[engine]), default=None)


def _kind(graph: Graph) -> object:
    """Returns a key for graphs on which engines perform alike: operations, types, filters, strides.
    Spatial dims smaller than those of the result, e.g. of filters, are part of the key; others as
    multiples of the result's."""
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
