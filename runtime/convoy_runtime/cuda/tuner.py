"""Measures the plans that cuDNN offers for a graph, on the device, each checked first.

A plan is run on buffers that hold NaN where it has to write, with guards around each; what it computes is compared with what an engine
computes that adds up in float32, or with the median of all plans, and who writes outside, or something else, is out. Then each is
captured in a CUDA graph over more buffers than the L2 cache holds, and all are timed in turn, in rounds after which the slow half leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median
from typing import Any, Final

from convoy_runtime.errors import CudaError, CudnnError, PlanError
from convoy_runtime.manifest import Graph, GraphStep
from convoy_runtime.timings import part

from ._cudnn import BackendDescriptor
from ._driver import Device
from .accuracy import exact_plan
from .alternatives import StepError
from .build_pool import BuildPool
from .builder import no_memory_for
from .candidates import Candidate, Reference, judge, ranked, reference_of
from .capture import Captured, Stopwatch, finished
from .cold_runs import capture_cold_runs
from .plan import Plan, PlanReport, Queue
from .planner import Planner
from .scratch import Scratch
from .store import LEVELS

__all__ = ["TUNE_LEVELS", "Level", "Tuner"]


@dataclass(frozen=True, slots=True)
class Level:
    """How much to measure: how many plans of each source (`Planner.candidates`) are built at most, over how many rounds they are timed,
    whether kernels are compiled in a pool of processes, whose start takes longer than a few kernels, how often the knobs of the best
    plans are turned, how many of a graph's alternatives are tried (None: all), whether one is given up of which a step alone takes as long
    as the graph's best plan, and how much to measure for steps (None: as much)."""

    name: str
    sources: tuple[tuple[str, int], ...]
    rounds: int
    processes: bool = False
    turns: int = 0
    alternatives: int | None = None
    gives_up: bool = False
    of_steps: Level | None = None


_ALL: Final = 1000
#: Of a step cuDNN's first choice and what compiles nothing: a quick tune is to stay one.
_QUICK_STEP: Final = Level("quick", (("A", 1), ("precompiled", _ALL)), 3)
TUNE_LEVELS: Final = {
    "quick": Level("quick", (("A", 8), ("precompiled", _ALL)), 3, alternatives=1, gives_up=True, of_steps=_QUICK_STEP),
    "full": Level("full", (("A", _ALL), ("B", _ALL), ("FALLBACK", _ALL), ("engines", _ALL)), 7, processes=True, turns=3),
}

#: A plan this much slower than the best one, or this many microseconds, is not among those that the whole program decides between: between
#: short kernels it counts how one ends and the next begins.
_CLOSE = 1.06
_CLOSE_MICROSECONDS = 1.0
_FINALISTS = 3
#: So many of the best plans that compile nothing have their knobs turned, and again when that made the best one faster by more than this.
_PARENTS = 3
_WORTH_A_TURN = 0.99
_ROUND_MICROSECONDS = 1500.0
#: Of more plans than this the slow half is known after a few rounds.
_CROWD, _ROUNDS_OF_A_CROWD = 16, 3
#: A plan that takes this many times the best one's first time is not timed again. That time has the host's part in it.
_HOPELESS = 3
_HOST_MICROSECONDS = 100.0


def _has_cheap_knobs(report: PlanReport) -> bool:
    """Whether a plan is an engine's, and one that compiles nothing."""
    return report.engine is not None and "RUNTIME_COMPILATION" not in report.behavior_notes


class Tuner:
    """Tunes graphs on the stream of `queue`. Kernels are compiled by `pool`, where there is one."""

    def __init__(self, planner: Planner, device: Device, queue: Queue, level: Level, pool: BuildPool | None = None) -> None:
        self._planner, self._device, self._queue, self._stream, self._pool = planner, device, queue, queue.stream, pool
        self.level = level

    def tune(self, graph: Graph, build: Any, progress: Callable[[str], None] = lambda _: None) -> list[Plan]:
        """Plans for `graph` that are nearly as fast as the best one, best first; their reports have all trials. Raises CudnnError when the
        graph itself is refused, PlanError when no plan is left, CudaError when the device has no memory for the graph's tensors."""
        rejected: list[str] = []
        with ExitStack() as stack:
            operations = self._operations(graph, build, rejected, stack)
            seen: set[tuple[object, ...]] = set()
            plans = self._plans(graph, operations, rejected, seen, progress)
            candidates = [Candidate(plan, first=index == 0) for index, plan in enumerate(plans)]
            if not candidates and not graph.alternatives:
                raise self._planner.no_plan(graph, rejected)
            kept: set[int] = set()
            plan = None if operations is None else exact_plan(self._planner, graph, operations)
            exact = [] if plan is None else [Candidate(plan)]

            def close() -> None:
                for candidate in [*candidates, *exact]:
                    if id(candidate.plan) not in kept:
                        candidate.plan.close()

            # Before the plans, because a captured graph must not outlive its plan.
            stack.callback(close)
            # Whatever else this process computes can be seen in the times.
            self._planner.wait_for_kernels()
            watch = Stopwatch(self._device.driver, self._stream)
            stack.callback(watch.close)
            # Memory and captured graphs of one race are gone before the next, or a step's.
            with ExitStack() as race:
                progress(f"timing {len(candidates)} plans of {graph.name}")
                scratch = self._scratch(graph, [*candidates, *exact])
                race.callback(scratch.close)
                for candidate in [*candidates, *exact]:
                    if candidate.reason is None:
                        self._try(graph, candidate, scratch, watch)
                reference = reference_of(graph, candidates, exact)
                judge(graph, candidates, reference)
                self._time(graph, candidates, scratch, watch, race)
                for turn in range(0 if operations is None else self.level.turns):
                    progress(f"knobs of {graph.name}, turn {turn + 1}")
                    best = ranked(candidates)[:_FINALISTS]
                    parents = [each.plan for each in ranked(candidates) if _has_cheap_knobs(each.plan.report)]
                    new = [each for parent in parents[:_PARENTS] for each in self._planner.neighbours(graph, operations, parent, seen)]
                    turned = [Candidate(plan) for plan in new]
                    candidates += turned
                    self._check(graph, turned, reference, scratch, watch)
                    before = best[0].microseconds if best else None
                    self._time(graph, [*best, *turned], scratch, watch, race)
                    if before is None or (ranked(candidates)[0].microseconds or 0.0) > before * _WORTH_A_TURN:
                        break
            best = ranked(candidates)[:_FINALISTS]
            composed = [Candidate(plan, first=not candidates) for plan in self._by_alternatives(graph, best, rejected, progress)]
            candidates += composed
            with ExitStack() as race:
                if composed:
                    # Temporaries lie in workspaces, so these are larger.
                    scratch = self._scratch(graph, [*best, *composed])
                    race.callback(scratch.close)
                    reference = self._check(graph, composed, reference, scratch, watch)
                    self._time(graph, [*best, *composed], scratch, watch, race)
            found = ranked(candidates)
            if not found:
                raise self._planner.no_plan(graph, [*rejected, *(str(each.trial()) for each in candidates)])
            trials = (*(each.trial() for each in found), *(each.trial() for each in candidates if each.microseconds is None))
            fastest = found[0].microseconds or 0.0
            limit = max(fastest * _CLOSE, fastest + _CLOSE_MICROSECONDS)
            close_calls = [each for each in found[:_FINALISTS] if (each.microseconds or 0.0) <= limit]
            kept.update(id(each.plan) for each in close_calls)
            said: dict[str, Any] = {"origin": "tuning", "trials": trials, "rejected": tuple(rejected), "reference": reference.name}
            reports = [replace(each.plan.report, tuned=self.level.name, **said) for each in close_calls]
            return [replace(each.plan, report=report) for each, report in zip(close_calls, reports, strict=True)]

    def _operations(self, graph: Graph, build: Any, rejected: list[str], stack: ExitStack) -> BackendDescriptor | None:
        """The graph's operation graph; None when it has only kernels, or only its alternatives are left."""
        if build is None:
            return None
        try:
            return stack.enter_context(self._planner.operation_graph(graph, build))
        except CudnnError as error:
            if not graph.alternatives:
                raise
            rejected.append(str(error))
            return None

    def _by_alternatives(self, graph: Graph, best: list[Candidate], rejected: list[str], progress: Callable[[str], None]) -> Iterator[Plan]:
        """Plans of the graph's alternatives, on the best plans of their steps. `best` are the graph's own plans."""
        fastest = best[0].microseconds if best and self.level.gives_up else None

        def plan_of(step: GraphStep) -> Plan:
            plan = self._step(step, progress)
            alone = plan.report.trials[0].microseconds if plan.report.trials else None
            if fastest is not None and alone is not None and alone >= fastest:
                message = f"step {plan.report.graph} alone takes {alone:.2f} us, the whole graph {fastest:.2f} us"
                raise StepError(message)
            return plan

        return self._planner.by_alternatives(graph, rejected, plan_of, self.level.alternatives)

    def _step(self, step: GraphStep, progress: Callable[[str], None]) -> Plan:
        """The best plan of a step's graph, which may be a step of many graphs, and is tuned once. Raises StepError."""
        alternatives = self._planner.alternatives
        assert alternatives is not None
        found = alternatives.tuned.get(step.graph)
        if found is None:
            graph, build = alternatives.graph(step)
            try:
                plan = self._planner.stored(graph, build, [], LEVELS[LEVELS.index(self.level.name) :])
                if plan is None:
                    level = self.level.of_steps or self.level
                    plan, *others = Tuner(self._planner, self._device, self._queue, level, self._pool).tune(graph, build, progress)
                    for other in others:
                        other.close()
                    # What less work went into must not be taken for the best plan of a graph that is called.
                    if self.level.of_steps is None:
                        self._planner.keep(graph, build, plan)
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
        self, graph: Graph, operations: Any, rejected: list[str], seen: set[tuple[object, ...]], progress: Callable[[str], None]
    ) -> list[Plan]:
        plans: list[Plan] = []
        # Kernels stand where an untuned load has them, so that the first plan is the one that it takes.
        sources = [] if operations is None else list(self.level.sources)
        sources.insert(0 if graph.preference != "plan" else len(sources), ("kernels", _ALL))
        for source, limit in sources:
            found = self._planner.candidates(graph, operations, rejected, [source], seen, self._pool, progress)
            for plan in islice(found, limit):
                plans.append(plan)
                progress(f"plan {len(plans)} of {graph.name}")
        # Those that a pool built came later.
        order = ["engines" if source == "precompiled" else source for source, _ in sources]
        return sorted(plans, key=lambda plan: (order.index(plan.report.heuristic), plan.report.rank))

    def _scratch(self, graph: Graph, candidates: list[Candidate]) -> Scratch:
        """Memory for the candidates; those whose workspaces there is none for are out."""
        while True:
            size = max((each.plan.report.workspace_bytes for each in candidates if each.reason is None), default=0)
            try:
                return Scratch(self._device, self._stream, graph, size)
            except CudaError as error:
                if not error.out_of_memory or size == 0:
                    raise
                for each in candidates:
                    if each.plan.report.workspace_bytes == size:
                        each.reason = no_memory_for(size)

    def _check(self, graph: Graph, candidates: list[Candidate], reference: Reference, scratch: Scratch, watch: Stopwatch) -> Reference:
        """Tries candidates that came later, one after another, and gives what they were compared with: `reference`, or one another where
        that has nothing."""
        for each in candidates:
            if each.reason is None and each.plan.report.workspace_bytes > scratch.workspace_bytes:
                each.reason = "needs more workspace than all others"
            if each.reason is None:
                self._try(graph, each, scratch, watch)
                if reference.outputs:
                    judge(graph, [each], reference)
        if not reference.outputs:
            reference = reference_of(graph, candidates, [])
            judge(graph, candidates, reference)
        return reference

    @part("running plans")
    def _try(self, graph: Graph, candidate: Candidate, scratch: Scratch, watch: Stopwatch) -> None:
        """One run, whose result is kept, because first runs may load code, which no capture allows; and one that is timed, roughly."""
        size = candidate.plan.report.workspace_bytes
        try:
            scratch.guard_workspace(size)
            scratch.poison()
            with finished(self._device.driver, self._stream):
                candidate.plan.enqueue(self._queue, graph, scratch.sets[0], scratch.workspace)
                results = scratch.outputs()
            candidate.reason = scratch.trespass(size)
            if candidate.reason is None:
                candidate.results = results
                candidate.microseconds = watch.time(lambda: candidate.plan.enqueue(self._queue, graph, scratch.sets[0], scratch.workspace))
        except CudnnError as error:
            candidate.reason = f"{error.name}: {error.detail}"
        except CudaError as error:
            # A launch that is refused leaves the device as it was; what fails later does not.
            if error.call != "cuLaunchKernel":
                raise
            candidate.reason = f"cannot be launched: {error.name}"

    @part("timing plans")
    def _time(self, graph: Graph, candidates: list[Candidate], scratch: Scratch, watch: Stopwatch, stack: ExitStack) -> None:
        racing: list[tuple[Candidate, Captured, int]] = []
        right = [each for each in candidates if each.reason is None]
        limit = _HOPELESS * min((each.microseconds or 0.0 for each in right), default=0.0) + _HOST_MICROSECONDS
        for candidate in right:
            if (candidate.microseconds or 0.0) > limit:
                continue

            try:
                captured, runs = capture_cold_runs(self._device, self._queue, graph, candidate.plan, scratch)
            except (CudnnError, CudaError) as error:
                candidate.reason, candidate.microseconds = f"cannot be captured: {error}", None
                continue
            stack.callback(captured.close)
            racing.append((candidate, captured, runs))
        while racing:
            rounds = self.level.rounds if len(racing) <= _CROWD else min(self.level.rounds, _ROUNDS_OF_A_CROWD)
            times = watch.rounds([captured for _, captured, _ in racing], rounds=rounds, microseconds=_ROUND_MICROSECONDS)
            for (candidate, _, runs), figures in zip(racing, times, strict=True):
                candidate.microseconds = median(figures) / runs
            if len(racing) <= _FINALISTS:
                return
            racing.sort(key=lambda each: each[0].microseconds or 0.0)
            racing = racing[: max(_FINALISTS, len(racing) // 2)]
