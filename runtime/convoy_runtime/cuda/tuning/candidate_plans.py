# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Builds the plans that tuning measures, and skips those that were slow for similar graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from convoy_runtime.cuda.cudnn.configs import EngineSupport
from convoy_runtime.cuda.cudnn.library import BackendDescriptor
from convoy_runtime.cuda.plans.build_jobs import Job
from convoy_runtime.cuda.plans.build_pool import BuildPool
from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.errors import CudnnError
from convoy_runtime.manifest import Graph
from convoy_runtime.timings import part
from convoy_runtime.value_types import value_type

from .accuracy import is_exact
from .history import History
from .levels import ALL, Level
from .overlap import Waiting, is_ready
from .stages import Sources

__all__ = ["Building", "CandidatePlans", "can_vote"]

#: Slow engines are skipped only if an exact plan or at least this many candidates remain, so that
#: the vote for the reference is meaningful.
_MIN_CANDIDATES: Final = 5


def can_vote(count: int) -> bool:
    """Returns whether the median of the results of `count` candidates is a meaningful reference."""
    return count >= _MIN_CANDIDATES


@value_type(frozen=True, slots=True)
class Building:
    """What builds the plans of all graphs of a program.

    Attributes:
        planner: The plans of the program.
        level: The tuning level.
        history: The outcomes of the graphs before.
        pool: Builds the plans that compile a kernel; None for this process.
        most_compiled: The largest number of plans of a source that compile a kernel.
    """

    planner: Planner
    level: Level
    history: History
    pool: BuildPool | None = None
    most_compiled: int = ALL


@dataclass
class CandidatePlans:
    """Builds the plans for one graph.

    Attributes:
        building: What builds them.
        graph: The graph.
        operations: Its operation graph; None if cuDNN is not used.
        rejected: Receives the reasons for what is skipped or cannot be built.
        progress: Called before each step.
        support: The engines that need not be asked, and the answers of the others.
    """

    building: Building
    graph: Graph
    operations: BackendDescriptor | None
    rejected: list[str]
    progress: Callable[[str], None]
    support: EngineSupport = field(init=False)
    #: The variants of the kernels that may run.
    offered: list[str] = field(init=False)
    #: Engine and knobs of all configurations so far.
    seen: set[tuple[object, ...]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        gives_up = self.building.level.gives_up
        self.support = self.building.history.support(self.graph) if gives_up else EngineSupport()
        self.offered = self.building.planner.kernels.variants(self.graph)

    def worthwhile(self, sources: Sources) -> Sources:
        """Returns the sources that were not slow for similar graphs."""
        left = []
        for source, limit in sources:
            if (reason := self.building.history.source_reason(self.graph, source)) is None:
                left.append((source, limit))
            else:
                self.rejected.append(f"cuDNN's heuristics {source}: {reason}")
        return left

    def pending(self, sources: Sources) -> Iterator[Waiting]:
        """Starts the plans of some sources in the pool. Yields their jobs unless they have
        ended."""
        jobs = self._begun(sources)
        if not is_ready(jobs):
            yield jobs

    @part("building plans")
    def _begun(self, sources: Sources) -> Waiting:
        """Starts the plans of some sources in the pool. Not those of a last resort, which may not
        be needed."""
        level, pool = self.building.level, self.building.pool
        if (
            pool is None
            or self.operations is None
            or not level.ahead
            or level.last_resort is not None
        ):
            return []
        jobs: list[Job] = []
        # `build` raises the error.
        with suppress(CudnnError):
            for source, limit in sources:
                most = self.building.history.limit(self.graph, source, limit)
                found = self.building.planner.jobs(self.graph, self.operations, source, most, pool)
                jobs += found[: self.building.most_compiled]
        return pool.begin(jobs)

    @part("building plans")
    def build(self, sources: Sources) -> list[Plan]:
        """Returns the plans of some sources, in their order."""
        level, history, support = self.building.level, self.building.history, self.support
        plans: list[Plan] = []
        slow = history.slow_engines(self.graph, self.offered) if level.gives_up else {}
        left = replace(support, skipped=support.skipped | slow.keys())
        for source, limit in sources:
            if level.gives_up:
                limit = history.limit(self.graph, source, limit)
            plans += self._of_source(source, limit, left, len(plans))
        if not plans and self.operations is not None and level.last_resort is not None:
            plans += self._of_source(level.last_resort, 1, left, last=True)
        has_reference = any(is_exact(plan.report) for plan in plans)
        if slow and any(source == "precompiled" for source, _ in sources):
            if not can_vote(len(plans)) and not has_reference:
                exact = history.exact_milliseconds(self.graph).keys()
                most = replace(support, skipped=support.skipped | exact)
                plans += self._of_source("precompiled", ALL, most, len(plans))
                if not can_vote(len(plans)):
                    plans += self._of_source("precompiled", ALL, support, len(plans))
            else:
                # The heuristics may have offered some of them.
                built = {plan.report.engine for plan in plans}
                self.rejected += [
                    f"engine {engine}: {reason}"
                    for engine, reason in slow.items()
                    if engine not in built
                ]
        if self.operations is not None and support.skipped:
            engines = ", ".join(map(str, sorted(support.skipped)))
            self.rejected.append(
                f"engines {engines}: compile a kernel, are for other GPUs, or did not support "
                "similar graphs"
            )
        # The pool's plans are built after the others of their source.
        order = ["engines" if source == "precompiled" else source for source, _ in sources]
        order.append(level.last_resort or "")
        return sorted(
            plans, key=lambda plan: (order.index(plan.report.heuristic), plan.report.rank)
        )

    def _of_source(
        self, source: str, limit: int, asked: EngineSupport, built: int = 0, *, last: bool = False
    ) -> list[Plan]:
        """Returns at most `limit` plans of a source, after `built` others, from engines that
        compile no kernel if the level has another last resort."""
        building = self.building
        slow_kernels = (
            building.history.slow_kernels(self.graph, self.offered)
            if building.level.gives_up and source == "kernels"
            else {}
        )
        plans = []
        for plan in building.planner.candidates(
            self.graph,
            self.operations,
            self.rejected,
            [source],
            self.seen,
            building.pool,
            self.progress,
            lambda config: not last and building.level.last_resort is not None and config.compiles,
            limit,
            asked,
            building.most_compiled,
            slow_kernels,
        ):
            plans.append(plan)
            self.progress(f"plan {built + len(plans)} of {self.graph.name}")
        return plans
