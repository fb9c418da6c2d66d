# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Programs for sizes that are no point of the artifact, where a compiler is at hand."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from convoy_runtime.errors import ConvoyRuntimeError
from convoy_runtime.program import Program

__all__ = ["Undeclared"]

#: Name and value of each symbol, by name.
_Point = tuple[tuple[str, int], ...]


class Undeclared:
    """The programs that were compiled for calls with undeclared sizes, each with memory and weights
    of its own. One thread compiles them, one after another.

    Args:
        make: Compiles and loads the program for the value of each symbol.
        wait: Whether a call blocks until its program is ready. Otherwise it gets none.
    """

    def __init__(self, make: Callable[[Mapping[str, int]], Program], *, wait: bool) -> None:
        self._make, self._wait = make, wait
        self._made: dict[_Point, Future[Program]] = {}
        self._worker = ThreadPoolExecutor(1, "convoy-compile")
        self._lock = threading.Lock()
        self._source: Any = None

    @property
    def points(self) -> tuple[dict[str, int], ...]:
        """The value of each symbol of the programs that are ready."""
        return tuple(dict(point) for point, made in list(self._made.items()) if _is_ready(made))

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs that are ready."""
        return tuple(made.result() for made in list(self._made.values()) if _is_ready(made))

    def program(self, values: Mapping[str, int]) -> Program | None:
        """The program for these values, which is compiled if there is none.

        Args:
            values: The value of each symbol.

        Returns:
            The program; None if it is not ready and calls do not wait.

        Raises:
            ConvoyRuntimeError: The program is closed.
            Exception: The compilation or the load failed, in this call or before.
        """
        key = tuple(sorted(values.items()))
        with self._lock:
            if (made := self._made.get(key)) is None:
                try:
                    made = self._worker.submit(self._made_with_weights, dict(values))
                except RuntimeError as error:
                    message = "the program is closed"
                    raise ConvoyRuntimeError(message) from error
                self._made[key] = made
        return made.result() if self._wait or made.done() else None

    def load_weights(self, source: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        """Replaces the weights of all programs, including those that are compiled later, after the
        compilation in progress. Errors are those of `Program.load_weights`."""
        self._worker.submit(self._load_weights, source).result()

    def close(self) -> None:
        """Cancels pending compilations, waits for the one in progress, and closes all programs."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        for program in self.programs:
            program.close()
        self._made.clear()

    # Both run in the worker, so that no program misses weights.

    def _made_with_weights(self, values: Mapping[str, int]) -> Program:
        program = self._make(values)
        if self._source is not None:
            program.load_weights(self._source)
        return program

    def _load_weights(self, source: Any) -> None:
        for program in self.programs:
            program.load_weights(source)
        self._source = source


def _is_ready(made: Future[Program]) -> bool:
    return made.done() and not made.cancelled() and made.exception() is None
