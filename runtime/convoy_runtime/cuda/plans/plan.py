"""An execution plan, how it is run, and what there is to say about it."""

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
    """Where work is enqueued: a stream, and a cuDNN handle that works on it, unless the program has
    no graphs. A plan that has steps calls `between`, where there is one, between every two of
    them."""

    driver: Driver
    stream: int
    cudnn: Cudnn | None = None
    handle: int | None = None
    between: Callable[[], None] | None = None


@value_type(frozen=True, slots=True)
class Trial:
    """A plan that was measured: microseconds a run, alone, or why it is out. `first` is what an
    untuned load takes. `alternative` is the graph's alternative that runs in place of an engine or
    a kernel, `steps` what runs its steps."""

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
        """What runs: `engine 41`, `kernel 32x64x2x1`, or
        `conv2d | bias+relu on engine 28, engine 1`."""
        return _name(self, self.steps)

    def is_of(self, report: PlanReport) -> bool:
        """Whether this is the plan of a report."""
        return (self.name, self.knobs) == (report.name, report.knobs)

    def __str__(self) -> str:
        found = f"{self.microseconds:.2f} us" if self.reason is None else self.reason
        return f"{self.name} {{{knob_text(self.knobs)}}}: {found}"


@value_type(frozen=True, slots=True)
class PlanReport:
    """What was chosen for a graph.

    `heuristic` is the list that offered it, `rank` its place there; `rejected` says why those
    before it, or after tuning all that cannot be built, were not taken. `origin` is `heuristics`,
    `tuning`, `offline` (made where the GPU was not), `stored plan`, `plan in the artifact`, or for
    either of these `engine and knobs`, made anew, or a `plan made of engine and knobs` before, and
    `offline` before it. `tuned` is the level of work that found it (offline, off, quick, full,
    exhaustive), `trials` what was measured then, best first, and `reference` what their results
    were compared with. `kernel` is the variant of the artifact's kernel that runs in place of an
    `engine` of cuDNN's; its `origin` is `kernel` when nothing was measured. `alternative` is the
    name of the graph's alternative that runs in place of both, on the plans `steps`; its `origin`
    is `alternative` when nothing was measured and the graph itself has no plan.
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
        """What runs, as of a trial."""
        return _name(self, [step.name for step in self.steps])

    @property
    def choice(self) -> list[Any]:
        """What runs, with its knobs, for comparisons; it can be written as JSON."""
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
        """The report that was kept with a plan, for `graph`. Raises TypeError or KeyError when
        something is missing or too much."""
        return cls._read(
            {**record, "graph": graph.name, "location": graph.location, "origin": origin, **changes}
        )

    @classmethod
    def _read(cls, record: Mapping[str, Any]) -> PlanReport:
        # Records of graphs that have no alternatives need not speak of them.
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
    """Something that runs a graph. It must outlive every CUDA graph that was captured from it."""

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
        """Puts one run on the queue: `pointers` are where the graph's tensors lie, in the order of
        the manifest. `call` and `location` say on whose behalf, in errors. Raises CudnnError, or
        CudaError where the plan is no plan of cuDNN's."""

    @property
    @abstractmethod
    def code(self) -> object:
        """What runs: the same object in copies of this plan whose reports differ."""

    @abstractmethod
    def text(self) -> str:
        """What restores the plan on an equal machine; empty when it cannot be written."""

    @abstractmethod
    def close(self) -> None:
        """Destroys the plan. Calling it again does nothing."""


@value_type(frozen=True, slots=True)
class CudnnPlan(Plan):
    """A finalized execution plan; its text is cuDNN's JSON."""

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
    """cuDNN's JSON of a finalized plan; nothing when it cannot be written: cuDNN's release notes
    name engines."""
    try:
        return plan.get_text(Attribute.EXECUTION_PLAN_JSON_REPRESENTATION)
    except CudnnError:
        return ""


@cache
def _numbers(graph: Graph) -> tuple[ctypes.Array[ctypes.c_char], ...]:
    """Host memory with the graph's constants. It is never freed, because cuDNN reads it whenever a
    variant pack with its address is run."""
    return tuple(ctypes.create_string_buffer(bytes.fromhex(each.bytes)) for each in graph.constants)


def _variant_pack(
    cudnn: Cudnn, graph: Graph, pointers: Sequence[int], workspace: int
) -> BackendDescriptor:
    """The arguments of one execution: where the tensors of the graph lie, its constants, the
    workspace."""
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
