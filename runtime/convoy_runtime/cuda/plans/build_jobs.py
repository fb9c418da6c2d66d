# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The messages between `build_pool` and its processes: requests to build plans and to query cuDNN's
heuristics, and the answers of `build_worker`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from convoy_runtime.cuda.cudnn.enums import BehaviorNote
from convoy_runtime.value_types import value_type

if TYPE_CHECKING:
    from convoy_runtime.cuda.cudnn.configs import Config
    from convoy_runtime.manifest import Graph

__all__ = ["Built", "Job", "Offer", "Query"]


@value_type(frozen=True, slots=True)
class Job:
    """A plan to build.

    Attributes:
        symbol: The name of the graph's build function.
        name: The name of the graph.
        location: Its source location.
        engine: The index of the engine.
        knobs: Knob name to value.
    """

    symbol: str
    name: str
    location: str
    engine: int
    knobs: Mapping[str, int]

    @staticmethod
    def of(graph: Graph, config: Config) -> Job:
        """Returns the job that builds the plan of a configuration."""
        symbol = graph.symbol or ""
        return Job(symbol, graph.name, graph.location, config.engine, config.named_knobs)

    def line(self) -> str:
        """Returns the job as JSON. Equal jobs have equal lines."""
        return json.dumps(asdict(self), sort_keys=True)


@value_type(frozen=True, slots=True)
class Query:
    """A query of cuDNN's heuristics: the configurations that a mode offers for a graph.

    Attributes:
        symbol: The name of the graph's build function.
        name: The name of the graph.
        location: Its source location.
        source: The mode, e.g. `A`.
        limit: The number of configurations.
    """

    symbol: str
    name: str
    location: str
    source: str
    limit: int

    @staticmethod
    def of(graph: Graph, source: str, limit: int) -> Query:
        """Returns the query about the first configurations of a mode of the heuristics."""
        return Query(graph.symbol or "", graph.name, graph.location, source, limit)

    def line(self) -> str:
        """Returns the query as JSON. Equal queries have equal lines."""
        return json.dumps(asdict(self), sort_keys=True)

    def job(self, engine: int, knobs: Mapping[str, int]) -> Job:
        """Returns the job that builds the plan of a configuration."""
        return Job(self.symbol, self.name, self.location, engine, knobs)


@value_type(frozen=True, slots=True)
class Offer:
    """A configuration that the heuristics offer.

    Attributes:
        engine: The index of the engine.
        knobs: Knob name to value.
        numerical: The names of the engine's numerical notes.
        behavior: The names of its behavior notes.
    """

    engine: int
    knobs: Mapping[str, int]
    numerical: tuple[str, ...]
    behavior: tuple[str, ...]

    @property
    def compiles(self) -> bool:
        """Whether its plan compiles a kernel."""
        return BehaviorNote.RUNTIME_COMPILATION.name in self.behavior

    @staticmethod
    def all_of(answer: Mapping[str, Any]) -> list[Offer]:
        """Returns the offers in a process's answer to a query, none if it has an error."""
        return [
            Offer(engine, knobs, tuple(numerical), tuple(behavior))
            for engine, knobs, numerical, behavior in answer.get("offers", ())
        ]


@value_type(frozen=True, slots=True)
class Built:
    """The outcome of a job.

    Attributes:
        plan: cuDNN's JSON of the plan.
        error: The reason if there is no plan.
        not_here: Whether the pool cannot build the plan; this process may be able to.
    """

    plan: str = ""
    error: str = ""
    not_here: bool = False

    @staticmethod
    def of(answer: Mapping[str, Any]) -> Built:
        """Returns the outcome from a process's answer to a job."""
        plan, error = answer.get("plan"), answer.get("error")
        if isinstance(plan, str) and plan:
            return Built(plan=plan)
        if error:
            return Built(error=str(error), not_here=answer.get("not_here") is True)
        return Built(error="its plan cannot be written as JSON", not_here=True)
