# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Measures the parts of a load: a stopwatch that counts for exactly one part at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["collect", "part"]

#: The part of code outside of any named part.
_REST = "rest"


class _Stopwatch:
    """Seconds by part, in the order in which parts began. Time counts for the innermost part."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._part, self._since = _REST, time.perf_counter()

    def switch(self, name: str) -> str:
        """Counts for `name` from now on. Returns the previous part."""
        now = time.perf_counter()
        self.seconds[self._part] = self.seconds.get(self._part, 0.0) + now - self._since
        self.seconds.setdefault(name, 0.0)
        before, self._part, self._since = self._part, name, now
        return before


_running: ContextVar[_Stopwatch | None] = ContextVar("_running", default=None)


@contextmanager
def collect() -> Iterator[dict[str, float]]:
    """Measures the parts of the enclosed code. The yielded dict has seconds by part, and is
    complete at the end."""
    stopwatch = _Stopwatch()
    token = _running.set(stopwatch)
    try:
        yield stopwatch.seconds
    finally:
        stopwatch.switch(_REST)
        _running.reset(token)


@contextmanager
def part(name: str) -> Iterator[None]:
    """Counts the enclosed code for `name`, inside `collect`."""
    stopwatch = _running.get()
    if stopwatch is None:
        yield
        return
    before = stopwatch.switch(name)
    try:
        yield
    finally:
        stopwatch.switch(before)
