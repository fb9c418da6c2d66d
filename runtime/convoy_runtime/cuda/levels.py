"""How much to measure: the levels of tuning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["ALL", "TUNE_LEVELS", "Level"]

#: More plans than any source has.
ALL: Final = 1000


@dataclass(frozen=True, slots=True)
class Level:
    """How many plans of each source (`Planner.candidates`) are built at most; over how many rounds the last few are timed (`rounds`), and
    all those before (`heats`); whether kernels are compiled in a pool of processes, whose start takes longer than a few kernels; how often
    the knobs of the best plans are turned, and whether those of every plan are first, of engines that compile as well (`every_knob`); how
    many of a graph's alternatives are tried (None: all); whether is given up what other graphs, or its steps, show to be slow (`gives_up`);
    and how much to measure for steps (None: as much)."""

    name: str
    sources: tuple[tuple[str, int], ...]
    rounds: int
    heats: int
    processes: bool = False
    turns: int = 0
    every_knob: bool = False
    alternatives: int | None = None
    gives_up: bool = False
    of_steps: Level | None = None


#: Of a step cuDNN's first choice and what compiles nothing: a quick tune is to stay one.
_QUICK_STEP: Final = Level("quick", (("A", 1), ("precompiled", ALL)), rounds=3, heats=1, gives_up=True)
_EVERYTHING: Final = (("A", ALL), ("B", ALL), ("FALLBACK", ALL), ("engines", ALL))
TUNE_LEVELS: Final = {
    "quick": Level("quick", (("A", 8), ("precompiled", ALL)), rounds=3, heats=1, alternatives=1, gives_up=True, of_steps=_QUICK_STEP),
    "full": Level("full", _EVERYTHING, rounds=7, heats=3, processes=True, turns=3),
    "exhaustive": Level("exhaustive", _EVERYTHING, rounds=7, heats=3, processes=True, turns=3, every_knob=True),
}
