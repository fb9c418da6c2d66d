# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The knob search: candidates that differ from the fastest ones in one knob."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from convoy_runtime.cuda.cudnn.library import BackendDescriptor
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.graphs.capture import Stopwatch
from convoy_runtime.cuda.plans.build_pool import BuildPool
from convoy_runtime.cuda.plans.builder import PlanBuilder
from convoy_runtime.cuda.plans.knob_search import knob_neighbours
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.manifest import Graph

from .candidates import Candidate, Reference, ranked
from .levels import Level
from .race import FINALISTS, Race
from .result_memory import ResultMemory

__all__ = ["KnobTuner"]

#: Number of candidates whose knobs are changed in a round.
_PARENTS = 3
#: The search continues if a round reduces the time of the fastest candidate below this share.
_MIN_KNOB_GAIN = 0.99


class KnobTuner:
    """Searches the knobs of the fastest candidates.

    Args:
        builder: Builds the plans.
        device: The GPU, which is current.
        queue: The stream and the cuDNN handle to measure on.
        memory: Allocates the results of candidates.
        level: The tuning level, with the number of rounds.
    """

    def __init__(
        self,
        builder: PlanBuilder,
        device: Device,
        queue: Queue,
        memory: ResultMemory,
        level: Level,
    ) -> None:
        self._builder, self._device, self._queue = builder, device, queue
        self._memory, self._level = memory, level

    def search(
        self,
        graph: Graph,
        operations: BackendDescriptor,
        candidates: list[Candidate],
        reference: Reference,
        seen: set[tuple[object, ...]],
        pool: BuildPool | None,
        watch: Stopwatch,
        progress: Callable[[str], None],
    ) -> None:
        """Adds candidates that differ in one knob, for the level's number of rounds or until a
        round yields no gain.

        Args:
            graph: The graph.
            operations: Its operation graph.
            candidates: The timed candidates. New ones are added.
            reference: The reference for the results.
            seen: Engine and knobs of the configurations to skip. New ones are added.
            pool: Builds the plans that compile a kernel. Default: this process.
            watch: Times the runs.
            progress: Called before each step.
        """
        every = self._level.every_knob
        for knob_round in range(self._level.knob_rounds):
            before, tried = ranked(candidates)[:1], len(candidates)
            fastest = before[0].microseconds or 0.0 if before else 0.0
            for parents in self._parents(candidates, knob_round):
                of_plan = f" of {parents[0].report.name}" if every else ""
                progress(f"knobs{of_plan} of {graph.name}, round {knob_round + 1}")
                best, first = ranked(candidates)[:FINALISTS], len(candidates)
                for parent in parents:
                    for plan in knob_neighbours(
                        self._builder, graph, operations, parent, seen, pool, progress, every=every
                    ):
                        candidates.append(Candidate(plan))
                if new := candidates[first:]:
                    # A separate race: workspaces may be larger, e.g. for the parts of a split sum.
                    with closing(
                        Race(self._device, self._queue, self._memory, graph, [*best, *new], watch)
                    ) as race:
                        race.check(new, reference)
                        race.time([*best, *new], self._level)
            if (
                len(candidates) == tried
                or (ranked(candidates)[0].microseconds or 0.0) > fastest * _MIN_KNOB_GAIN
            ):
                return

    def _parents(self, candidates: Sequence[Candidate], knob_round: int) -> list[list[Plan]]:
        """Returns the plans to change, in groups that are timed together."""
        plans = [each.plan for each in ranked(candidates) if each.plan.report.engine is not None]
        if self._level.every_knob:
            return [[plan] for plan in (plans if knob_round == 0 else plans[:_PARENTS])]
        cheap = [plan for plan in plans if "RUNTIME_COMPILATION" not in plan.report.behavior_notes]
        return [cheap[:_PARENTS]]
