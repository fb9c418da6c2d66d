"""Where the time of a load goes: a stopwatch that always runs for one part, switched where a part
begins and ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["collect", "part"]

#: What no part was named for.
_REST = "rest"


class _Stopwatch:
    """Seconds by part, in the order in which parts began. Each moment is counted once, for the
    innermost part."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._part, self._since = _REST, time.perf_counter()

    def switch(self, name: str) -> str:
        """Counts from now on for `name`; the part before."""
        now = time.perf_counter()
        self.seconds[self._part] = self.seconds.get(self._part, 0.0) + now - self._since
        self.seconds.setdefault(name, 0.0)
        before, self._part, self._since = self._part, name, now
        return before


_running: ContextVar[_Stopwatch | None] = ContextVar("_running", default=None)


@contextmanager
def collect() -> Iterator[dict[str, float]]:
    """Measures the parts of what is done inside; the dict, seconds by part, is complete at the
    end."""
    stopwatch = _Stopwatch()
    token = _running.set(stopwatch)
    try:
        yield stopwatch.seconds
    finally:
        stopwatch.switch(_REST)
        _running.reset(token)


@contextmanager
def part(name: str) -> Iterator[None]:
    """What is done inside counts for `name`, when anything is measured."""
    stopwatch = _running.get()
    if stopwatch is None:
        yield
        return
    before = stopwatch.switch(name)
    try:
        yield
    finally:
        stopwatch.switch(before)
