"""Progress of long steps on a terminal, how long each took, and how far a program has come with its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status

if TYPE_CHECKING:
    from convoy_runtime.program import Progress

__all__ = ["Steps", "bar"]


@contextmanager
def bar(name: str, *, quiet: bool) -> Iterator[Progress | None]:
    """What a program is told to report its progress to: a bar called `name` with the time left, on a terminal; a line for each step
    elsewhere; nothing when `quiet`."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if quiet:
        yield None
        return
    if not console.is_terminal:
        yield lambda what, done, count: print(f"{what} ({done + 1} of {count})", file=sys.stderr, flush=True)
        return
    with Bar(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console) as shown:
        task = shown.add_task(name, total=None)
        yield lambda what, done, count: shown.update(task, description=what, completed=done, total=count)


class Steps:
    """A context manager that shows the step that runs, on standard error and only where that is a terminal."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        self._status: Status | None = None if quiet or not console.is_terminal else console.status("")
        self._seconds: dict[str, float] = {}
        self._name, self._start = "", 0.0

    def start(self, name: str) -> None:
        """The next step begins, the last one has ended."""
        self._stop()
        self._name, self._start = name, time.perf_counter()
        if self._status is not None:
            self._status.update(f"{name} ...")

    @property
    def total(self) -> float:
        """Seconds of all steps."""
        return sum(self._seconds.values())

    def summary(self) -> str:
        """Each step and its seconds."""
        return ", ".join(f"{name} {seconds:.1f}" for name, seconds in self._seconds.items())

    def _stop(self) -> None:
        if self._name:
            self._seconds[self._name] = self._seconds.get(self._name, 0.0) + time.perf_counter() - self._start
            self._name = ""

    def __enter__(self) -> Steps:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()
        if self._status is not None:
            self._status.stop()
