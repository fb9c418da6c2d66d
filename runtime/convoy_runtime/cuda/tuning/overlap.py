# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tunes graphs while the build processes compile plans for others."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Final, TypeAlias

from convoy_runtime.cuda.plans.plan import Plan
from convoy_runtime.timings import part

__all__ = ["Overlap", "Tuning", "Waiting", "finished", "is_ready"]

#: Jobs of a `BuildPool`.
Waiting: TypeAlias = Sequence[Future[Any]]
#: Tunes a graph. Yields what it waits for, and returns its plans, best first.
Tuning: TypeAlias = Generator[Waiting, None, list[Plan]]

#: The index of a graph, its tuning, and the jobs.
_Waiting: TypeAlias = tuple[int, Tuning, Waiting]

#: The largest number of tunings that wait. What tuning learns from a graph does not help those that
#: begin before it has ended.
_MOST: Final = 8


def is_ready(jobs: Waiting) -> bool:
    """Returns whether all jobs have ended."""
    return all(each.done() for each in jobs)


def finished(tuning: Tuning) -> list[Plan]:
    """Returns the plans of a tuning, which waits for its jobs."""
    while True:
        try:
            next(tuning)
        except StopIteration as end:
            plans: list[Plan] = end.value
            return plans


class Overlap:
    """Tunings that wait for the pool while others proceed.

    Args:
        done: Called with the index of a graph and its plans.
    """

    def __init__(self, done: Callable[[int, list[Plan]], None]) -> None:
        self._done = done
        self._waiting: list[_Waiting] = []

    def begin(self, index: int, tuning: Tuning) -> None:
        """Begins to tune the graph of this index, and resumes the tunings that need not wait any
        more."""
        self._resume(index, tuning)
        while ready := self._ready():
            self._take(ready[0])
        while len(self._waiting) > _MOST:
            self._take(self._first_ready())

    def finish(self) -> None:
        """Ends all tunings, in the order in which their jobs end."""
        while self._waiting:
            self._take(self._first_ready())

    def close(self) -> None:
        """Ends all tunings without plans."""
        for _, tuning, _ in self._waiting:
            tuning.close()
        self._waiting.clear()

    def _ready(self) -> list[_Waiting]:
        return [each for each in self._waiting if is_ready(each[2])]

    @part("building plans")
    def _first_ready(self) -> _Waiting:
        while not (ready := self._ready()):
            left = {job for _, _, jobs in self._waiting for job in jobs if not job.done()}
            wait(left, return_when=FIRST_COMPLETED)
        return ready[0]

    def _take(self, each: _Waiting) -> None:
        self._waiting.remove(each)
        self._resume(*each[:2])

    def _resume(self, index: int, tuning: Tuning) -> None:
        try:
            self._waiting.append((index, tuning, next(tuning)))
        except StopIteration as end:
            self._done(index, end.value)
