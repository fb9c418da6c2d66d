"""Execution plans, the queue that they run on, and their reports."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from convoy_runtime.cuda.cudnn.configs import knob_text
from convoy_runtime.cuda.cudnn.enums import Attribute, Descriptor, Type
from convoy_runtime.cuda.cudnn.library import BackendDescriptor, Cudnn
from convoy_runtime.cuda.driver.device import Driver
from convoy_runtime.errors import CudnnError
from convoy_runtime.manifest import Graph
from convoy_runtime.value_types import value_type

__all__ = ["CudnnPlan", "Plan", "PlanReport", "Queue", "Trial", "json_text"]


@value_type(frozen=True, slots=True)
class Queue:
    """A stream, and the handles to enqueue work on it.

    Attributes:
        driver: The CUDA driver.
        stream: The handle of the stream.
        cudnn: The library; None if the program has no graphs.
        handle: A cuDNN handle that works on the stream.
        between: Called by a plan between its steps.
    """

    driver: Driver
    stream: int
    cudnn: Cudnn | None = None
    handle: int | None = None
    between: Callable[[], None] | None = None


@value_type(frozen=True, slots=True)
class Trial:
    """The outcome of measuring a candidate.

    Attributes:
        engine: cuDNN's engine; None for a kernel or an alternative.
        knobs: Knob name to value.
        workspace_bytes: The size of the workspace in bytes.
        microseconds: The time of a run alone; None if it was dropped before it was timed.
        reason: Why it was dropped; None if it was not.
        first: Whether a load without tuning chooses this plan.
        kernel: The variant of the artifact's kernel, if any.
        alternative: The name of the graph's alternative, if any.
        steps: The names of the plans of the alternative's steps.
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

    @property
    def name(self) -> str:
        """The name of the plan, e.g. `engine 41`, `kernel 32x64x2x1`, or
        `conv2d | bias+relu on engine 28, engine 1`."""
        return _name(self, self.steps)

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
        engine: cuDNN's engine; None for a kernel or an alternative.
        knobs: Knob name to value.
        numerical_notes: The names of the engine's numerical notes.
        behavior_notes: The names of the engine's behavior notes.
        workspace_bytes: The size of the workspace in bytes.
        heuristic: The source of the plan.
        rank: Its position in that source.
        rejected: Why preceding candidates were rejected; after tuning, why candidates cannot be
            built.
        origin: `heuristics`, `tuning`, `kernel`, `alternative`, `offline` (planned without the
            GPU), `stored plan` or `plan in the artifact`. In the last two, `engine and knobs`
            replaces `plan` if the plan was rebuilt in this load, and `plan made of engine and
            knobs` if it was rebuilt before; `offline` precedes it if it was planned offline.
        tuned: The level that found it: offline, off, quick, full or exhaustive.
        trials: The measured candidates, best first.
        reference: The reference that their results were compared with.
        kernel: The variant of the artifact's kernel, if any.
        alternative: The name of the graph's alternative, if any.
        steps: The plans of the alternative's steps.
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

    @property
    def name(self) -> str:
        """The name of the plan, as in `Trial.name`."""
        return _name(self, [step.name for step in self.steps])

    @property
    def choice(self) -> list[Any]:
        """The engine, kernel or alternative and its knobs as comparable JSON values."""
        steps = (
            [[self.alternative, [step.choice for step in self.steps]]]
            if self.alternative is not None
            else []
        )
        return [self.engine, self.knobs, self.kernel, *steps]

    def __str__(self) -> str:
        notes = ", ".join(self.numerical_notes + self.behavior_notes)
        from_store = f", {self.origin}" if self.origin != "heuristics" else ""
        chosen = f"{self.name} ({self.heuristic}[{self.rank}]{from_store})"
        return (
            f"{self.graph}: {chosen} {{{knob_text(self.knobs)}}} [{notes}] workspace "
            f"{self.workspace_bytes} bytes"
        )

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
        # Records of graphs without alternatives may lack these fields.
        known = {"alternative": None, "steps": (), **record}
        for name in ("numerical_notes", "behavior_notes", "rejected"):
            known[name] = tuple(known[name])
        known["trials"] = tuple(
            Trial(**{**trial, "steps": tuple(trial.get("steps", ()))}) for trial in known["trials"]
        )
        known["steps"] = tuple(
            step if isinstance(step, PlanReport) else cls._read(step) for step in known["steps"]
        )
        return cls(**{field.name: known.pop(field.name) for field in fields(cls)})


def _name(plan: Trial | PlanReport, steps: Sequence[str]) -> str:
    if plan.alternative is not None:
        return f"{plan.alternative} on {', '.join(steps)}"
    return f"kernel {plan.kernel}" if plan.kernel is not None else f"engine {plan.engine}"


@value_type(frozen=True, slots=True)
class Plan(ABC):
    """Runs a graph. A plan must outlive every CUDA graph that is captured from it."""

    report: PlanReport

    @abstractmethod
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
        """Enqueues one run.

        Args:
            queue: The stream and the cuDNN handle.
            graph: The graph.
            pointers: The pointer of each of its tensors, in the order of the manifest.
            workspace: The pointer of the workspace.
            call: The number of the call in the manifest, for messages.
            location: The source location of the call, for messages.

        Raises:
            CudnnError: cuDNN rejects the run.
            CudaError: The driver rejects the launch of a kernel.
        """

    @property
    @abstractmethod
    def code(self) -> object:
        """The object that is executed. Copies of this plan with another report share it."""

    @abstractmethod
    def text(self) -> str:
        """Returns the text that restores the plan on an equal machine; an empty string if the plan
        cannot be written."""

    @abstractmethod
    def close(self) -> None:
        """Destroys the plan. Further calls have no effect."""


@value_type(frozen=True, slots=True)
class CudnnPlan(Plan):
    """A finalized execution plan of cuDNN. Its text is cuDNN's JSON."""

    descriptor: BackendDescriptor

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
        cudnn = queue.cudnn
        assert cudnn is not None
        what = f"graph {graph.name}" if call is None else f"graph {graph.name}, call {call}"
        pack = _variant_pack(cudnn, graph, pointers, workspace)
        try:
            cudnn.call(
                "cudnnBackendExecute",
                queue.handle,
                self.descriptor.pointer,
                pack.pointer,
                what=what,
                location=location,
            )
        finally:
            pack.close()

    @property
    def code(self) -> object:
        return self.descriptor

    def text(self) -> str:
        return json_text(self.descriptor)

    def close(self) -> None:
        self.descriptor.close()


def json_text(plan: BackendDescriptor) -> str:
    """Returns cuDNN's JSON of a finalized plan; an empty string if cuDNN cannot write it, a
    limitation of some engines in its release notes."""
    try:
        return plan.get_text(Attribute.EXECUTION_PLAN_JSON_REPRESENTATION)
    except CudnnError:
        return ""


@cache
def _numbers(graph: Graph) -> tuple[ctypes.Array[ctypes.c_char], ...]:
    """Returns host memory with the graph's constants. It is never freed, because cuDNN reads it in
    each run of a variant pack with its address."""
    return tuple(ctypes.create_string_buffer(bytes.fromhex(each.bytes)) for each in graph.constants)


def _variant_pack(
    cudnn: Cudnn, graph: Graph, pointers: Sequence[int], workspace: int
) -> BackendDescriptor:
    """Returns the arguments of one execution: the pointers of the graph's tensors, its constants
    and the workspace."""
    pack = cudnn.create(Descriptor.VARIANT_PACK)
    uids = [tensor.uid for tensor in graph.tensors] + [constant.uid for constant in graph.constants]
    pack.set(Attribute.VARIANT_PACK_UNIQUE_IDS, Type.INT64, uids)
    pack.set(
        Attribute.VARIANT_PACK_DATA_POINTERS,
        Type.VOID_PTR,
        [*pointers, *map(ctypes.addressof, _numbers(graph))],
    )
    pack.set(Attribute.VARIANT_PACK_WORKSPACE, Type.VOID_PTR, [workspace])
    pack.finalize()
    return pack
