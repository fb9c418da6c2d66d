# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The data model of reports and their JSON, which `convoy explain --json` writes and `convoy
explain FILE.json` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from convoy.errors import ConvoyError
from convoy_runtime.manifest import OutsideOp
from convoy_runtime.plan_report import Trial, plan_name

__all__ = [
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
_VERSION: Final = 4


@dataclass(frozen=True, slots=True)
class StepChoice:
    """The plan of a step of an alternative: the step's graph, the name of the plan, its knobs and
    its workspace in bytes."""

    graph: str
    name: str
    knobs: Mapping[str, int]
    workspace_bytes: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A plan for a graph. Further fields are those of
    `convoy_runtime.plan_report.PlanReport`.

    Attributes:
        gpu: The GPU that it was built for.
        cudnn: The cuDNN version, e.g. 91900.
        driver: The CUDA version of the driver, e.g. 13000.
        options: The text of PlanOptions.
        used: Whether the times of the report are those of this plan.
        candidates: The measured candidates including this plan, best first.
    """

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
    candidates: tuple[Trial, ...]
    rejected: tuple[str, ...]
    kernel: str | None = None
    alternative: str | None = None
    steps: tuple[StepChoice, ...] = ()
    cublaslt: int | None = None

    @property
    def name(self) -> str:
        """The name of the plan, as `plan_name` returns it."""
        steps = [step.name for step in self.steps]
        return plan_name(self.engine, self.kernel, self.alternative, steps, self.cublaslt)

    @property
    def notes(self) -> tuple[str, ...]:
        """cuDNN's notes of the engine: numerical notes, then behavior notes."""
        return (*self.numerical_notes, *self.behavior_notes)

    def is_chosen(self, candidate: Trial) -> bool:
        """Whether a candidate is this plan."""
        return (candidate.name, dict(candidate.knobs)) == (self.name, dict(self.knobs))


@dataclass(frozen=True, slots=True)
class Step:
    """A call of the program: a cuDNN graph, a generated kernel or a copy.

    Attributes:
        kind: "graph", "kernel" or "copy".
        name: The name of the graph or kernel.
        form: The fused ops.
        tensors: The signature of a graph.
        location: The source location.
        bytes: Bytes read plus bytes written, each element once.
        flops: The operations of products (convolutions, matmuls), where a multiply-add counts as
            two; None if there are none.
        rate: The kind of arithmetic of products.
        microseconds: One run alone; None if not measured.
        in_place_microseconds: The time that it adds to the previous calls in a replay; None if not
            measured.
        limit_microseconds: The roofline limit; None if the GPU's speed is unknown.
        bound: The resource that determines the limit.
        live_bytes: The temporaries that are live during the call; None if unknown.
        after: The indices of the steps that it waits for.
        untuned: The runner of a graph without a plan; None for other steps.
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
    live_bytes: int | None
    after: tuple[int, ...]
    untuned: str | None

    @property
    def share(self) -> float | None:
        """The share of the roofline: limit divided by time."""
        if not self.microseconds or self.limit_microseconds is None:
            return None
        return self.limit_microseconds / self.microseconds


@dataclass(frozen=True, slots=True)
class Gpu:
    """The measured GPU.

    Attributes:
        name: The name of the GPU.
        driver: The CUDA version of the driver, e.g. 13000.
        cudnn: The cuDNN version, e.g. 91900.
        copy_bytes: Bytes read plus bytes written per second by a copy.
        peak_bytes: The peak memory bandwidth in bytes per second.
        flops: Kind of arithmetic to peak operations per second.
        notes: The sources of these figures.
    """

    name: str
    driver: int
    cudnn: int
    copy_bytes: float
    peak_bytes: float
    flops: Mapping[str, float]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """Lines of the model's source, number and text: those of steps, with context."""

    path: str
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A report.

    Attributes:
        model: The file name of the artifact.
        target: The target of the artifact.
        producer: Component to version.
        times: The origin of the steps' times: "measured" on `gpu`, "tuning" of the plans in the
            artifact, or "none".
        gpu: The measured GPU, if any.
        memory: Device memory that is held during the whole program: name to bytes.
        arena_bytes: The memory of all temporaries, and of outputs that are in the arena.
        form: The form of the CUDA graph; None if not measured.
        replay_microseconds: One replay of the program; None if not measured.
        steps: The calls of the program in order.
        choices: The plans.
        outside: The ops outside groups.
        sources: The source lines of steps.
    """

    model: str
    target: str
    producer: Mapping[str, str]
    times: Literal["measured", "tuning", "none"]
    gpu: Gpu | None
    memory: Mapping[str, int]
    arena_bytes: int
    form: str | None
    replay_microseconds: float | None
    steps: tuple[Step, ...]
    choices: tuple[Choice, ...]
    outside: tuple[OutsideOp, ...]
    sources: tuple[SourceFile, ...]

    @property
    def sum_microseconds(self) -> float | None:
        """The sum of the measured steps; None if no step is measured."""
        times = [step.microseconds for step in self.steps if step.microseconds is not None]
        return sum(times) if times else None

    @property
    def in_place_microseconds(self) -> float | None:
        """The sum of the steps' times in place; None if not measured."""
        times = [
            step.in_place_microseconds
            for step in self.steps
            if step.in_place_microseconds is not None
        ]
        return sum(times) if times else None

    @property
    def limit_microseconds(self) -> float | None:
        """The sum of the steps' roofline limits; None if one is unknown."""
        limits = [step.limit_microseconds for step in self.steps]
        known = [limit for limit in limits if limit is not None]
        return sum(known) if known and len(known) == len(limits) else None

    def choice_of(self, step: Step) -> Choice | None:
        """The plan of a step's time, or None."""
        found = (choice for choice in self.choices if choice.used and choice.graph == step.name)
        return next(found, None) if step.kind == "graph" else None

    def to_json(self) -> str:
        """The report as JSON, the inverse of `read_report`."""
        return json.dumps({"format": _FORMAT, "version": _VERSION, **asdict(self)}, indent=1) + "\n"


def read_report(path: Path) -> Report:
    """Reads a file that `Report.to_json` wrote. Raises ConvoyError for another file, OSError."""
    try:
        tree = json.loads(path.read_bytes())
        if (tree.pop("format"), tree.pop("version")) != (_FORMAT, _VERSION):
            raise ValueError
        return _report(tree)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = (
            f"{path}: expected a report of version {_VERSION}, written by `convoy explain --json`"
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
    candidates = tuple(Trial.of_record(each) for each in tree["candidates"])
    return Choice(
        **{
            **tree,
            **texts,
            "candidates": candidates,
            "steps": tuple(StepChoice(**step) for step in tree["steps"]),
        }
    )
