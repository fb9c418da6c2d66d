# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Mutual exclusion of timings on the GPU: peers that compile in parallel measure their candidates
one at a time."""

from __future__ import annotations

import fcntl
import time
from pathlib import Path
from types import TracebackType
from typing import IO

__all__ = ["GpuTurn"]


class GpuTurn:
    """A reentrant lock between processes, on a file. `waited` is the total wait in seconds."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("ab")
        self._depth = 0
        self.waited = 0.0

    def __enter__(self) -> GpuTurn:
        if self._depth == 0:
            start = time.perf_counter()
            fcntl.flock(self._file, fcntl.LOCK_EX)
            self.waited += time.perf_counter() - start
        self._depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            fcntl.flock(self._file, fcntl.LOCK_UN)
