# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tunes graphs: measures the plans that cuDNN offers, the artifact's kernels, cuBLASLt's algorithms
and the graph's alternatives on the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from typing import Any

from convoy_runtime.cuda.cudnn.library import BackendDescriptor
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.graphs.capture import Stopwatch
from convoy_runtime.cuda.plans.build_pool import BuildPool
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.errors import CudnnError
from convoy_runtime.manifest import Graph
from convoy_runtime.timings import part

from .accuracy import exact_plan, is_exact
from .ahead import begin_ahead
from .alternative_tuner import AlternativeTuner
from .candidate_plans import Building, CandidatePlans, can_vote
from .candidates import Candidate, Reference, judge, nearly_fastest, ranked, reference_of
from .history import History
from .knob_tuner import KnobTuner
from .levels import Level
from .lower_bounds import speeds_of
from .overlap import Tuning, finished
from .race import FINALISTS, Race
from .result_memory import ResultMemory
from .stages import is_enough, stages

__all__ = ["Tuner"]


class Tuner:
    """Tunes the graphs of one program.

    Args:
        planner: The plans of the program.
        device: The GPU, which is current.
        queue: The stream and the cuDNN handle to measure on.
        level: The tuning level.
        pool: Builds the plans that compile a kernel. Default: this process.
        history: The outcomes of the graphs before.
        memory: Allocates the results of candidates.
        is_checked_again: Whether the results of the graphs are compared again, as steps of an
            alternative of a graph that has a reference. Then no exact plan runs only as the
            reference of a step, unless the level compares everything: for eight images of 512 x 512
            with 256 channels, it takes 1.3 s on an H200.
    """

    def __init__(
        self,
        planner: Planner,
        device: Device,
        queue: Queue,
        level: Level,
        pool: BuildPool | None = None,
        history: History | None = None,
        memory: ResultMemory | None = None,
        *,
        is_checked_again: bool = False,
    ) -> None:
        self._planner, self._device, self._queue = planner, device, queue
        self._is_checked_again = is_checked_again
        self._level = level
        self._history = history or History()
        self._memory = memory or ResultMemory()
        self._speeds = speeds_of(device)
        self._building = Building(planner, level, self._history, pool)
        self._knobs = KnobTuner(planner.builder, device, queue, self._memory, level)
        self._alternatives = AlternativeTuner(planner, device, level, self._history)

    @part("building plans")
    def ahead(self, graphs: Sequence[tuple[Graph, Any]]) -> None:
        """Starts to build plans in the pool for tuning these graphs. Few plans are not built in the
        pool.

        Args:
            graphs: Graphs and their native build functions.
        """
        pool = self._building.pool
        if pool is None or not self._level.ahead:
            return
        needed, most_compiled = begin_ahead(
            graphs, self._level, self._planner, self._alternatives, self._speeds, pool
        )
        self._building = replace(
            self._building, pool=pool if needed else None, most_compiled=most_compiled
        )

    def tune(
        self, graph: Graph, build: Any, progress: Callable[[str], None] = lambda _: None
    ) -> list[Plan]:
        """Measures the candidates for a graph.

        Args:
            graph: The graph.
            build: Its native build function; None if it has only kernels.
            progress: Called before each step.

        Returns:
            The fastest plan and those that are nearly as fast, best first. Their reports have all
            trials.

        Raises:
            CudnnError: cuDNN rejects the operation graph, and there are no alternatives.
            PlanError: No candidate remains.
            CudaError: The device has no memory for the graph's tensors.
        """
        return finished(self.tuning(graph, build, progress))

    def tuning(self, graph: Graph, build: Any, progress: Callable[[str], None]) -> Tuning:
        """Implements `tune`. Yields jobs of the pool that are waited for next. The device can be
        used otherwise until the generator is resumed, and it holds no memory of it."""
        rejected: list[str] = []
        with ExitStack() as stack:
            operations = self._operation_graph(graph, build, rejected, stack)
            offered = CandidatePlans(self._building, graph, operations, rejected, progress)
            sources, later = stages(self._level, graph, has_operations=operations is not None)
            yield from offered.pending(sources)
            plans = offered.build(sources)
            # A load without tuning runs the first of cuDNN's plans.
            defers_first = bool(plans and later) and graph.preference == "plan"
            if plans:
                later = offered.worthwhile(later)
            elif later:
                plans = offered.build(later)
                later = []
            candidates = [
                Candidate(plan, first=index == 0 and not defers_first)
                for index, plan in enumerate(plans)
            ]
            if not candidates and not graph.alternatives:
                raise self._planner.no_plan(graph, rejected)
            kept: set[int] = set()
            others = self._exact_candidates(offered, candidates)
            self._history.note_support(graph, offered.support)

            def close() -> None:
                for candidate in [*candidates, *others]:
                    if id(candidate.plan) not in kept:
                        candidate.plan.close()

            # Pushed first and therefore called last: a captured graph must not outlive its plan.
            stack.callback(close)
            memory = stack.enter_context(ExitStack())
            memory.enter_context(self._memory.released())
            # Other work of this process would distort the measurement.
            self._planner.kernels.wait()
            watch = Stopwatch(self._device.driver, self._queue.stream)
            stack.callback(watch.close)
            # A race frees its memory and captured graphs before the next race begins.
            with closing(self._race(graph, [*candidates, *others], watch)) as race:
                progress(f"timing {len(candidates)} plans of {graph.name}")
                race.run([*candidates, *others])
                reference = reference_of(graph, candidates, others)
                judge(graph, candidates, reference)
                race.time(candidates, self._level, preliminary=bool(later))
                best = ranked(candidates)[:FINALISTS]
                if later and best and self._is_enough(graph, best[0], rejected):
                    race.time(best, self._level)
                    later = []
            if later:
                reference = reference.copy()
                memory.close()
                yield from offered.pending(later)
                memory.enter_context(self._memory.released())
                more = [
                    Candidate(plan, first=defers_first and plan.report.rank == 0)
                    for plan in offered.build(later)
                ]
                candidates += more
                reference = self._time_more(graph, more, best, reference, watch)
            if operations is not None:
                self._knobs.search(
                    graph,
                    operations,
                    candidates,
                    reference,
                    offered.seen,
                    self._building.pool,
                    watch,
                    progress,
                )
            self._history.note(graph, candidates, others)
            best = ranked(candidates)[:FINALISTS]
            composed = [
                Candidate(plan, first=not candidates)
                for plan in self._alternatives.plans(
                    graph,
                    best[0].microseconds if best else None,
                    rejected,
                    partial(self._tune_step, is_checked_again=bool(reference.outputs)),
                    progress,
                )
            ]
            candidates += composed
            if composed:
                # A separate race: workspaces are larger, because they contain temporaries.
                with closing(self._race(graph, [*best, *composed], watch)) as race:
                    reference = race.check(composed, reference)
                    race.time([*best, *composed], self._level)
                self._history.note_alternatives(graph, best, composed)
            found = ranked(candidates)
            if not found:
                raise self._planner.no_plan(
                    graph, [*rejected, *(str(each.trial()) for each in candidates)]
                )
            close_calls = nearly_fastest(found[:FINALISTS])
            kept.update(id(each.plan) for each in close_calls)
            trials = (
                *(each.trial() for each in found),
                *(each.trial() for each in candidates if each.microseconds is None),
            )
            return [
                replace(
                    each.plan,
                    report=replace(
                        each.plan.report,
                        tuned=self._level.name,
                        origin="tuning",
                        trials=trials,
                        rejected=tuple(rejected),
                        reference=reference.name,
                    ),
                )
                for each in close_calls
            ]

    def _is_enough(self, graph: Graph, best: Candidate, rejected: list[str]) -> bool:
        """Returns whether the fastest candidate of the first stage makes the second unnecessary. If
        so, appends the reason to `rejected`."""
        if not is_enough(graph, best.microseconds or 0.0, self._speeds):
            return False
        rejected.append(f"cuDNN's heuristics: {best.plan.report.name} is fast enough")
        return True

    def _time_more(
        self,
        graph: Graph,
        more: Sequence[Candidate],
        best: Sequence[Candidate],
        reference: Reference,
        watch: Stopwatch,
    ) -> Reference:
        """Times the candidates of the second stage beside the fastest ones of the first.

        Args:
            graph: The graph.
            more: The candidates of the second stage.
            best: The fastest ones of the first stage.
            reference: The reference for the results.
            watch: Times them.

        Returns:
            The reference.
        """
        # A separate race, because workspaces may be larger.
        with closing(self._race(graph, [*best, *more], watch)) as race:
            reference = race.check(more, reference)
            race.time([*best, *more], self._level)
        return reference

    def _tune_step(
        self,
        graph: Graph,
        build: Any,
        progress: Callable[[str], None],
        *,
        is_checked_again: bool,
    ) -> list[Plan]:
        """Tunes the graph of an alternative's step, at the level for steps."""
        tuner = Tuner(
            self._planner,
            self._device,
            self._queue,
            self._level.of_step(graph),
            self._building.pool,
            self._history,
            self._memory,
            is_checked_again=is_checked_again,
        )
        return tuner.tune(graph, build, progress)

    def _race(self, graph: Graph, candidates: Sequence[Candidate], watch: Stopwatch) -> Race:
        return Race(self._device, self._queue, self._memory, graph, candidates, watch)

    def _exact_candidates(
        self, offered: CandidatePlans, candidates: Sequence[Candidate]
    ) -> list[Candidate]:
        """Returns an exact plan that only serves as the reference; none if there is one among the
        candidates, if the results are compared again, or if exact plans take long and a vote of the
        candidates is meaningful."""
        graph, operations = offered.graph, offered.operations
        takes_long = can_vote(len(candidates)) and self._history.exact_milliseconds(graph)
        if (
            operations is None
            or (self._level.gives_up and (self._is_checked_again or takes_long))
            or any(is_exact(each.plan.report) for each in candidates)
        ):
            return []
        plan = exact_plan(self._planner.builder, graph, operations, offered.support)
        return [] if plan is None else [Candidate(plan)]

    def _operation_graph(
        self, graph: Graph, build: Any, rejected: list[str], stack: ExitStack
    ) -> BackendDescriptor | None:
        """Returns the graph's operation graph; None if it has only kernels, or if cuDNN rejects it
        and only its alternatives remain."""
        if build is None:
            return None
        try:
            return stack.enter_context(self._planner.builder.operation_graph(graph, build))
        except CudnnError as error:
            if not graph.alternatives:
                raise
            rejected.append(str(error))
            return None
