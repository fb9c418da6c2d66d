# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Alternatives of graphs (`manifest.GraphAlternative`) as plans: the plans of their steps, run one
after another."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from convoy_runtime._native import NativeLibrary
from convoy_runtime.cuda.driver.memory import ALIGNMENT
from convoy_runtime.errors import DeviceError, PlanError
from convoy_runtime.manifest import Graph, GraphAlternative, GraphAlternatives, GraphStep, Manifest
from convoy_runtime.plan_report import PlanReport
from convoy_runtime.value_types import value_type

from .builder import WorkspaceTooLarge
from .fingerprint import fingerprint_of
from .plan import Plan, Queue

__all__ = ["AlternativePlan", "Alternatives", "StepError"]


class StepError(Exception):
    """A step of an alternative has no plan, or none that is fast enough. The message has the
    reason."""

    @classmethod
    def of(cls, graph: Graph, error: DeviceError) -> StepError:
        """Returns the error for a step whose graph cannot be planned or tuned."""
        tried = (
            "; ".join(error.tried) or "the heuristics offered no engine"
            if isinstance(error, PlanError)
            else str(error)
        )
        return cls(f"step {graph.name}: {tried}")


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of an alternative.

    No step writes into the workspace of another one, so that all workspaces may be cleared before
    the first step (`graphs.dependencies`).

    Attributes:
        alternative: The alternative.
        graphs: The graph of each step.
        contents: The fingerprint of each graph.
        plans: The plan of each graph.
        temporaries: The offset of each temporary in the workspace, in bytes.
        workspaces: The offset of each step's workspace, in bytes.
    """

    alternative: GraphAlternative
    graphs: tuple[Graph, ...]
    contents: tuple[str | None, ...]
    plans: tuple[Plan, ...]
    temporaries: tuple[int, ...]
    workspaces: tuple[int, ...]


@value_type(frozen=True, slots=True)
class AlternativePlan(Plan):
    """Runs the steps of an alternative in order. It is valid as long as the `Alternatives` that
    made it. Its text is JSON: the fingerprint of each step's graph and the text of its plan."""

    steps: Steps

    @property
    def code(self) -> object:
        return self.steps

    def enqueue(
        self,
        queue: Queue,
        graph: Graph,
        pointers: Sequence[int],
        workspace: int,
        *,
        call: int | None = None,
        location: str | None = None,
    ) -> None:
        steps = self.steps
        temporaries = [workspace + offset for offset in steps.temporaries]
        for temporary, pointer in zip(steps.alternative.temporaries, temporaries, strict=True):
            if temporary.zeros and temporary.bytes:
                queue.driver.call("cuMemsetD8Async", pointer, 0, temporary.bytes, queue.stream)
        places = [*pointers, *temporaries]
        each = zip(
            steps.alternative.steps, steps.graphs, steps.plans, steps.workspaces, strict=True
        )
        for index, (step, inner, plan, own) in enumerate(each):
            if index and queue.between is not None:
                queue.between()
            plan.enqueue(
                queue,
                inner,
                [places[place] for place in step.tensors],
                workspace + own,
                call=call,
                location=location,
            )

    def text(self) -> str:
        pairs = zip(self.steps.contents, self.steps.plans, strict=True)
        return json.dumps([{"graph": content, "plan": plan.text()} for content, plan in pairs])

    def close(self) -> None:
        pass


class Alternatives:
    """The alternatives of a program's graphs, and the plans of their steps.

    Args:
        manifest: The program.
        native: Its native library.
        read: Reads the alternatives of the artifact (`Artifact.alternatives`), on first use.

    Attributes:
        tuned: Index of a step's graph to the outcome of its tuning: a plan, or the reason why there
            is none.
    """

    def __init__(
        self, manifest: Manifest, native: NativeLibrary, read: Callable[[], GraphAlternatives]
    ) -> None:
        self._manifest, self._native, self._read = manifest, native, read
        self._plans: list[Plan] = []
        self.tuned: dict[int, Plan | str] = {}

    def of(self, graph: Graph) -> tuple[GraphAlternative, ...]:
        """Returns the alternatives of a graph of the manifest. Raises ArtifactError if they are
        invalid."""
        return self._read().of(self._manifest.graphs.index(graph)) if graph.alternatives else ()

    def graph(self, step: GraphStep) -> tuple[Graph, Any]:
        """Returns the graph of a step, without alternatives, and its native build function."""
        called = self._manifest.graphs
        graph = (
            called[step.graph]
            if step.graph < len(called)
            else self._read().graphs[step.graph - len(called)]
        )
        return replace(graph, alternatives=()), self._native.builder(graph.symbol)

    def take_ownership(self, plan: Plan) -> Plan:
        """Returns the plan of a step, which from now on only `close` and `close_others` close."""
        self._plans.append(plan)
        return plan

    def plan(
        self,
        graph: Graph,
        alternative: GraphAlternative,
        plans: Sequence[Plan],
        rejected: Sequence[str] = (),
    ) -> AlternativePlan:
        """Creates the plan of an alternative.

        Args:
            graph: The graph.
            alternative: The alternative.
            plans: The plans of its steps, owned by `take_ownership`.
            rejected: The reasons for rejected candidates, for the report.

        Returns:
            The plan.
        """
        graphs, builds = zip(*map(self.graph, alternative.steps), strict=True)
        count = len(alternative.temporaries)
        sizes = [temporary.bytes for temporary in alternative.temporaries] + [
            plan.report.workspace_bytes for plan in plans
        ]
        *offsets, end = accumulate((-(-size // ALIGNMENT) * ALIGNMENT for size in sizes), initial=0)
        contents = tuple(map(fingerprint_of, graphs, builds))
        steps = Steps(
            alternative,
            graphs,
            contents,
            tuple(plans),
            tuple(offsets[:count]),
            tuple(offsets[count:]),
        )
        reports = tuple(
            replace(plan.report, trials=(), rejected=(), reference="") for plan in plans
        )
        report = PlanReport(
            graph=graph.name, location=graph.location, engine=None, knobs={},
            alternative=alternative.name, steps=reports,
            numerical_notes=_union(each.numerical_notes for each in reports),
            behavior_notes=_union(each.behavior_notes for each in reports),
            workspace_bytes=end, heuristic="alternatives",
            rank=graph.alternatives.index(alternative.name), rejected=tuple(rejected),
            origin="alternative",
        )  # fmt: skip
        return AlternativePlan(report, steps)

    def plans(
        self,
        graph: Graph,
        rejected: list[str],
        plan_of: Callable[[GraphAlternative, int], Plan],
        check_workspace: Callable[[int], None],
        limit: int | None = None,
    ) -> Iterator[AlternativePlan]:
        """Yields the plans of alternatives.

        Args:
            graph: The graph.
            rejected: Receives the reasons for alternatives without a plan.
            plan_of: Returns the plan of the step of an alternative with an index, owned by
                `take_ownership`, or raises StepError.
            check_workspace: Raises WorkspaceTooLarge.
            limit: The number of alternatives to try; None for all.
        """
        for alternative in self.of(graph)[:limit]:
            try:
                # Convolutions and products first: plans of pointwise operations are compiled,
                # possibly by another process at this time.
                places = sorted(
                    range(len(alternative.steps)),
                    key=lambda place: self.graph(alternative.steps[place])[0].products is None,
                )
                plans = {place: plan_of(alternative, place) for place in places}
                found = self.plan(
                    graph, alternative, [plans[place] for place in sorted(places)], rejected
                )
                check_workspace(found.report.workspace_bytes)
            except (StepError, WorkspaceTooLarge) as error:
                rejected.append(f"alternative {alternative.name}: {error}")
                continue
            yield found

    def texts(self, alternative: GraphAlternative, text: str) -> list[str]:
        """Splits the text of a plan of an alternative.

        Args:
            alternative: The alternative.
            text: `AlternativePlan.text`.

        Returns:
            The text of each step's plan.

        Raises:
            ValueError: The text belongs to other graphs.
            KeyError, TypeError: The text is malformed.
        """
        found = json.loads(text)
        if len(found) != len(alternative.steps):
            message = (
                f"alternative {alternative.name}: expected plans of {len(alternative.steps)} "
                f"steps, got {len(found)}"
            )
            raise ValueError(message)
        for step, each in zip(alternative.steps, found, strict=True):
            graph, build = self.graph(step)
            if each["graph"] is None or each["graph"] != fingerprint_of(graph, build):
                message = (
                    f"alternative {alternative.name}: expected a plan of step {graph.name}, "
                    "got one of another graph"
                )
                raise ValueError(message)
        return [str(each["plan"]) for each in found]

    def close_others(self, used: Iterable[Plan]) -> None:
        """Destroys the plans of steps that no plan in `used` runs, and clears `tuned`."""
        needed = {
            id(step.code)
            for plan in used
            if isinstance(plan, AlternativePlan)
            for step in plan.steps.plans
        }
        for plan in self._plans:
            if id(plan.code) not in needed:
                plan.close()
        self._plans = [plan for plan in self._plans if id(plan.code) in needed]
        self.tuned.clear()

    def close(self) -> None:
        """Destroys the plans of all steps. Graphs captured from them must not run afterwards."""
        for plan in self._plans:
            plan.close()
        self._plans.clear()
        self.tuned.clear()


def _union(notes: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for each in notes for note in each))
