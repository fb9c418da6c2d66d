# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The candidates for a graph during tuning, and the check of their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.manifest import Graph
from convoy_runtime.plan_report import Trial
from convoy_runtime.timings import part
from convoy_runtime.value_types import value_type

from .accuracy import is_exact, median_of, mismatch

__all__ = ["Candidate", "Reference", "judge", "nearly_fastest", "ranked", "reference_of"]

#: The fewest results that have a meaningful median.
_MIN_RESULTS: Final = 3


#: Candidates slower than the fastest one by more than this factor and by more than this many
#: microseconds are not compared in the whole program. For short kernels, the gap to the next kernel
#: is relevant.
_MAX_CLOSE_SLOWDOWN: Final = 1.06
_MAX_CLOSE_MICROSECONDS: Final = 1.0


@dataclass(slots=True)
class Candidate:
    """A plan that is measured.

    Attributes:
        plan: The plan.
        first: Whether a load without tuning chooses this plan.
        results: Its outputs as float32, until they are compared with the reference.
        microseconds: Its time; None if it is not timed.
        single: Whether the time is that of a single run, and includes the launch by the host.
        reason: Why it is dropped; None if it is not.
    """

    plan: Plan
    first: bool = False
    results: list[np.ndarray] | None = None
    microseconds: float | None = None
    single: bool = False
    reason: str | None = None

    def trial(self) -> Trial:
        """Returns the outcome, for the report."""
        report = self.plan.report
        return Trial(
            report.engine, report.knobs, report.workspace_bytes, self.microseconds, self.reason,
            self.first, report.kernel,
            report.alternative, tuple(step.name for step in report.steps),
            report.numerical_notes, report.behavior_notes, report.cublaslt,
        )  # fmt: skip


@value_type(frozen=True, slots=True)
class Reference:
    """The results that candidates are compared with.

    Attributes:
        name: The origin of the results.
        outputs: The outputs as float32; empty if no candidate ran.
    """

    name: str = ""
    outputs: list[np.ndarray] = field(default_factory=list)

    def copy(self) -> Reference:
        """Returns the reference with outputs in memory of its own."""
        return Reference(self.name, [each.copy() for each in self.outputs])


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Returns the candidates that were timed, fastest first."""
    return sorted(
        (each for each in candidates if each.microseconds is not None),
        key=lambda each: each.microseconds or 0.0,
    )


def nearly_fastest(found: Sequence[Candidate]) -> list[Candidate]:
    """Returns those of ranked candidates that are to be compared in the whole program."""
    fastest = found[0].microseconds or 0.0
    limit = max(fastest * _MAX_CLOSE_SLOWDOWN, fastest + _MAX_CLOSE_MICROSECONDS)
    return [each for each in found if (each.microseconds or 0.0) <= limit]


@part("comparing results")
def reference_of(
    graph: Graph, candidates: Sequence[Candidate], others: Sequence[Candidate] = ()
) -> Reference:
    """Chooses the reference: the result of the fastest exact plan that agrees with another engine,
    else the median of the candidates. Agreement is not required if there are too few results for a
    median.

    Args:
        graph: The graph.
        candidates: The candidates.
        others: Further plans that may be exact but are not candidates.

    Returns:
        The reference; empty if no candidate ran.
    """
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
        if agrees or len(ran) < _MIN_RESULTS:
            return Reference(f"engine {engine}, which accumulates in float32", results)
    return (
        Reference(
            f"the median of {len(ran)} plans", median_of([each.results or [] for each in ran])
        )
        if ran
        else Reference()
    )


@part("comparing results")
def judge(graph: Graph, candidates: Sequence[Candidate], reference: Reference) -> None:
    """Drops the candidates whose results differ from the reference. Frees all results."""
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
    """Returns the index of the first output that differs from the expected one, and how."""
    dtypes = [tensor.dtype for tensor in graph.tensors if tensor.role == "output"]
    for position, (ours, theirs, dtype) in enumerate(
        zip(expected, candidate.results or [], dtypes, strict=True)
    ):
        if (difference := mismatch(ours, theirs, dtype)) is not None:
            return position, difference
    return None
