# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The tuning levels: how much tuning measures."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from convoy_runtime.manifest import Graph
from convoy_runtime.value_types import value_type

__all__ = ["ALL", "TUNE_LEVELS", "Level", "is_narrow"]

#: A limit above the number of plans of any source.
ALL: Final = 1000


@value_type(frozen=True, slots=True)
class Level:
    """A tuning level.

    Attributes:
        name: Its name in `load(tune=...)`.
        sources: The sources of candidates (`Planner.candidates`), each with its largest number of
            plans.
        rounds: The number of rounds of the last heat.
        pool: The share of the cores for processes that build plans that compile a kernel.
        ahead: Whether these processes start before tuning, with the plans that are known to be
            needed.
        knob_rounds: The largest number of rounds of the knob search.
        every_knob: Whether the first of these rounds changes all knobs of all candidates, including
            those that compile a kernel.
        kernels: The number of the artifact's kernels of a graph that are measured.
        cublaslt: The number of cuBLASLt's algorithms for a graph that are measured.
        alternatives: The number of alternatives of a graph that are measured; None for all.
        gives_up: Whether to drop engines and alternatives that are slow in other graphs or steps.
        last_resort: The source of a plan that compiles a kernel if no other plan can be built. If
            set, `sources` give no such plans.
        of_steps: The level for the steps of alternatives; None for this one.
        of_narrow_steps: The same for narrow steps (`is_narrow`); None for `of_steps`.
    """

    name: str
    sources: tuple[tuple[str, int], ...]
    rounds: int
    pool: float
    ahead: bool = False
    knob_rounds: int = 0
    every_knob: bool = False
    kernels: int = ALL
    cublaslt: int = 1
    alternatives: int | None = None
    gives_up: bool = False
    last_resort: str | None = None
    of_steps: Level | None = None
    of_narrow_steps: Level | None = None

    def of_step(self, graph: Graph) -> Level:
        """Returns the level for `graph`, a step of an alternative."""
        wide = self.of_steps or self
        return (self.of_narrow_steps or wide) if is_narrow(graph) else wide


def is_narrow(graph: Graph) -> bool:
    """Returns whether no tensor of `graph` is float32."""
    return all(tensor.dtype != "float32" for tensor in graph.tensors)


#: For a step, quick tuning measures cuDNN's first choice and all engines that compile no kernel,
#: since the heuristics do not list fast Fourier transforms for float32. In other types an
#: alternative has not won yet, and the first choices suffice. An engine that compiles a kernel for
#: a step could compile one for the whole graph, so steps are for the other engines. On an H100, 48
#: to 95 % of the plans that were compiled for convolutional networks were those of steps.
_QUICK_STEP: Final = Level(
    "quick",
    (("A", 1), ("precompiled", ALL)),
    rounds=3,
    pool=0.5,
    cublaslt=2,
    ahead=True,
    gives_up=True,
)
_QUICK_NARROW_STEP: Final = replace(_QUICK_STEP, sources=(("A", 3),), last_resort="A")
#: The choices of a load without tuning, each beside the next ones of its source.
_LIMITED_STEP: Final = Level(
    "limited", (("A", 1), ("FALLBACK", 1)), rounds=3, pool=0.5, ahead=True, kernels=1
)
#: On an H100 the best of four plans of heuristic A, or another candidate, is within 0.12 % of the
#: best of eight: 25 of 20,532 us for the 1,214 graphs of 22 models, with 28 % fewer plans to build.
_QUICK_PLANS: Final = 4
_EVERYTHING: Final = (("A", ALL), ("B", ALL), ("FALLBACK", ALL), ("engines", ALL))
TUNE_LEVELS: Final = {
    "limited": replace(
        _LIMITED_STEP,
        sources=(("A", 2), ("FALLBACK", 1)),
        alternatives=1,
        gives_up=True,
        of_steps=_LIMITED_STEP,
    ),
    "quick": replace(
        _QUICK_STEP,
        sources=(("A", _QUICK_PLANS), ("precompiled", ALL)),
        cublaslt=4,
        alternatives=1,
        of_steps=_QUICK_STEP,
        of_narrow_steps=_QUICK_NARROW_STEP,
    ),
    "full": Level("full", _EVERYTHING, rounds=7, pool=1.0, knob_rounds=3, cublaslt=16),
    "exhaustive": Level(
        "exhaustive",
        _EVERYTHING,
        rounds=7,
        pool=1.0,
        knob_rounds=3,
        every_knob=True,
        cublaslt=16,
    ),
}
