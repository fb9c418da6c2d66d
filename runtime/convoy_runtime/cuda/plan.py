"""An execution plan and what there is to say about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from convoy_runtime.manifest import Graph

from ._cudnn import BackendDescriptor
from .configs import knob_text

__all__ = ["Plan", "PlanReport", "Trial"]


@dataclass(frozen=True, slots=True)
class Trial:
    """A plan that was measured: microseconds a run, alone with cold caches, or why it is out. `first` is what an untuned load takes."""

    engine: int
    knobs: dict[str, int]
    workspace_bytes: int
    microseconds: float | None
    reason: str | None = None
    first: bool = False

    def __str__(self) -> str:
        found = f"{self.microseconds:.2f} us" if self.reason is None else self.reason
        return f"engine {self.engine} {{{knob_text(self.knobs)}}}: {found}"


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What was chosen for a graph.

    `heuristic` is the list that offered it, `rank` its place there; `rejected` says why those before were not taken. `origin` is
    `heuristics`, `tuning`, `offline` (made where the GPU was not), `stored plan`, `plan in the artifact`, or for either of these `engine
    and knobs`, made anew, and `offline` before it. `tuned` is the level of work that found it (offline, off, quick, full), and `trials`
    what was measured then, best first.
    """

    graph: str
    location: str
    engine: int
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

    def __str__(self) -> str:
        notes = ", ".join(self.numerical_notes + self.behavior_notes)
        from_store = f", {self.origin}" if self.origin != "heuristics" else ""
        chosen = f"engine {self.engine} ({self.heuristic}[{self.rank}]{from_store})"
        return f"{self.graph}: {chosen} {{{knob_text(self.knobs)}}} [{notes}] workspace {self.workspace_bytes} bytes"

    @classmethod
    def of_record(cls, record: Mapping[str, Any], graph: Graph, origin: str, **changes: Any) -> PlanReport:
        """The report that was kept with a plan, for `graph`. Raises TypeError or KeyError when something is missing or too much."""
        known = {**record, "graph": graph.name, "location": graph.location, "origin": origin, **changes}
        for name in ("numerical_notes", "behavior_notes", "rejected"):
            known[name] = tuple(known[name])
        known["trials"] = tuple(Trial(**trial) for trial in known["trials"])
        return cls(**{field.name: known.pop(field.name) for field in fields(cls)})


@dataclass(frozen=True, slots=True)
class Plan:
    """A finalized execution plan. It must outlive every CUDA graph that was captured from it (cuDNN before 9.28)."""

    descriptor: BackendDescriptor
    report: PlanReport
