# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What tuning has learned from similar graphs of the program: which engines, kernels and
alternatives are slow, which engines support none of them, and how many of the heuristics' plans are
worth a measurement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from math import inf
from typing import Final

from convoy_runtime.cuda.cudnn.configs import EngineSupport
from convoy_runtime.manifest import Graph, GraphAlternative

from .accuracy import is_exact
from .candidates import Candidate
from .kinds import (
    aligned_kind,
    kind_of,
    narrow_kind,
    operation_kind,
    sibling_kind,
    split_kind,
    types_of,
)
from .slowdowns import is_slow, reason_of, slow_ones, slowdown_of

__all__ = ["MIN_ALTERNATIVE_GRAPHS", "MIN_NARROW_ALTERNATIVES", "History"]

#: Pairs of a slowdown and a number of graphs. An engine is skipped if it is slower than the best
#: plan by this factor in at least this many graphs. Measured on an H200 with cuDNN 9.19: in
#: EfficientNet, DenseNet-201, RegNetY and ResNeXt-50 the first three drop 20 % of the plans and no
#: best one; (5, 1), (3, 2), (2, 3) would drop best ones in ResNeXt. On an H100, the last one and
#: the next rule drop 30 % of the plans of DenseNet-201, whose time does not change.
_MIN_SLOWDOWNS: Final = ((10.0, 1), (4.0, 2), (2.5, 3), (1.5, 6))
#: The same for graphs with the same main operation (`operation_kind`). Measured on an H200 with
#: cuDNN 9.19: in six convolutional networks in float16 it drops 95 of 1,490 plans and no best one.
_MIN_OPERATION_SLOWDOWNS: Final = ((4.0, 3),)
#: The same for engines and kernels in graphs with the same result (`sibling_kind`), if the kernel
#: that was the fastest in one of them is a candidate. Measured on an H200 with cuDNN 9.19: in eight
#: networks in float16 it drops 278 of 2,521 plans, 277 of them in DenseNet-201, and no best one.
_MIN_SIBLING_SLOWDOWNS: Final = ((2.0, 1), (1.25, 2), (1.1, 4))
#: The same for all plans of a heuristic, which are not asked for then.
_MIN_SOURCE_SLOWDOWNS: Final = ((1.25, 6),)
#: The same for an alternative. Less than 5 % may be due to noise or to the sizes of these graphs.
_MIN_ALTERNATIVE_SLOWDOWNS: Final = ((1.15, 2), (1.05, 4))
#: The number of graphs after which most alternatives are skipped.
MIN_ALTERNATIVE_GRAPHS: Final = min(graphs for _, graphs in _MIN_ALTERNATIVE_SLOWDOWNS)
#: The same for all alternatives of narrow graphs (`is_narrow`) that have the same first step. On an
#: H100, none of 249 in four convolutional networks and DaViT was faster, and their steps took a
#: quarter of the time. Most slowdowns are lower bounds, from the first steps. With (1.01, 10), a
#: load of DenseNet-201 tuned 84 steps, probably because one was less than 1 %; others tuned 13.
_MIN_NARROW_SLOWDOWNS: Final = ((1.15, 4), (1.001, 10))
#: The number of these alternatives after which the others are skipped if all were slower.
MIN_NARROW_ALTERNATIVES: Final = max(graphs for _, graphs in _MIN_NARROW_SLOWDOWNS)
#: After this many graphs, the list of a heuristic is cut: at the highest rank that was nearly as
#: fast as the best one in any of them, plus this many ranks.
_MIN_RANKED_GRAPHS: Final = 3
_MORE_RANKS: Final = 2
_NEARLY: Final = 1.02
#: The number of graphs that an engine must refuse before it is not asked about others.
_MIN_REFUSALS: Final = 3
#: A slow exact engine that is expected to take longer than this is not run, not even as reference:
#: for eight images of 256 x 256 with 256 channels, engine 0 of cuDNN 9.19 takes 1.3 s on an H200,
#: 1400 times as long as the best plan.
_MAX_EXACT_MICROSECONDS: Final = 5e4
#: An exact engine is slow if it took at least this multiple of the best plan's time in all graphs.
_MIN_EXACT_SLOWDOWN: Final = 10.0


class History:
    """The outcomes of the tuned graphs, by kind of graph."""

    def __init__(self) -> None:
        #: The slowdowns of a graph's engines, by kind and by main operation.
        self._engines: defaultdict[object, list[dict[int, float]]] = defaultdict(list)
        #: The slowdowns of a graph's engines and kernels, by `sibling_kind`.
        self._siblings: defaultdict[object, list[dict[int | str, float]]] = defaultdict(list)
        self._exact: set[int] = set()
        #: The highest FLOPs per microsecond of exact engines, by operations and types, then engine.
        self._exact_speeds: defaultdict[object, dict[int, float]] = defaultdict(dict)
        self._alternatives: defaultdict[object, list[float]] = defaultdict(list)
        #: The slowdowns of the alternatives of narrow graphs, by first step.
        self._narrow: defaultdict[object, list[float]] = defaultdict(list)
        self._ranks: defaultdict[tuple[object, str], list[int]] = defaultdict(list)
        #: The slowdown of the best plan of a source, by kind and source.
        self._sources: defaultdict[tuple[object, str], list[float]] = defaultdict(list)
        #: The answers of engines: number of refusals, 0 if an engine has supported any graph.
        self._refusals: defaultdict[object, dict[int, int]] = defaultdict(dict)
        #: The engines that compile a kernel or are for other GPUs, by operations, which determine
        #: their numbers, and types.
        self._unsuited: defaultdict[object, set[int]] = defaultdict(set)

    def note(
        self, graph: Graph, candidates: Sequence[Candidate], others: Sequence[Candidate] = ()
    ) -> None:
        """Records the times of a graph's candidates, and of others that only served as the
        reference."""
        best = min(
            (each.microseconds for each in candidates if each.microseconds is not None), default=0.0
        )
        self._note_exact(graph, [*candidates, *others], best)
        times: dict[int | str, float] = {}
        sources: defaultdict[str, list[tuple[int, float, float]]] = defaultdict(list)
        for each in candidates:
            report = each.plan.report
            name = report.kernel if report.engine is None else report.engine
            if name is None or each.microseconds is None or not best:
                continue
            ratio = slowdown_of(each, best)
            times[name] = min(ratio, times.get(name, ratio))
            if report.engine is None:
                continue
            sources[report.heuristic].append((report.rank, each.microseconds, ratio))
            if is_exact(report):
                self._exact.add(report.engine)
        kind = kind_of(graph)
        if times:
            self._siblings[sibling_kind(graph)].append(times)
        engines = {name: ratio for name, ratio in times.items() if isinstance(name, int)}
        if engines:
            self._engines[kind].append(engines)
            self._engines[operation_kind(graph)].append(engines)
        for source, found in sources.items():
            self._sources[kind, source].append(min(ratio for _, _, ratio in found))
            limit = _NEARLY * min(microseconds for _, microseconds, _ in found)
            # Positions among the built plans, which a limit counts.
            found.sort()
            self._ranks[kind, source].append(
                next(
                    place
                    for place, (_, microseconds, _) in enumerate(found)
                    if microseconds <= limit
                )
            )

    def _note_exact(self, graph: Graph, candidates: Sequence[Candidate], best: float) -> None:
        """Records the speeds of exact engines, unlimited if one is not slow."""
        if graph.products is None or not best:
            return
        speeds = self._exact_speeds[types_of(graph)]
        for each in candidates:
            engine = each.plan.report.engine
            if engine is not None and each.microseconds and is_exact(each.plan.report):
                is_slow = slowdown_of(each, best) >= _MIN_EXACT_SLOWDOWN
                speed = graph.products.flops / each.microseconds if is_slow else inf
                speeds[engine] = max(speed, speeds.get(engine, 0.0))

    def exact_milliseconds(self, graph: Graph) -> dict[int, float]:
        """Returns the slow exact engines that would take too long for `graph`, and their expected
        milliseconds, by their highest speed in graphs with the same operations."""
        if graph.products is None:
            return {}
        expected = {
            engine: graph.products.flops / speed
            for engine, speed in self._exact_speeds[types_of(graph)].items()
        }
        return {
            engine: microseconds / 1e3
            for engine, microseconds in expected.items()
            if microseconds > _MAX_EXACT_MICROSECONDS
        }

    def note_alternatives(
        self, graph: Graph, best: Sequence[Candidate], composed: Sequence[Candidate]
    ) -> None:
        """Records the times of alternatives.

        Args:
            graph: The graph.
            best: Its best other plans.
            composed: The plans of alternatives, from the same race.
        """
        fastest = min(
            (each.microseconds for each in best if each.microseconds is not None), default=None
        )
        for each in composed:
            name = each.plan.report.alternative
            if fastest and name is not None and each.microseconds is not None:
                self.note_alternative(graph, name, slowdown_of(each, fastest))

    def note_alternative(self, graph: Graph, alternative: str, slowdown: float) -> None:
        """Records how many times as long as the best plan an alternative takes at least."""
        self._alternatives[split_kind(graph, alternative)].append(slowdown)
        if (kind := narrow_kind(graph, alternative)) is not None:
            self._narrow[kind].append(slowdown)

    def alternative_reason(self, graph: Graph, alternative: GraphAlternative) -> str | None:
        """Returns why `alternative` is skipped for `graph`, or None."""
        ratios = self._alternatives[split_kind(graph, alternative.name)]
        if is_slow(ratios, _MIN_ALTERNATIVE_SLOWDOWNS):
            return reason_of(ratios)
        kind = narrow_kind(graph, alternative.name)
        tried = [] if kind is None else self._narrow[kind]
        if not is_slow(tried, _MIN_NARROW_SLOWDOWNS):
            return None
        return f"{len(tried)} alternatives of the program with its first step were all slower"

    def support(self, graph: Graph) -> EngineSupport:
        """Returns which engines need not be asked for a plan of `graph` that compiles no kernel:
        those that compile one, those for other GPUs, and those that refused similar graphs of the
        same alignment and supported none."""
        found = self._refusals[aligned_kind(graph)]
        refusing = {engine for engine, count in found.items() if count >= _MIN_REFUSALS}
        return EngineSupport(frozenset(refusing | self._unsuited[types_of(graph)]))

    def note_support(self, graph: Graph, support: EngineSupport) -> None:
        """Records the answers of engines about a graph."""
        self._unsuited[types_of(graph)] |= support.unsuited
        found = self._refusals[aligned_kind(graph)]
        for engine, supported in support.asked.items():
            before = found.get(engine)
            # An engine that has supported a graph is always asked.
            found[engine] = 0 if supported or before == 0 else (before or 0) + 1

    def limit(self, graph: Graph, source: str, limit: int) -> int:
        """Returns the number of plans of a source to build for `graph`, at most `limit`."""
        ranks = self._ranks[kind_of(graph), source]
        if len(ranks) < _MIN_RANKED_GRAPHS:
            return limit
        return min(limit, max(ranks) + 1 + _MORE_RANKS)

    def source_reason(self, graph: Graph, source: str) -> str | None:
        """Returns why a heuristic is not asked about `graph`, or None."""
        ratios = self._sources[kind_of(graph), source]
        return reason_of(ratios) if is_slow(ratios, _MIN_SOURCE_SLOWDOWNS) else None

    def slow_kernels(self, graph: Graph, offered: Sequence[str]) -> dict[str, str]:
        """Returns which of the variants of kernels that are offered for `graph` are skipped, and
        why. Not the first one, which a load without tuning may run."""
        slow = self._slow_siblings(graph, offered)
        return {variant: slow[variant] for variant in offered[1:] if variant in slow}

    def slow_engines(self, graph: Graph, offered: Collection[str] = ()) -> dict[int, str]:
        """Returns the engines that are skipped for `graph`, and why. The engine that is best suited
        as the reference is skipped only if it would take too long.

        Args:
            graph: The graph.
            offered: The variants of the kernels that are offered for it.
        """
        alike, related = self._engines[kind_of(graph)], self._engines[operation_kind(graph)]
        slow = {
            name: reason
            for name, reason in self._slow_siblings(graph, offered).items()
            if isinstance(name, int)
        }
        slow |= slow_ones(related, _MIN_OPERATION_SLOWDOWNS) | slow_ones(alike, _MIN_SLOWDOWNS)
        too_long = {
            engine: f"would take {milliseconds:.0f} ms, at its highest speed in similar graphs"
            for engine, milliseconds in self.exact_milliseconds(graph).items()
        }
        reference = self._reference(alike or related) if slow else None
        return {engine: reason for engine, reason in slow.items() if engine != reference} | too_long

    def _slow_siblings(self, graph: Graph, offered: Collection[str]) -> dict[int | str, str]:
        """Returns the engines and kernels that were slow for graphs with the result of `graph`, if
        the kernel that was the fastest in one of them is offered."""
        found = self._siblings[sibling_kind(graph)]
        if not any(each.get(variant) == 1.0 for each in found for variant in offered):
            return {}
        return slow_ones(found, _MIN_SIBLING_SLOWDOWNS)

    def _reference(self, found: Sequence[dict[int, float]]) -> int | None:
        """Returns the exact engine that runs the most graphs; among several, the fastest."""
        counts = {engine: sum(engine in times for times in found) for engine in self._exact}
        slowest = {
            engine: max((times[engine] for times in found if engine in times), default=0.0)
            for engine in counts
        }
        return max(counts, key=lambda engine: (counts[engine], -slowest[engine]), default=None)
