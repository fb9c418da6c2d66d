"""Progress of long steps on a terminal, how long each took, and how far a program has come with its
own."""

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


#: Where lines are printed one below another, a step of a step gets one only after so many seconds.
_SECONDS_OF_SILENCE = 10.0


@contextmanager
def bar(name: str, *, quiet: bool) -> Iterator[Progress | None]:
    """What a program is told to report its progress to: a bar called `name` with the time left, on
    a terminal; a line for each step elsewhere; nothing when `quiet`."""
    console = Console(stderr=True)
    if quiet:
        yield None
    elif console.is_terminal:
        with _bar(console, name) as progress:
            yield progress
    else:
        yield _lines()


@contextmanager
def _bar(console: Console, name: str) -> Iterator[Progress]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(TextColumn("{task.description}"), *columns, console=console) as shown:
        task = shown.add_task(name, total=None)

        def progress(what: str, done: int, count: int) -> None:
            # What was done before says nothing of the steps that begin now.
            if done < shown.tasks[0].completed or count != shown.tasks[0].total:
                shown.reset(task, total=count)
            shown.update(task, description=what, completed=done, total=count)

        yield progress
        shown.update(task, completed=shown.tasks[0].total)


def _lines() -> Progress:
    last: list[tuple[int, int]] = []
    said = 0.0

    def progress(what: str, done: int, count: int) -> None:
        nonlocal said
        now = time.monotonic()
        if last != [(done, count)] or now - said >= _SECONDS_OF_SILENCE:
            print(f"{what} ({done + 1} of {count})", file=sys.stderr, flush=True)
            last[:], said = [(done, count)], now

    return progress


class Steps:
    """A context manager that shows the step that runs, on standard error and only where that is a
    terminal."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        self._status: Status | None = (
            None if quiet or not console.is_terminal else console.status("")
        )
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
            self._seconds[self._name] = (
                self._seconds.get(self._name, 0.0) + time.perf_counter() - self._start
            )
            self._name = ""

    def __enter__(self) -> Steps:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        if self._status is not None:
            self._status.stop()
