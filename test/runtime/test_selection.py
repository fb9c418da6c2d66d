"""How close results are decided, with a stopwatch that returns predefined times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from convoy_runtime.cuda.graphs.capture import Captured, Stopwatch
from convoy_runtime.cuda.tuning.selection import _compare

OLD, NEW = cast("Captured", "old"), cast("Captured", "new")


class FakeStopwatch(Stopwatch):
    """Each launch of a graph takes the next of its times, or the last one."""

    def __init__(self, **times: Sequence[float]) -> None:
        self.times = {name: list(figures) for name, figures in times.items()}
        self.launches: list[tuple[Any, int]] = []

    def once(self, captured: Captured, launches: int = 1) -> float:
        self.launches.append((captured, launches))
        figures = self.times[cast("str", captured)]
        return figures.pop(0) if len(figures) > 1 else figures[0]


def test_known_times_need_no_first_launch() -> None:
    watch = FakeStopwatch(old=[9.0], new=[10.0])
    assert watch.rounds([OLD, NEW], rounds=2, microseconds=30, known=[5.0, None]) == [
        [9.0, 9.0],
        [10.0, 10.0],
    ]
    assert watch.launches == [(NEW, 1), (NEW, 1), *([(OLD, 6), (NEW, 3)] * 2)]


@pytest.mark.parametrize(
    ("new", "faster", "rounds"),
    [
        # Two launches determine the launches per round, then each round has one time.
        ([5000.0], False, 3),
        ([5100.0], False, 3),
        ([4900.0], True, 7),
        # Only by noise.
        ([4998.0], False, 7),
        # Slower at first, but not in the end.
        ([0, 0, 5100.0, 5100.0, 4990.0, 4900.0], True, 7),
        ([0, 0, 4900.0, 5100.0], False, 7),
    ],
)
def test_comparison_of_two_programs(new: list[float], faster: bool, rounds: int) -> None:
    watch = FakeStopwatch(old=[5000.0], new=new)
    found, ours, theirs = _compare(watch, NEW, OLD, None)
    assert (found, ours) == (faster, 5000.0)
    assert theirs in new
    assert sum(captured == OLD for captured, _ in watch.launches) == 2 + rounds
    # A graph that was timed before is not launched to determine its time.
    watch = FakeStopwatch(old=[5000.0], new=new)
    assert _compare(watch, NEW, OLD, 5000.0)[0] is faster
    assert sum(captured == OLD for captured, _ in watch.launches) == rounds
