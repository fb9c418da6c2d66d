"""The report of an artifact as plain data, and as JSON: what `convoy explain --json` writes,
`convoy explain FILE.json` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from convoy.errors import ConvoyError
from convoy_runtime.manifest import OutsideOp

__all__ = [
    "Candidate",
    "Choice",
    "Gpu",
    "OutsideOp",
    "Report",
    "SourceFile",
    "Step",
    "StepChoice",
    "read_report",
]

_FORMAT: Final = "convoy report"
_VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan that tuning tried for a graph: microseconds a run, alone, or why it is out. `first` is
    what runs untuned."""

    engine: int | None
    knobs: Mapping[str, int]
    workspace_bytes: int
    microseconds: float | None
    reason: str | None
    first: bool
    kernel: str | None = None
    alternative: str | None = None
    steps: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What runs: `engine 41` of cuDNN, `kernel 32x64x2x1` of the artifact, or an alternative of
        the graph, as `conv2d | bias+relu on engine 28, engine 1`."""
        return _name(self, self.steps)


@dataclass(frozen=True, slots=True)
class StepChoice:
    """The plan of one step of an alternative: the step's graph, what runs, its knobs and its
    workspace."""

    graph: str
    name: str
    knobs: Mapping[str, int]
    workspace_bytes: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A plan for a graph and where it comes from (`convoy_runtime.cuda.plans.plan.PlanReport`).
    `gpu`, `cudnn` (91900), `driver` (13000) and `options` are what it was made for; `candidates`
    what was measured beside it, best first, itself included; `rejected` what cuDNN or the options
    refused, each with its reason; `reference` what results were compared with. `used` is whether
    the report's times are those of this plan. `alternative` is the graph's alternative that runs in
    its place, on the plans `steps`."""

    graph: str
    gpu: str
    cudnn: int
    driver: int
    options: str
    used: bool
    origin: str
    tuned: str
    engine: int | None
    knobs: Mapping[str, int]
    numerical_notes: tuple[str, ...]
    behavior_notes: tuple[str, ...]
    workspace_bytes: int
    heuristic: str
    rank: int
    reference: str
    candidates: tuple[Candidate, ...]
    rejected: tuple[str, ...]
    kernel: str | None = None
    alternative: str | None = None
    steps: tuple[StepChoice, ...] = ()

    @property
    def name(self) -> str:
        """What runs, as of a candidate."""
        return _name(self, [step.name for step in self.steps])

    @property
    def notes(self) -> tuple[str, ...]:
        """What cuDNN says of the plan: numerical notes, then behavior notes."""
        return (*self.numerical_notes, *self.behavior_notes)

    def is_chosen(self, candidate: Candidate) -> bool:
        """Whether a candidate is this plan."""
        return (candidate.name, dict(candidate.knobs)) == (self.name, dict(self.knobs))


def _name(plan: Candidate | Choice, steps: Sequence[str]) -> str:
    if plan.alternative is not None:
        return f"{plan.alternative} on {', '.join(steps)}"
    return f"kernel {plan.kernel}" if plan.kernel is not None else f"engine {plan.engine}"


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the program, in its order: a cuDNN graph, a generated kernel or a copy.

    `form` is what is fused, `tensors` the signature of a graph. `bytes` is what has to be read and
    written, each element once; `flops` what products (convolutions, matmuls) compute, a
    multiply-add as two, None where there are none, and `rate` the kind of arithmetic they use.
    `microseconds` is one run of it alone, `in_place_microseconds` what it adds to the calls before
    it in a replay, None where nobody measured; `limit_microseconds` the least time that the GPU
    allows, for the reason `bound`, None where the GPU's speed is not known. `after` are the numbers
    of the steps that it waits for. `untuned` is what runs a graph where it has no plan, None of
    other steps.
    """

    kind: Literal["graph", "kernel", "copy"]
    name: str
    form: str
    tensors: str
    location: str
    bytes: int
    flops: int | None
    rate: str | None
    microseconds: float | None
    in_place_microseconds: float | None
    limit_microseconds: float | None
    bound: Literal["memory", "compute"] | None
    after: tuple[int, ...]
    untuned: str | None

    @property
    def share(self) -> float | None:
        """The part of the roofline that it reaches: least time over time."""
        if not self.microseconds or self.limit_microseconds is None:
            return None
        return self.limit_microseconds / self.microseconds


@dataclass(frozen=True, slots=True)
class Gpu:
    """The GPU that was measured. Speeds are per second; `flops` by kind of arithmetic; `notes` say
    where each of them is from."""

    name: str
    driver: int
    cudnn: int
    copy_bytes: float
    peak_bytes: float
    flops: Mapping[str, float]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """Lines of the model's source, those that steps came from and some around them: number and
    text."""

    path: str
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything. `times` says what the steps' times are: `measured` on `gpu`, of the `tuning` that
    put the plans into the artifact, or `none`. `replay_microseconds` is one replay of the whole
    program, whose calls are ordered as `form` tells; both are None where it was not measured."""

    model: str
    target: str
    producer: Mapping[str, str]
    times: Literal["measured", "tuning", "none"]
    gpu: Gpu | None
    form: str | None
    replay_microseconds: float | None
    steps: tuple[Step, ...]
    choices: tuple[Choice, ...]
    outside: tuple[OutsideOp, ...]
    sources: tuple[SourceFile, ...]

    @property
    def sum_microseconds(self) -> float | None:
        """All steps that were measured, one after another; None when none was."""
        times = [step.microseconds for step in self.steps if step.microseconds is not None]
        return sum(times) if times else None

    @property
    def in_place_microseconds(self) -> float | None:
        """What all steps add to one another in a replay; None when it was not measured."""
        times = [
            step.in_place_microseconds
            for step in self.steps
            if step.in_place_microseconds is not None
        ]
        return sum(times) if times else None

    @property
    def limit_microseconds(self) -> float | None:
        """The least time for the whole: what the GPU allows each step; None where that is not known
        of all of them."""
        limits = [step.limit_microseconds for step in self.steps]
        known = [limit for limit in limits if limit is not None]
        return sum(known) if known and len(known) == len(limits) else None

    def choice_of(self, step: Step) -> Choice | None:
        """The plan that a step's time is that of."""
        found = (choice for choice in self.choices if choice.used and choice.graph == step.name)
        return next(found, None) if step.kind == "graph" else None

    def to_json(self) -> str:
        """Its text. `read_report` gives it back."""
        return json.dumps({"format": _FORMAT, "version": _VERSION, **asdict(self)}, indent=1) + "\n"


def read_report(path: Path) -> Report:
    """The report in a file that `Report.to_json` wrote. Raises ConvoyError when it is none,
    OSError."""
    try:
        tree = json.loads(path.read_bytes())
        if (tree.pop("format"), tree.pop("version")) != (_FORMAT, _VERSION):
            raise ValueError
        return _report(tree)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = (
            f"{path}: expected a report of version {_VERSION}, as `convoy explain --json` writes it"
        )
        raise ConvoyError(message) from error


def _report(tree: dict[str, Any]) -> Report:
    gpu = tree["gpu"]
    return Report(
        **{
            **tree,
            "gpu": None if gpu is None else Gpu(**{**gpu, "notes": tuple(gpu["notes"])}),
            "steps": tuple(
                Step(**{**step, "after": tuple(step["after"])}) for step in tree["steps"]
            ),
            "choices": tuple(_choice(choice) for choice in tree["choices"]),
            "outside": tuple(OutsideOp(**op) for op in tree["outside"]),
            "sources": tuple(
                SourceFile(each["path"], tuple((line, text) for line, text in each["lines"]))
                for each in tree["sources"]
            ),
        }
    )


def _choice(tree: dict[str, Any]) -> Choice:
    texts = {name: tuple(tree[name]) for name in ("numerical_notes", "behavior_notes", "rejected")}
    candidates = tuple(
        Candidate(**{**each, "steps": tuple(each["steps"])}) for each in tree["candidates"]
    )
    return Choice(
        **{
            **tree,
            **texts,
            "candidates": candidates,
            "steps": tuple(StepChoice(**step) for step in tree["steps"]),
        }
    )
