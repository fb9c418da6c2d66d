# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Data types for the chosen plan of a graph and the candidates that tuning measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from .manifest import Graph
from .value_types import value_type

__all__ = ["PlanReport", "Trial", "knob_text", "plan_lines", "plan_name"]


def knob_text(knobs: Mapping[str, int]) -> str:
    """Formats knobs, e.g. `TILE_M=128, STAGES=3`."""
    return ", ".join(f"{name}={value}" for name, value in knobs.items())


def plan_text(plan: PlanReport | Trial) -> str:
    """Formats knobs, notes and workspace, e.g. `{TILE_M=128} [TENSOR_CORE] workspace 0 bytes`."""
    notes = ", ".join(plan.numerical_notes + plan.behavior_notes)
    return f"{{{knob_text(plan.knobs)}}} [{notes}] workspace {plan.workspace_bytes} bytes"


def plan_lines(report: PlanReport) -> Iterator[str]:
    """Yields all that is known about a graph's plans: the plan, the steps of an alternative, the
    measured candidates, fastest first (`*` is the plan), then those that were not measured, each
    with the reason.

    Args:
        report: The report of the graph.
    """
    yield str(report)
    for step in report.steps:
        yield f"  step {step}"
    for trial in report.trials:
        mark = "*" if trial.is_of(report) else " "
        time = "dropped" if trial.microseconds is None else f"{trial.microseconds:.2f} us"
        reason = "" if trial.reason is None else f": {trial.reason}"
        yield f"  {mark} {time:>12}  {trial.name} {plan_text(trial)}{reason}"
    for line in report.rejected:
        yield f"  not {line}"


def plan_name(
    engine: int | None,
    kernel: str | None,
    alternative: str | None,
    steps: Sequence[str],
    cublaslt: int | None,
) -> str:
    """The name of a plan, e.g. `engine 41`, `kernel 32x64x2x1`, `cuBLASLt 66`, or
    `conv2d | bias+relu on engine 28, engine 1`.

    Args:
        engine: cuDNN's engine; None for any other plan.
        kernel: The variant of the artifact's kernel, if any.
        alternative: The name of the graph's alternative, if any.
        steps: The names of the plans of the alternative's steps.
        cublaslt: cuBLASLt's number of its algorithm, if any.
    """
    if alternative is not None:
        return f"{alternative} on {', '.join(steps)}"
    if cublaslt is not None:
        return f"cuBLASLt {cublaslt}"
    return f"kernel {kernel}" if kernel is not None else f"engine {engine}"


@value_type(frozen=True, slots=True)
class Trial:
    """The outcome of measuring a candidate.

    Attributes:
        engine: cuDNN's engine; None for any other plan.
        knobs: Knob name to value; of cuBLASLt, the parameters of its algorithm.
        workspace_bytes: The size of the workspace in bytes.
        microseconds: The time of a run alone; None if it was dropped before it was timed.
        reason: Why it was dropped; None if it was not.
        first: Whether a load without tuning chooses this plan, as far as tuning asked cuDNN.
        kernel: The variant of the artifact's kernel, if any.
        alternative: The name of the graph's alternative, if any.
        steps: The names of the plans of the alternative's steps.
        numerical_notes: The names of the engine's numerical notes.
        behavior_notes: The names of the engine's behavior notes.
        cublaslt: cuBLASLt's number of its algorithm, if any.
    """

    engine: int | None
    knobs: dict[str, int]
    workspace_bytes: int
    microseconds: float | None
    reason: str | None = None
    first: bool = False
    kernel: str | None = None
    alternative: str | None = None
    steps: tuple[str, ...] = ()
    numerical_notes: tuple[str, ...] = ()
    behavior_notes: tuple[str, ...] = ()
    cublaslt: int | None = None

    @property
    def name(self) -> str:
        """The name of the plan, as `plan_name` returns it."""
        return plan_name(self.engine, self.kernel, self.alternative, self.steps, self.cublaslt)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Trial:
        """Returns the trial of a stored record, in which tuples are lists and newer fields may be
        missing. Raises TypeError if fields are missing or unknown."""
        names = "steps", "numerical_notes", "behavior_notes"
        return cls(**{**record, **{name: tuple(record.get(name, ())) for name in names}})

    def is_of(self, report: PlanReport) -> bool:
        """Returns whether this is the plan of a report."""
        return (self.name, self.knobs) == (report.name, report.knobs)

    def __str__(self) -> str:
        found = f"{self.microseconds:.2f} us" if self.reason is None else self.reason
        return f"{self.name} {{{knob_text(self.knobs)}}}: {found}"


@value_type(frozen=True, slots=True)
class PlanReport:
    """The plan that was chosen for a graph.

    Attributes:
        graph: The name of the graph.
        location: The source location of the graph.
        engine: cuDNN's engine; None for any other plan.
        knobs: Knob name to value; of cuBLASLt, the parameters of its algorithm.
        numerical_notes: The names of the engine's numerical notes.
        behavior_notes: The names of the engine's behavior notes.
        workspace_bytes: The size of the workspace in bytes.
        heuristic: The source of the plan.
        rank: Its position in that source.
        rejected: Why preceding candidates were rejected; after tuning, why candidates cannot be
            built.
        origin: `heuristics`, `tuning`, `kernel`, `cuBLASLt`, `alternative`, `offline` (planned
            without the GPU), `stored plan` or `plan in the artifact`. In the last two, `engine and
            knobs` replaces `plan` if the plan was rebuilt in this load, and `plan made of engine
            and knobs` if it was rebuilt before; `offline` precedes it if it was planned offline.
        tuned: The level that found it: offline, off, limited, quick, full or exhaustive.
        trials: The measured candidates, best first.
        reference: The reference that their results were compared with.
        kernel: The variant of the artifact's kernel, if any.
        alternative: The name of the graph's alternative, if any.
        steps: The plans of the alternative's steps.
        cublaslt: cuBLASLt's number of its algorithm, if any.
    """

    graph: str
    location: str
    engine: int | None
    knobs: dict[str, int]
    numerical_notes: tuple[str, ...]
    behavior_notes: tuple[str, ...]
    workspace_bytes: int
    heuristic: str
    rank: int
    rejected: tuple[str, ...]
    origin: str = "heuristics"
    tuned: str = "off"
    trials: tuple[Trial, ...] = ()
    reference: str = ""
    kernel: str | None = None
    alternative: str | None = None
    steps: tuple[PlanReport, ...] = ()
    cublaslt: int | None = None

    @property
    def name(self) -> str:
        """The name of the plan, as in `Trial.name`."""
        steps = [step.name for step in self.steps]
        return plan_name(self.engine, self.kernel, self.alternative, steps, self.cublaslt)

    @property
    def choice(self) -> list[Any]:
        """The engine, kernel, algorithm or alternative and its knobs as comparable JSON values."""
        last: list[Any]
        if self.alternative is not None:
            last = [[self.alternative, [step.choice for step in self.steps]]]
        else:
            last = [] if self.cublaslt is None else [f"cuBLASLt {self.cublaslt}"]
        return [self.engine, self.knobs, self.kernel, *last]

    def __str__(self) -> str:
        from_store = f", {self.origin}" if self.origin != "heuristics" else ""
        chosen = f"{self.name} ({self.heuristic}[{self.rank}]{from_store})"
        return f"{self.graph}: {chosen} {plan_text(self)}"

    @classmethod
    def of_record(
        cls, record: Mapping[str, Any], graph: Graph, origin: str, **changes: Any
    ) -> PlanReport:
        """Returns the report that was stored with a plan, for `graph`. Raises TypeError or KeyError
        if fields are missing or unknown."""
        return cls._read(
            {**record, "graph": graph.name, "location": graph.location, "origin": origin, **changes}
        )

    @classmethod
    def _read(cls, record: Mapping[str, Any]) -> PlanReport:
        # Records of graphs without alternatives and cuBLASLt may lack these fields.
        known = {"alternative": None, "steps": (), "cublaslt": None, **record}
        for name in ("numerical_notes", "behavior_notes", "rejected"):
            known[name] = tuple(known[name])
        known["trials"] = tuple(
            trial if isinstance(trial, Trial) else Trial.of_record(trial)
            for trial in known["trials"]
        )
        known["steps"] = tuple(
            step if isinstance(step, PlanReport) else cls._read(step) for step in known["steps"]
        )
        return cls(**{field.name: known.pop(field.name) for field in fields(cls)})
