# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""How many times as long as the best plan of a graph others take, and which are slow in several
graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeVar

from .candidates import Candidate
from .race import HOST_MICROSECONDS

__all__ = ["is_slow", "reason_of", "slow_ones", "slowdown_of"]

#: The number of an engine, or the variant of a kernel.
_Name = TypeVar("_Name", int, int | str)


def slowdown_of(candidate: Candidate, best: float) -> float:
    """Returns how many times as long as `best` microseconds a candidate takes at least."""
    host = HOST_MICROSECONDS if candidate.single else 0.0
    return max(1.0, ((candidate.microseconds or 0.0) - host) / best)


def slow_ones(
    found: Sequence[Mapping[_Name, float]], slowdowns: Sequence[tuple[float, int]]
) -> dict[_Name, str]:
    """Returns the engines and kernels that were slow for all graphs of a kind, and the reasons.

    Args:
        found: The slowdowns of engines and kernels, for each graph.
        slowdowns: As for `is_slow`.
    """
    ratios: defaultdict[_Name, list[float]] = defaultdict(list)
    for times in found:
        for name, ratio in times.items():
            ratios[name].append(ratio)
    return {name: reason_of(each) for name, each in ratios.items() if is_slow(each, slowdowns)}


def is_slow(ratios: Sequence[float], slowdowns: Sequence[tuple[float, int]]) -> bool:
    """Returns whether all slowdowns of `ratios` are at least as large, and as many, as those of a
    pair of a slowdown and a number of graphs."""
    return any(len(ratios) >= graphs and min(ratios) >= times for times, graphs in slowdowns)


def reason_of(ratios: Sequence[float]) -> str:
    """Returns why what had these slowdowns is skipped."""
    graphs = "a similar graph" if len(ratios) == 1 else f"{len(ratios)} similar graphs"
    return f"took at least {min(ratios):.2f} times as long as the best plan for {graphs}"
