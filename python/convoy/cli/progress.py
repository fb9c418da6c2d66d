# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Shows the progress of long steps and measures their time."""

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


#: Without a terminal, the minimal seconds between lines for sub-steps.
_LINE_INTERVAL_SECONDS = 10.0


@contextmanager
def bar(name: str, *, quiet: bool) -> Iterator[Progress | None]:
    """Yields a progress callback: on a terminal it shows a bar `name` with the remaining time,
    otherwise it prints a line per step. None if `quiet`."""
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
            # A new sequence of steps restarts the estimate of the remaining time.
            if done < shown.tasks[0].completed or count != shown.tasks[0].total:
                shown.reset(task, total=count)
            shown.update(task, description=what, completed=done, total=count)

        yield progress
        shown.update(task, completed=shown.tasks[0].total)


def _lines() -> Progress:
    last: list[tuple[int, int]] = []
    printed = 0.0

    def progress(step: str, done: int, count: int) -> None:
        nonlocal printed
        now = time.monotonic()
        if last != [(done, count)] or now - printed >= _LINE_INTERVAL_SECONDS:
            print(f"{step} ({done + 1} of {count})", file=sys.stderr, flush=True)
            last[:], printed = [(done, count)], now

    return progress


class Steps:
    """A context manager that shows the current step on standard error, if it is a terminal."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        self._status: Status | None = (
            None if quiet or not console.is_terminal else console.status("")
        )
        self._seconds: dict[str, float] = {}
        self._name, self._start = "", 0.0

    def start(self, name: str) -> None:
        """Ends the current step and starts the step `name`."""
        self._stop()
        self._name, self._start = name, time.perf_counter()
        if self._status is not None:
            self._status.update(f"{name} ...")

    @property
    def total(self) -> float:
        """Seconds of all steps."""
        return sum(self._seconds.values())

    def summary(self) -> str:
        """The steps and their seconds as text."""
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
