"""A graph's plans while they are measured, and which of them compute the right thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from convoy_runtime.cuda.plans.plan import Plan, Trial
from convoy_runtime.manifest import Graph
from convoy_runtime.timings import part
from convoy_runtime.value_types import value_type

from .accuracy import is_exact, median_of, mismatch

__all__ = ["Candidate", "Reference", "judge", "ranked", "reference_of"]

#: Fewer plans than this have no meaningful median.
_FEW: Final = 3


@dataclass(slots=True)
class Candidate:
    """A plan that is measured: what it computed, until that is compared, its time in microseconds,
    and the reason why it is out. `first` is what an untuned load takes."""

    plan: Plan
    first: bool = False
    results: list[np.ndarray] | None = None
    microseconds: float | None = None
    reason: str | None = None

    def trial(self) -> Trial:
        """What there is to say about it in the end."""
        report = self.plan.report
        return Trial(
            report.engine, report.knobs, report.workspace_bytes, self.microseconds, self.reason,
            self.first, report.kernel,
            report.alternative, tuple(step.name for step in report.steps),
        )  # fmt: skip


@value_type(frozen=True, slots=True)
class Reference:
    """What results are compared with, and whose they are; without `outputs` nothing ran that could
    be one."""

    name: str = ""
    outputs: list[np.ndarray] = field(default_factory=list)


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that were timed, the fastest first."""
    return sorted(
        (each for each in candidates if each.microseconds is not None),
        key=lambda each: each.microseconds or 0.0,
    )


@part("comparing results")
def reference_of(
    graph: Graph, candidates: Sequence[Candidate], others: Sequence[Candidate] = ()
) -> Reference:
    """The result of the first one, the fastest first, that is exact, if another engine agrees with
    it, or there are too few plans for a median; else the median of the candidates. `others` are no
    candidates, but may be exact."""
    ran = [each for each in candidates if each.results is not None]
    exact = [
        each for each in [*ran, *others] if each.results is not None and is_exact(each.plan.report)
    ]
    for one in sorted(exact, key=lambda each: each.microseconds or 0.0):
        engine, results = one.plan.report.engine, one.results or []
        agrees = any(
            _fault(graph, results, each) is None
            for each in ran
            if each.plan.report.engine != engine
        )
        if agrees or len(ran) < _FEW:
            return Reference(f"engine {engine}, which adds up in float32", results)
    return (
        Reference(
            f"the median of {len(ran)} plans", median_of([each.results or [] for each in ran])
        )
        if ran
        else Reference()
    )


@part("comparing results")
def judge(graph: Graph, candidates: Sequence[Candidate], reference: Reference) -> None:
    """Drops candidates whose results are not those of the reference. Results are not kept."""
    for each in candidates:
        if each.results is None:
            continue
        if (fault := _fault(graph, reference.outputs, each)) is not None:
            each.microseconds = None
            each.reason = f"output {fault[0]} differs from that of {reference.name}, {fault[1]}"
        each.results = None


def _fault(
    graph: Graph, expected: list[np.ndarray], candidate: Candidate
) -> tuple[int, str] | None:
    """The first output of a candidate that is not what was expected, and by how much."""
    dtypes = [tensor.dtype for tensor in graph.tensors if tensor.role == "output"]
    for position, (ours, theirs, dtype) in enumerate(
        zip(expected, candidate.results or [], dtypes, strict=True)
    ):
        if (difference := mismatch(ours, theirs, dtype)) is not None:
            return position, difference
    return None
