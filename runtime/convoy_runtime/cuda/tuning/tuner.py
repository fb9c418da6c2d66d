"""Measures what there is for a graph on the device: the plans that cuDNN offers, the artifact's
kernels, the graph's alternatives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

from convoy_runtime.cuda.cudnn.configs import Config
from convoy_runtime.cuda.cudnn.library import BackendDescriptor
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.graphs.capture import Stopwatch
from convoy_runtime.cuda.plans.alternatives import StepError
from convoy_runtime.cuda.plans.build_pool import BuildPool, Job
from convoy_runtime.cuda.plans.knob_search import knob_neighbours
from convoy_runtime.cuda.plans.plan import Plan, Queue
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.cuda.plans.store import LEVELS
from convoy_runtime.errors import CudaError, CudnnError, PlanError
from convoy_runtime.manifest import Graph, GraphAlternative, GraphStep
from convoy_runtime.timings import part

from .accuracy import exact_plan, is_exact
from .candidates import Candidate, Reference, judge, ranked, reference_of
from .levels import ALL, Level
from .lower_bounds import LowerBound, speeds_of
from .race import FINALISTS, Race
from .slow_engines import SlowEngines

__all__ = ["Tuner"]

#: A plan this much slower than the best one, or this many microseconds, is not among those that the
#: whole program decides between: between short kernels it counts how one ends and the next begins.
_CLOSE = 1.06
_CLOSE_MICROSECONDS = 1.0
#: Of fewer plans than this none is left out because it is slow: who is right may be for them to
#: say.
_FEW = 5
#: The processes of the pool take longer to start than fewer plans than this take to build here.
_FEW_JOBS = 4
#: So many of the best plans have their knobs turned, and again when that made the best one faster
#: by more than this.
_PARENTS = 3
_WORTH_A_TURN = 0.99


class Tuner:
    """Tunes the graphs of a program on the stream of `queue`. Kernels are compiled by `pool`, where
    there is one. What the graphs before tell of the engines is in `engines`."""

    def __init__(
        self,
        planner: Planner,
        device: Device,
        queue: Queue,
        level: Level,
        pool: BuildPool | None = None,
        engines: SlowEngines | None = None,
    ) -> None:
        self._planner, self._device, self._queue, self._pool = planner, device, queue, pool
        self._engines = engines or SlowEngines()
        self.level = level

    @part("building plans")
    def ahead(self, graphs: Sequence[tuple[Graph, Any]]) -> None:
        """Has the pool begin with what it takes to tune these graphs and their build functions;
        with a few plans it need not start."""
        if self._pool is None or not self.level.ahead:
            return
        jobs: list[Job] = []
        # Graphs and kinds of graphs that nothing is compiled for, or only what is in `jobs`.
        known: set[object] = set()
        for graph, build in graphs:
            wanted = [(graph, build, self.level), *self._steps(graph)]
            for each, its_build, level in wanted:
                kind = each.ops, *(tensor.dtype for tensor in each.tensors)
                if its_build is None or each.name in known or kind in known:
                    continue
                new = self._planner.jobs_ahead(each, its_build, level.sources)
                known.add(each.name if new else kind)
                jobs += new
                # What has begun is not begun again.
                if len(jobs) >= _FEW_JOBS:
                    self._pool.ahead(jobs)
        if len(jobs) < _FEW_JOBS:
            self._pool = None

    def _steps(self, graph: Graph) -> list[tuple[Graph, Any, Level]]:
        """The steps of the graph's alternatives that are tried, with their build functions."""
        alternatives = self._planner.alternatives
        if alternatives is None:
            return []
        tried = alternatives.of(graph)[: self.level.alternatives]
        level = self.level.of_steps or self.level
        return [
            (*alternatives.graph(step), level)
            for alternative in tried
            for step in alternative.steps
        ]

    def tune(
        self, graph: Graph, build: Any, progress: Callable[[str], None] = lambda _: None
    ) -> list[Plan]:
        """Plans for `graph` that are nearly as fast as the best one, best first; their reports have
        all trials. Raises CudnnError when the graph itself is refused, PlanError when no plan is
        left, CudaError when the device has no memory for the graph's tensors."""
        rejected: list[str] = []
        with ExitStack() as stack:
            operations = self._operations(graph, build, rejected, stack)
            seen: set[tuple[object, ...]] = set()
            plans = self._plans(graph, operations, rejected, seen, progress)
            candidates = [Candidate(plan, first=index == 0) for index, plan in enumerate(plans)]
            if not candidates and not graph.alternatives:
                raise self._planner.no_plan(graph, rejected)
            kept: set[int] = set()
            others = (
                []
                if any(is_exact(each.plan.report) for each in candidates)
                else self._exact(graph, operations)
            )

            def close() -> None:
                for candidate in [*candidates, *others]:
                    if id(candidate.plan) not in kept:
                        candidate.plan.close()

            # Before the plans, because a captured graph must not outlive its plan.
            stack.callback(close)
            # Whatever else this process computes can be seen in the times.
            self._planner.wait_for_kernels()
            watch = Stopwatch(self._device.driver, self._queue.stream)
            stack.callback(watch.close)
            # Memory and captured graphs of one race are gone before the next, or a step's.
            with closing(
                Race(self._device, self._queue, graph, [*candidates, *others], watch)
            ) as race:
                progress(f"timing {len(candidates)} plans of {graph.name}")
                race.run([*candidates, *others])
                reference = reference_of(graph, candidates, others)
                judge(graph, candidates, reference)
                race.time(candidates, self.level)
            if operations is not None:
                self._turn_knobs(graph, operations, candidates, reference, seen, watch, progress)
            self._engines.note(graph, candidates)
            best = ranked(candidates)[:FINALISTS]
            composed = [
                Candidate(plan, first=not candidates)
                for plan in self._by_alternatives(graph, best, rejected, progress)
            ]
            candidates += composed
            if composed:
                # Temporaries lie in workspaces, so these are larger.
                with closing(
                    Race(self._device, self._queue, graph, [*best, *composed], watch)
                ) as race:
                    reference = race.check(composed, reference)
                    race.time([*best, *composed], self.level)
            found = ranked(candidates)
            if not found:
                raise self._planner.no_plan(
                    graph, [*rejected, *(str(each.trial()) for each in candidates)]
                )
            trials = (
                *(each.trial() for each in found),
                *(each.trial() for each in candidates if each.microseconds is None),
            )
            fastest = found[0].microseconds or 0.0
            limit = max(fastest * _CLOSE, fastest + _CLOSE_MICROSECONDS)
            close_calls = [
                each for each in found[:FINALISTS] if (each.microseconds or 0.0) <= limit
            ]
            kept.update(id(each.plan) for each in close_calls)
            said: dict[str, Any] = {
                "origin": "tuning",
                "trials": trials,
                "rejected": tuple(rejected),
                "reference": reference.name,
            }
            reports = [
                replace(each.plan.report, tuned=self.level.name, **said) for each in close_calls
            ]
            return [
                replace(each.plan, report=report)
                for each, report in zip(close_calls, reports, strict=True)
            ]

    def _turn_knobs(
        self,
        graph: Graph,
        operations: BackendDescriptor,
        candidates: list[Candidate],
        reference: Reference,
        seen: set[tuple[object, ...]],
        watch: Stopwatch,
        progress: Callable[[str], None],
    ) -> None:
        """Adds plans with another value of one knob, as often as the level says, or until that
        gains nothing."""
        for turn in range(self.level.turns):
            before, tried = ranked(candidates)[:1], len(candidates)
            fastest = before[0].microseconds or 0.0 if before else 0.0
            for parents in self._parents(candidates, turn):
                whose = f" of {parents[0].report.name}" if self.level.every_knob else ""
                progress(f"knobs{whose} of {graph.name}, turn {turn + 1}")
                best, first = ranked(candidates)[:FINALISTS], len(candidates)
                for parent in parents:
                    every = self.level.every_knob
                    for plan in knob_neighbours(
                        self._planner.builder,
                        graph,
                        operations,
                        parent,
                        seen,
                        self._pool,
                        progress,
                        every=every,
                    ):
                        candidates.append(Candidate(plan))
                if turned := candidates[first:]:
                    # Their workspaces may be larger: a sum that is split has parts.
                    with closing(
                        Race(self._device, self._queue, graph, [*best, *turned], watch)
                    ) as race:
                        race.check(turned, reference)
                        race.time([*best, *turned], self.level)
            if (
                len(candidates) == tried
                or (ranked(candidates)[0].microseconds or 0.0) > fastest * _WORTH_A_TURN
            ):
                return

    def _parents(self, candidates: Sequence[Candidate], turn: int) -> list[list[Plan]]:
        """The plans whose knobs are turned, in groups that are timed together."""
        plans = [each.plan for each in ranked(candidates) if each.plan.report.engine is not None]
        if self.level.every_knob:
            return [[plan] for plan in (plans if turn == 0 else plans[:_PARENTS])]
        cheap = [plan for plan in plans if "RUNTIME_COMPILATION" not in plan.report.behavior_notes]
        return [cheap[:_PARENTS]]

    def _exact(self, graph: Graph, operations: BackendDescriptor | None) -> list[Candidate]:
        """A plan to compare with that no program runs on, if there is one."""
        plan = None if operations is None else exact_plan(self._planner.builder, graph, operations)
        return [] if plan is None else [Candidate(plan)]

    def _operations(
        self, graph: Graph, build: Any, rejected: list[str], stack: ExitStack
    ) -> BackendDescriptor | None:
        """The graph's operation graph; None when it has only kernels, or only its alternatives are
        left."""
        if build is None:
            return None
        try:
            return stack.enter_context(self._planner.builder.operation_graph(graph, build))
        except CudnnError as error:
            if not graph.alternatives:
                raise
            rejected.append(str(error))
            return None

    def _by_alternatives(
        self,
        graph: Graph,
        best: list[Candidate],
        rejected: list[str],
        progress: Callable[[str], None],
    ) -> Iterator[Plan]:
        """Plans of the graph's alternatives, on the best plans of their steps. `best` are the
        graph's own plans: an alternative that cannot be faster is given up."""
        fastest = best[0].microseconds if best else None
        bounds: dict[str, LowerBound] = {}
        alone: dict[str, dict[int, float]] = defaultdict(dict)

        def plan_of(alternative: GraphAlternative, place: int) -> Plan:
            bound = bounds.get(alternative.name)
            if bound is None:
                bound = bounds[alternative.name] = self._bound(graph, alternative)
                if fastest is not None and bound.microseconds() >= fastest:
                    moved = (
                        f"it moves {bound.bytes} bytes at least, {bound.microseconds():.2f} "
                        "us at the GPU's highest speeds"
                    )
                    raise StepError(f"{moved}, the whole graph takes {fastest:.2f} us")
            plan = self._step(alternative.steps[place], progress)
            if fastest is not None and self.level.gives_up and plan.report.trials:
                known = alone[alternative.name]
                known[place] = taken = plan.report.trials[0].microseconds or 0.0
                if taken >= fastest:
                    message = (
                        f"step {plan.report.graph} alone takes {taken:.2f} us, the whole "
                        f"graph {fastest:.2f} us"
                    )
                    raise StepError(message)
                if (least := bound.microseconds(known)) >= fastest:
                    took = (
                        f"with step {plan.report.graph}, {taken:.2f} us alone, it takes "
                        f"{least:.2f} us at least"
                    )
                    raise StepError(f"{took}, the whole graph {fastest:.2f} us")
            return plan

        return self._planner.by_alternatives(graph, rejected, plan_of, self.level.alternatives)

    def _bound(self, graph: Graph, alternative: GraphAlternative) -> LowerBound:
        assert self._planner.alternatives is not None
        graphs = [self._planner.alternatives.graph(step)[0] for step in alternative.steps]
        return LowerBound(alternative, graphs, len(graph.tensors), speeds_of(self._device))

    def _step(self, step: GraphStep, progress: Callable[[str], None]) -> Plan:
        """The best plan of a step's graph, which may be a step of many graphs, and is tuned once.
        Raises StepError."""
        alternatives = self._planner.alternatives
        assert alternatives is not None
        found = alternatives.tuned.get(step.graph)
        if found is None:
            graph, build = alternatives.graph(step)
            try:
                plan = self._planner.stored.find(
                    graph, build, [], LEVELS[LEVELS.index(self.level.name) :]
                )
                if plan is None:
                    level = self.level.of_steps or self.level
                    tuner = Tuner(
                        self._planner, self._device, self._queue, level, self._pool, self._engines
                    )
                    plan, *others = tuner.tune(graph, build, progress)
                    for other in others:
                        other.close()
                    # What less work went into must not be taken for the best plan of a graph that
                    # is called.
                    if self.level.of_steps is None:
                        self._planner.stored.keep(graph, build, plan)
                found = alternatives.own(plan)
            except (CudnnError, PlanError) as error:
                found = str(StepError.of(graph, error))
            except CudaError as error:
                if not error.out_of_memory:
                    raise
                found = str(StepError.of(graph, error))
            alternatives.tuned[step.graph] = found
        if isinstance(found, str):
            raise StepError(found)
        return found

    @part("building plans")
    def _plans(
        self,
        graph: Graph,
        operations: Any,
        rejected: list[str],
        seen: set[tuple[object, ...]],
        progress: Callable[[str], None],
    ) -> list[Plan]:
        plans: list[Plan] = []
        slow: list[str] = []

        def build(source: str, limit: int, leave_out: Callable[[Config], bool]) -> None:
            found = self._planner.candidates(
                graph, operations, rejected, [source], seen, self._pool, progress, leave_out, limit
            )
            for plan in found:
                plans.append(plan)
                progress(f"plan {len(plans)} of {graph.name}")

        def is_slow(config: Config) -> bool:
            reason = self._engines.reason(graph, config.engine) if self.level.gives_up else None
            slow.extend([] if reason is None else [f"{config}: {reason}"])
            return reason is not None

        # Kernels stand where an untuned load has them, so that the first plan is the one that it
        # takes.
        sources = [] if operations is None else list(self.level.sources)
        sources.insert(0 if graph.preference != "plan" else len(sources), ("kernels", ALL))
        for source, limit in sources:
            build(source, limit, is_slow)
        if slow and len(plans) < _FEW:
            build("precompiled", ALL, lambda _: False)
        else:
            rejected += slow
        # Those that a pool built came later.
        order = ["engines" if source == "precompiled" else source for source, _ in sources]
        return sorted(
            plans, key=lambda plan: (order.index(plan.report.heuristic), plan.report.rank)
        )
