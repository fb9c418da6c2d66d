"""Progress of long steps on a terminal, and how long each took."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.status import Status

__all__ = ["Steps"]


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
