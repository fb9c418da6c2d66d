# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The steps of a compilation: their times, and reports of their starts."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Progress", "StepClock"]

#: Called at the start of each step of a compilation with its name.
Progress = Callable[[str], None]


class StepClock:
    """Measures the time of each step, and calls `progress` at its start."""

    def __init__(self, progress: Progress | None, seconds: dict[str, float] | None = None) -> None:
        self.progress = progress
        self.seconds = seconds if seconds is not None else {}
        self._name, self._start = "", 0.0

    def step(self, name: str) -> StepClock:
        self._name = name
        return self

    def __enter__(self) -> None:
        if self.progress is not None:
            self.progress(self._name)
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds[self._name] = time.perf_counter() - self._start
