"""How much to measure: the levels of tuning."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from convoy_runtime.value_types import value_type

__all__ = ["ALL", "TUNE_LEVELS", "Level"]

#: More plans than any source has.
ALL: Final = 1000


@value_type(frozen=True, slots=True)
class Level:
    """How many plans of each source (`Planner.candidates`) are built at most; how many rounds the
    last few are timed; on which share of the cores other processes build plans of engines that
    compile a kernel, and whether they begin with what is known to be needed while others are
    measured; how often the knobs of the best plans are turned, and whether those of every plan are
    first, of engines that compile as well (`every_knob`); how many of a graph's alternatives are
    tried (None: all); whether is given up what other graphs, or its steps, show to be slow
    (`gives_up`); and how much to measure for steps (None: as much)."""

    name: str
    sources: tuple[tuple[str, int], ...]
    rounds: int
    pool: float
    ahead: bool = False
    turns: int = 0
    every_knob: bool = False
    alternatives: int | None = None
    gives_up: bool = False
    of_steps: Level | None = None


#: Of a step cuDNN's first choice and what compiles nothing: a quick tune is to stay one.
_QUICK_STEP: Final = Level(
    "quick", (("A", 1), ("precompiled", ALL)), rounds=3, pool=0.25, ahead=True, gives_up=True
)
_EVERYTHING: Final = (("A", ALL), ("B", ALL), ("FALLBACK", ALL), ("engines", ALL))
TUNE_LEVELS: Final = {
    "quick": replace(
        _QUICK_STEP, sources=(("A", 8), ("precompiled", ALL)), alternatives=1, of_steps=_QUICK_STEP
    ),
    "full": Level("full", _EVERYTHING, rounds=7, pool=1.0, turns=3),
    "exhaustive": Level("exhaustive", _EVERYTHING, rounds=7, pool=1.0, turns=3, every_knob=True),
}
