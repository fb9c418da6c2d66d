# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tunes the alternatives of a graph: the plans of their steps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.plans.alternatives import StepError
from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.cuda.plans.plan_file import LEVELS
from convoy_runtime.cuda.plans.planner import Planner
from convoy_runtime.errors import CudaError, CudnnError, PlanError
from convoy_runtime.manifest import Graph, GraphAlternative, GraphStep
from convoy_runtime.value_types import value_type

from .history import MIN_ALTERNATIVE_GRAPHS, MIN_NARROW_ALTERNATIVES, History
from .kinds import narrow_kind, split_kind
from .levels import Level
from .lower_bounds import LowerBound, speeds_of

__all__ = ["AlternativeTuner", "GraphAhead"]

#: Tunes a graph, given its native build function and a progress callback; returns its plans, best
#: first.
TuneStep = Callable[[Graph, Any, Callable[[str], None]], list[Plan]]


@value_type(frozen=True, slots=True)
class GraphAhead:
    """A graph of the program, or a step of an alternative, that may be tuned.

    Attributes:
        graph: The graph.
        build: Its native build function.
        level: The tuning level.
        is_likely: Whether it is probably tuned.
    """

    graph: Graph
    build: Any
    level: Level
    is_likely: bool


class AlternativeTuner:
    """Tunes alternatives.

    Args:
        planner: The plans of the program.
        device: The GPU.
        level: The tuning level of the graph.
        history: The outcomes of the graphs before.
    """

    def __init__(self, planner: Planner, device: Device, level: Level, history: History) -> None:
        self._planner, self._device, self._level, self._history = planner, device, level, history
        self._ahead: Counter[object] = Counter()

    def steps_ahead(self, graph: Graph) -> list[GraphAhead]:
        """Returns the steps of the alternatives that may be measured."""
        alternatives = self._planner.alternatives
        if alternatives is None:
            return []
        return [
            GraphAhead(each, build, self._level.of_step(each), is_likely=is_likely)
            for alternative in alternatives.of(graph)[: self._level.alternatives]
            if (is_likely := self._likelihood(graph, alternative.name)) is not None
            for each, build in map(alternatives.graph, alternative.steps)
        ]

    def _likelihood(self, graph: Graph, alternative: str) -> bool | None:
        """Returns whether an alternative is probably measured: whether the history has no reason to
        skip it if no alternative before it wins. Returns None if more than twice as many graphs
        come before it as the history needs for a reason."""
        if not self._level.gives_up:
            return True
        kinds = {split_kind(graph, alternative): MIN_ALTERNATIVE_GRAPHS}
        if (narrow := narrow_kind(graph, alternative)) is not None:
            kinds[narrow] = MIN_NARROW_ALTERNATIVES
        self._ahead.update(kinds.keys())
        if all(self._ahead[kind] <= most for kind, most in kinds.items()):
            return True
        return False if all(self._ahead[kind] <= 2 * kinds[kind] for kind in kinds) else None

    def plans(
        self,
        graph: Graph,
        fastest: float | None,
        rejected: list[str],
        tune_step: TuneStep,
        progress: Callable[[str], None],
    ) -> Iterator[Plan]:
        """Yields plans of the graph's alternatives, on the best plans of their steps.

        Args:
            graph: The graph.
            fastest: Microseconds of the graph's fastest plan, if any. An alternative that cannot be
                faster is dropped before all its steps are tuned.
            rejected: Receives the reasons for dropped alternatives.
            tune_step: Tunes the graph of a step.
            progress: Called before each step.
        """
        bounds: dict[str, LowerBound] = {}
        alone: dict[str, dict[int, float]] = defaultdict(dict)

        def note(alternative: GraphAlternative, microseconds: float) -> None:
            if fastest is not None:
                self._history.note_alternative(graph, alternative.name, microseconds / fastest)

        def plan_of(alternative: GraphAlternative, place: int) -> Plan:
            bound = bounds.get(alternative.name)
            if bound is None:
                if (
                    fastest is not None
                    and self._level.gives_up
                    and (reason := self._history.alternative_reason(graph, alternative)) is not None
                ):
                    raise StepError(reason)
                bound = bounds[alternative.name] = self._bound(graph, alternative)
                if fastest is not None and bound.microseconds() >= fastest:
                    moved = (
                        f"it moves at least {bound.bytes} bytes, {bound.microseconds():.2f} "
                        "us at the GPU's peak bandwidth"
                    )
                    raise StepError(f"{moved}, the whole graph takes {fastest:.2f} us")
            plan = self._step_plan(alternative.steps[place], tune_step, progress)
            if fastest is not None and self._level.gives_up and plan.report.trials:
                known = alone[alternative.name]
                known[place] = taken = plan.report.trials[0].microseconds or 0.0
                least = bound.microseconds(known)
                if taken >= fastest:
                    note(alternative, max(taken, least))
                    message = (
                        f"step {plan.report.graph} alone takes {taken:.2f} us, the whole "
                        f"graph {fastest:.2f} us"
                    )
                    raise StepError(message)
                if least >= fastest:
                    note(alternative, least)
                    took = (
                        f"with step {plan.report.graph}, {taken:.2f} us alone, it takes "
                        f"at least {least:.2f} us"
                    )
                    raise StepError(f"{took}, the whole graph {fastest:.2f} us")
            return plan

        return self._planner.by_alternatives(graph, rejected, plan_of, self._level.alternatives)

    def _bound(self, graph: Graph, alternative: GraphAlternative) -> LowerBound:
        assert self._planner.alternatives is not None
        graphs = [self._planner.alternatives.graph(step)[0] for step in alternative.steps]
        return LowerBound(alternative, graphs, len(graph.tensors), speeds_of(self._device))

    def _step_plan(
        self, step: GraphStep, tune_step: TuneStep, progress: Callable[[str], None]
    ) -> Plan:
        """Returns the best plan of a step's graph, which is tuned once even if several alternatives
        have the step. Raises StepError."""
        alternatives = self._planner.alternatives
        assert alternatives is not None
        found = alternatives.tuned.get(step.graph)
        if found is None:
            graph, build = alternatives.graph(step)
            try:
                plan = self._planner.stored.find(
                    graph, build, [], LEVELS[LEVELS.index(self._level.name) :]
                )
                if plan is None:
                    plan, *others = tune_step(graph, build, progress)
                    for other in others:
                        other.close()
                    # A plan from the reduced level for steps must not be stored: it would be used
                    # as the best plan of a graph that is called.
                    if self._level.of_steps is None:
                        self._planner.stored.keep(graph, build, plan)
                found = alternatives.take_ownership(plan)
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
